"""A template of plain tags, ready to run without Jinja's compiler, which takes some milliseconds for a file.

Most models call built-ins and macros with constants, in outputs and in conditions, and nothing else: their text is read
here, and functions do what Jinja's generated code would do for each tag. Anything else is refused, and so is all that
Jinja would refuse: then Jinja compiles the file, and says what is wrong. A test compares what both yield.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jinja2.utils import missing

from merge_runner.template.jinja_compiler import MAY_BE_UNDEFINED, Compiled
from merge_runner.template.static.parts import Call, Meaning, run
from merge_runner.template.static.reader import Reader
from merge_runner.template.static.scan import UncertainError
from merge_runner.template.undefined import ReportedUndefined
from merge_runner.text import SourceText

if TYPE_CHECKING:
    from merge_runner.template.environment import ModelContext, ModelEnvironment

_Value = Callable[["ModelContext"], Any]
"""The value of an expression, in the context of a rendering."""


def plain_template(environment: ModelEnvironment, source: SourceText) -> Compiled | None:
    """Return what `compile_template` does, made of functions; None where the text has more than plain tags."""
    reader = Reader(_InJinja(environment), source.text)
    try:
        parts = reader.template()
    except (UncertainError, ValueError, RecursionError):  # a number of too many digits, NOT of NOT of NOT …
        return None

    def root(context: Any) -> Iterator[str | int]:
        return run(context, parts)

    return Compiled(source, root, tuple(reader.tags))


class _InJinja(Meaning[_Value]):
    """Expressions as functions of Jinja's context."""

    def __init__(self, environment: ModelEnvironment) -> None:
        self._environment = environment

    def constant(self, value: Any) -> _Value:
        # A macro may change a list that it is given.
        return (lambda _context: _copied(value)) if isinstance(value, (list, dict)) else lambda _context: value

    def operand(self, name: str, offset: int, attributes: Sequence[tuple[str, int]], call: Call | None) -> _Value:
        value = _named(name, offset)
        for attribute, dot in attributes:
            value = _attribute(value, attribute, dot)
        return value if call is None else _call(value, call.args, call.kwargs, offset)

    def filtered(self, name: str, value: _Value, args: Sequence[_Value], kwargs: Mapping[str, _Value]) -> _Value:
        if name in MAY_BE_UNDEFINED["filters"] or name not in self._environment.filters:
            raise UncertainError
        return _filter(self._environment.filters[name], value, args, kwargs)

    def compared(self, compare: Callable[[Any, Any], Any], left: _Value, right: _Value) -> _Value:
        return lambda context: compare(context.defined(left(context)), right(context))

    def negated(self, value: _Value) -> _Value:
        return lambda context: not value(context)

    def either(self, one: _Value, other: _Value) -> _Value:
        return lambda context: one(context) or other(context)

    def both(self, one: _Value, other: _Value) -> _Value:
        return lambda context: one(context) and other(context)


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(each) for each in value]
    if isinstance(value, tuple):
        return tuple(_copied(each) for each in value)
    return {key: _copied(each) for key, each in value.items()} if isinstance(value, dict) else value


def _named(name: str, offset: int) -> _Value:
    def value(context: ModelContext) -> Any:
        found = context.resolve_or_missing(name)
        if found is missing:
            return context.not_defined(name, offset)
        return context.this(found) if name == "this" else found

    return value


def _attribute(owner: _Value, name: str, offset: int) -> _Value:
    return lambda context: context.attribute(owner(context), name, offset)


def _call(callee: _Value, args: Sequence[_Value], kwargs: Mapping[str, _Value], offset: int) -> _Value:
    def value(context: ModelContext) -> Any:
        called = callee(context)
        given = tuple([arg(context) for arg in args])
        named = {key: each(context) for key, each in kwargs.items()}
        if isinstance(called, ReportedUndefined):
            return called()
        return context.rendering.call(context, offset, called, given, named)

    return value


def _filter(
    function: Callable[..., Any], filtered: _Value, args: Sequence[_Value], kwargs: Mapping[str, _Value]
) -> _Value:
    def value(context: ModelContext) -> Any:
        first = filtered(context)
        given = [arg(context) for arg in args]
        return function(context, first, *given, **{key: each(context) for key, each in kwargs.items()})

    return value
