"""What a text of plain tags consists of, and how it is run.

What its expressions mean says a `Meaning`, so that one grammar (`reader.py`) serves what renders a text with Jinja's
values and what renders it without Jinja.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from merge_runner.template.static.scan import UncertainError

Value = TypeVar("Value")


class Call(NamedTuple):
    """The arguments of a call, and where it ends."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    end: int


class Text(NamedTuple):
    """Text of the author, and its offset."""

    origin: int
    text: str


class Output(NamedTuple):
    """What `{{ … }}` puts out; the origin is that of a SourceMap."""

    origin: int
    value: Any


class Set(NamedTuple):
    """`{% set name = value %}`."""

    name: str
    value: Any


class If(NamedTuple):
    """The branches of an `if`: conditions, each with what it guards."""

    branches: Sequence[tuple[Any, Sequence[Any]]]
    otherwise: Sequence[Any]


class For(NamedTuple):
    """`{% for name in value %}`."""

    name: str
    value: Any
    inside: Sequence[Any]


class Macro(NamedTuple):
    """A macro: its name, its parameters with the constants that they are by default, its text."""

    name: str
    parameters: Sequence[str]
    defaults: Mapping[str, Any]
    inside: Sequence[Any]


Part: TypeAlias = "Text | Output | Set | If | For | Macro"


class Meaning(Generic[Value]):
    """What the expressions of a text mean. What a method does not know it refuses: it raises UncertainError."""

    extended = False
    """Whether there are loops, macros, `~`, `in`, `is none`, `a if b else c`, parentheses and lists of expressions."""

    def constant(self, value: Any) -> Value:
        """Return what a literal means."""
        raise UncertainError

    def operand(self, name: str, offset: int, attributes: Sequence[tuple[str, int]], call: Call | None) -> Value:
        """Return what a name at an offset means, with attributes (each with the offset of its dot), perhaps called."""
        raise UncertainError

    def filtered(self, name: str, value: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        """Return what a filter makes of a value."""
        raise UncertainError

    def compared(self, compare: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
        """Return what a comparison means; that of `in` takes the collection first."""
        raise UncertainError

    def negated(self, value: Value) -> Value:
        """Return what `not` means."""
        raise UncertainError

    def either(self, one: Value, other: Value) -> Value:
        """Return what `or` means."""
        raise UncertainError

    def both(self, one: Value, other: Value) -> Value:
        """Return what `and` means."""
        raise UncertainError

    def is_none(self, value: Value) -> Value:
        """Return what `is none` means."""
        raise UncertainError

    def chosen(self, value: Value, condition: Value, other: Value) -> Value:
        """Return what `value if condition else other` means."""
        raise UncertainError

    def joined(self, values: Sequence[Value]) -> Value:
        """Return what `a ~ b` means."""
        raise UncertainError

    def listed(self, values: Sequence[Value]) -> Value:
        """Return what a list of expressions means."""
        raise UncertainError

    def of_loop(self, attribute: str) -> Value:
        """Return what `loop.attribute` means in the innermost loop."""
        raise UncertainError


def run(scope: Any, parts: Sequence[Part]) -> Iterator[str | int]:
    """Yield the text and the origin of each piece of what parts say.

    Their values are functions of the scope, which has `write` (the text of a value), `assign` (a name and its value)
    and `turns` (each turn of a loop).
    """
    for part in parts:
        if isinstance(part, Text):
            yield part.origin
            yield part.text
        elif isinstance(part, Output):
            yield part.origin
            yield scope.write(part.value(scope))
        elif isinstance(part, Set):
            scope.assign(part.name, part.value(scope))
        elif isinstance(part, If):
            chosen = next((inside for condition, inside in part.branches if condition(scope)), part.otherwise)
            yield from run(scope, chosen)
        elif isinstance(part, For):
            for _ in scope.turns(part.name, part.value(scope)):
                yield from run(scope, part.inside)
