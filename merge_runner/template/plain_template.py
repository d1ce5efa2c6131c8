"""A template of plain tags, ready to run without Jinja's compiler, which takes some milliseconds for a file.

Most models call built-ins and macros with constants, in outputs and in conditions, and nothing else: their text is read
here, and functions do what Jinja's generated code would do for each tag. Anything else is refused, and so is all that
Jinja would refuse: then Jinja compiles the file, and says what is wrong. A test compares what both yield.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from keyword import iskeyword
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from jinja2.utils import missing

from merge_runner.lazy_pattern import pattern
from merge_runner.template.jinja_compiler import CALL_OFFSET, MAY_BE_UNDEFINED, Compiled
from merge_runner.template.static.scan import UncertainError, literal_value
from merge_runner.template.static.tags import OPENING
from merge_runner.template.undefined import ReportedUndefined
from merge_runner.text import SourceText, Span

if TYPE_CHECKING:
    from merge_runner.template.environment import ModelContext, ModelEnvironment

    _Part: TypeAlias = "_Text | _Output | _Set | _If"

_Value = Callable[["ModelContext"], Any]
"""The value of an expression, in the context of a rendering."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?!\w)")
_KEYWORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)\s*")
_CONSTANT = re.compile(r"['\"\[{]|-?[0-9]|(?:[Tt]rue|[Ff]alse|[Nn]one)(?!\w)")
_COMPARISON = re.compile(r"==|!=|<=|>=|<|>")
_SPACE = re.compile(r"\s*")
_BLOCK = pattern(r"\s*(if|elif|else|endif|set)(?!\w)\s*")
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<=": le, ">=": ge, "<": lt, ">": gt}
_RESERVED = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "elif", "self", "super", "loop", "caller", "varargs", "kwargs"}
    | {"True", "False", "None", "true", "false", "none"}
)
"""Words of Jinja's expressions, and names that it gives a meaning."""
_DEEPEST = 20
"""Calls in each other, and blocks in each other."""


class _Text(NamedTuple):
    origin: int
    text: str


class _Output(NamedTuple):
    origin: int
    value: _Value


class _Set(NamedTuple):
    name: str
    value: _Value


class _If(NamedTuple):
    branches: Sequence[tuple[_Value, Sequence[_Part]]]
    """Conditions, each with what it guards."""
    otherwise: Sequence[_Part]


class _Ending(NamedTuple):
    """A tag that ends a branch of an `if`: its word, and where it begins."""

    word: str
    start: int


def plain_template(environment: ModelEnvironment, source: SourceText) -> Compiled | None:
    """Return what `compile_template` does, made of functions; None where the text has more than plain tags."""
    if "\r" in source.text:
        return None
    reader = _Reader(environment, source.text)
    try:
        parts = reader.template()
    except (UncertainError, ValueError, RecursionError):  # a number of too many digits, NOT of NOT of NOT …
        return None

    def root(context: Any) -> Iterator[str | int]:
        return _run(context, parts)

    return Compiled(source, root, tuple(reader.tags))


def _run(context: ModelContext, parts: Sequence[_Part]) -> Iterator[str | int]:
    """Yield the text and the origin of each piece of it."""
    for part in parts:
        if isinstance(part, _Text):
            yield part.origin
            yield part.text
        elif isinstance(part, _Output):
            yield part.origin
            finalize = context.environment.finalize
            assert finalize is not None
            yield str(finalize(part.value(context)))
        elif isinstance(part, _Set):
            context.vars[part.name] = part.value(context)
        else:
            chosen = next((inside for condition, inside in part.branches if condition(context)), part.otherwise)
            yield from _run(context, chosen)


class _Reader:
    """Reads one text; raises UncertainError at what only Jinja can read."""

    def __init__(self, environment: ModelEnvironment, text: str) -> None:
        self.tags: list[Span] = []
        self._environment = environment
        self._text = text
        self._at = 0
        self._read: set[str] = set()
        """Names that were read so far."""

    def template(self) -> list[_Part]:
        parts, ending = self._parts(0)
        if ending is not None:
            raise UncertainError
        return parts

    def _parts(self, depth: int) -> tuple[list[_Part], _Ending | None]:
        """Return what comes up to a tag that ends a branch, and that tag; None: up to the end of the text."""
        text = self._text
        parts: list[_Part] = []
        while opening := OPENING.search(text, self._at):
            start = opening.start()
            strips = text.startswith("-", start + 2)
            before = text[self._at : start]
            if strips:
                before = before.rstrip()
            if before:
                parts.append(_Text(self._at, before))
            self._at = start + 2 + strips
            if opening.group() == "{#":
                self._comment()
            elif opening.group() == "{{":
                origin = -1 - len(self.tags)
                parts.append(_Output(origin, self._output(start)))
            else:
                word = self._word()
                if word == "if":
                    parts.append(self._if(start, depth + 1))
                elif word == "set":
                    parts.append(self._set(start, depth))
                else:
                    return parts, _Ending(word, start)
        if self._at < len(text):
            parts.append(_Text(self._at, text[self._at :]))
        return parts, None

    def _comment(self) -> None:
        end = self._text.find("#}", self._at)
        if end < 0:
            raise UncertainError
        strips = end > self._at and self._text[end - 1] == "-"
        self._at = end + 2
        if strips:
            self._space()

    def _close(self, brackets: str, start: int) -> None:
        """Read the end of the tag that begins at `start`."""
        self._space()
        strips = self._text.startswith("-", self._at)
        self._at += strips
        if not self._text.startswith(brackets, self._at):
            raise UncertainError
        self._at += 2
        self.tags.append(Span(start, self._at))
        if strips:
            self._space()

    def _word(self) -> str:
        found = _BLOCK.match(self._text, self._at)
        if found is None:
            raise UncertainError
        self._at = found.end()
        return found[1]

    def _set(self, start: int, depth: int) -> _Set:
        name = self._name()
        if not self._takes("="):
            raise UncertainError
        self._space()
        value = self._value(0)
        # Jinja decides by the order of the whole text what a name means before it has a value.
        if depth or name in self._read:
            raise UncertainError
        self._close("%}", start)
        return _Set(name, value)

    def _if(self, start: int, depth: int) -> _If:
        if depth > _DEEPEST:
            raise UncertainError
        branches: list[tuple[_Value, list[_Part]]] = []
        otherwise: list[_Part] = []
        ending: _Ending | None = _Ending("if", start)
        while ending is not None and ending.word in ("if", "elif"):
            condition = self._condition()
            self._close("%}", ending.start)
            inside, ending = self._parts(depth)
            branches.append((condition, inside))
        if ending is not None and ending.word == "else":
            self._close("%}", ending.start)
            otherwise, ending = self._parts(depth)
        if ending is None or ending.word != "endif":
            raise UncertainError
        self._close("%}", ending.start)
        return _If(branches, otherwise)

    def _condition(self) -> _Value:
        """Read a condition: `or` of `and` of `not` of comparisons."""
        found = self._all()
        while self._takes_word("or"):
            found = _either(found, self._all())
        return found

    def _all(self) -> _Value:
        found = self._negated()
        while self._takes_word("and"):
            found = _both(found, self._negated())
        return found

    def _negated(self) -> _Value:
        if self._takes_word("not"):
            inside = self._negated()
            return lambda context: not inside(context)
        self._space()
        left = self._value(0)
        self._space()
        operator = _COMPARISON.match(self._text, self._at)
        if operator is None:
            return left
        self._at = operator.end()
        self._space()
        return _comparison(_OPERATORS[operator.group()], left, self._value(0))

    def _output(self, start: int) -> _Value:
        self._space()
        if _CONSTANT.match(self._text, self._at):
            raise UncertainError  # Jinja writes a constant into its code
        value = self._value(0)
        self._close("}}", start)
        return value

    def _value(self, depth: int) -> _Value:
        """Read a constant, or a name with attributes, a call and filters."""
        if depth > _DEEPEST:
            raise UncertainError
        if _CONSTANT.match(self._text, self._at):
            value, self._at = literal_value(self._text, self._at)
            return _constant(value)
        return self._filtered(self._operand(depth), depth)

    def _operand(self, depth: int) -> _Value:
        offset = self._at
        name = self._name()
        self._read.add(name)
        value = _named(name, offset)
        while self._takes("."):
            dot = self._at - 1
            self._space()
            value = _attribute(value, self._name(), dot)
        if self._takes("("):
            args, kwargs = self._arguments(depth)
            value = _call(value, args, kwargs, offset)
        return value

    def _filtered(self, value: _Value, depth: int) -> _Value:
        while self._takes("|"):
            self._space()
            name = self._name()
            if name in MAY_BE_UNDEFINED["filters"] or name not in self._environment.filters:
                raise UncertainError
            args, kwargs = self._arguments(depth) if self._takes("(") else ([], {})
            value = _filter(self._environment.filters[name], value, args, kwargs)
        return value

    def _arguments(self, depth: int) -> tuple[list[_Value], dict[str, _Value]]:
        """Read arguments and the closing parenthesis."""
        args: list[_Value] = []
        kwargs: dict[str, _Value] = {}
        self._space()
        while not self._takes(")"):
            keyword = _KEYWORD.match(self._text, self._at)
            if keyword is not None:
                if keyword[1] in kwargs or iskeyword(keyword[1]) or keyword[1] == CALL_OFFSET:
                    raise UncertainError
                self._at = keyword.end()
                kwargs[keyword[1]] = self._value(depth + 1)
            elif kwargs:
                raise UncertainError
            else:
                args.append(self._value(depth + 1))
            if not self._takes(","):
                if not self._takes(")"):
                    raise UncertainError
                break
            self._space()
        return args, kwargs

    def _name(self) -> str:
        found = _NAME.match(self._text, self._at)
        if found is None or found.group() in _RESERVED:
            raise UncertainError
        self._at = found.end()
        return found.group()

    def _space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _takes(self, sign: str) -> bool:
        """Read a sign where it comes next, after blanks."""
        self._space()
        if not self._text.startswith(sign, self._at):
            return False
        self._at += 1
        return True

    def _takes_word(self, word: str) -> bool:
        self._space()
        found = _NAME.match(self._text, self._at)
        if found is None or found.group() != word:
            return False
        self._at = found.end()
        return True


def _constant(value: Any) -> _Value:
    # A macro may change a list that it is given.
    return (lambda _context: _copied(value)) if isinstance(value, (list, dict)) else lambda _context: value


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


def _either(one: _Value, other: _Value) -> _Value:
    return lambda context: one(context) or other(context)


def _both(one: _Value, other: _Value) -> _Value:
    return lambda context: one(context) and other(context)


def _comparison(compare: Callable[[Any, Any], Any], left: _Value, right: _Value) -> _Value:
    return lambda context: compare(context.defined(left(context)), right(context))
