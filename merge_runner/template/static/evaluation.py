"""Renders files, and the macros that they call, without importing Jinja, where all of it is plain.

Values are texts, numbers, booleans, None, lists of such, and tables that are only put out. Anything else is left to
Jinja, as is all that Jinja would report, and what takes long. A file of macros counts where each macro in it is plain:
Jinja compiles it as a whole, and says what is wrong with any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import contains
from typing import Any

from merge_runner.project.schema.config_layers import config_key
from merge_runner.relation import Relation, changes_of
from merge_runner.template.captured import Record, Ref, SourceRef
from merge_runner.template.context import Context
from merge_runner.template.rendered import Rendered
from merge_runner.template.source_map import mapped
from merge_runner.template.static.parts import Call, Macro, Meaning, Part, Text, run
from merge_runner.template.static.reader import Reader
from merge_runner.template.static.scan import UncertainError
from merge_runner.template.static.tags import read_call
from merge_runner.text import SourceText, Span

_Value = Callable[["_Scope"], Any]
"""The value of an expression, in the scope of a file or macro."""

_SCALARS = (str, int, float, bool, type(None))
_NONE: Any = object()
_MOST_CHARACTERS = 100_000
"""Of all texts that a rendering makes. The limits of Jinja's renderings are much higher."""
_MOST_STEPS = 10_000
_LONGEST = 1_000_000
"""Characters of a rendered file."""
_DEEPEST = 20
_BUILT_INS = frozenset({"config", "ref", "changes", "source", "var", "is_incremental", "is_full_refresh"})
"""What may be called, besides macros. Other names that Jinja knows are left to it."""


class PlainMacros:
    """The plain macros of a project, read when they are first called."""

    def __init__(self, files: Mapping[str, SourceText]) -> None:
        """`files` are those of the project's macros, by the macros' names."""
        self._files = files
        self._read: dict[str, Mapping[str, Macro]] = {}
        """The macros of a file by its path; none where it has more than plain macros."""
        self._last: tuple[SourceText, Sequence[Part], tuple[Span, ...]] | None = None
        """The file that was rendered last, ready to run: it may be rendered for several kinds of runs."""

    def render(self, source: SourceText, context: Context) -> Rendered | None:
        """Return what Jinja would render, with its source map; None where this needs Jinja, or something is wrong."""
        if context.macros:
            return None
        running = _Running(self, context)
        try:
            parts, tags = self._parts(source)
            text, source_map = mapped(run(_Scope(running, {}, source), parts), tags, _LONGEST)
        except (UncertainError, LookupError, TypeError, ValueError, RecursionError):
            return None
        return Rendered(source, text, running.record.captured(running.called), source_map)

    def _parts(self, source: SourceText) -> tuple[Sequence[Part], tuple[Span, ...]]:
        last = self._last
        if last is None or last[0] != source:
            reader = Reader(_MEANING, source.text)
            parts = reader.template()
            if any(isinstance(part, Macro) for part in parts):
                raise UncertainError  # the file's own macros go before those of the project
            last = self._last = source, parts, tuple(reader.tags)
        return last[1], last[2]

    def macro(self, name: str) -> Macro | None:
        """Return a macro; None where there is none of the name, or none that is plain."""
        source = self._files.get(name)
        if source is None:
            return None
        found = self._read.get(source.path)
        if found is None:
            found = self._read[source.path] = _macros(source)
        return found.get(name)


def _macros(source: SourceText) -> Mapping[str, Macro]:
    try:
        parts = Reader(_MEANING, source.text).template()
    except (UncertainError, ValueError, RecursionError):
        return {}
    if not all(isinstance(part, Text | Macro) for part in parts):
        return {}
    return {part.name: part for part in parts if isinstance(part, Macro)}


class _Running:
    """One rendering: what it has captured, and how much it has done."""

    def __init__(self, macros: PlainMacros, context: Context) -> None:
        self.macros = macros
        self.context = context
        self.record = Record()
        self.called: set[str] = set()
        self._steps = 0
        self._characters = 0

    def step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise UncertainError

    def made(self, text: str) -> str:
        self._characters += len(text)
        if self._characters > _MOST_CHARACTERS:
            raise UncertainError
        return text


class _Scope:
    """The names of the file, or of one call of a macro (`source` None)."""

    def __init__(self, running: _Running, names: dict[str, Any], source: SourceText | None, depth: int = 0) -> None:
        self.running = running
        self.names = names
        self.source = source
        self.depth = depth
        self._loops: list[tuple[int, int]] = []
        """Of each open loop the number of the turn, and how many there are."""

    def write(self, value: Any) -> str:
        return self.running.made(_written(value))

    def assign(self, name: str, value: Any) -> None:
        self.names[name] = value

    def turns(self, name: str, values: Any) -> Iterator[None]:
        if type(values) not in (list, tuple):
            raise UncertainError
        self._loops.append((0, len(values)))
        for number, value in enumerate(values):
            self.running.step()
            self.names[name] = value
            self._loops[-1] = (number, len(values))
            yield
        self._loops.pop()
        self.names.pop(name, None)

    def of_loop(self, attribute: str) -> Any:
        number, count = self._loops[-1]
        return {"first": number == 0, "last": number == count - 1, "index": number + 1, "index0": number}[attribute]

    def named(self, name: str) -> Any:
        if name in self.names:
            return self.names[name]
        context = self.running.context
        if name == "model_name":
            return context.model_name
        if name != "this" or context.this is None:
            raise UncertainError
        self.running.record.uses_this = True
        return context.this

    def of_target(self, attribute: str) -> Any:
        target = self.running.context.target
        if "target" in self.names or hasattr(dict, attribute) or attribute not in target:
            raise UncertainError
        return _scalar(target[attribute])

    def called(self, name: str, offset: int, end: int, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what a call at an offset returns."""
        if name in self.names:
            raise UncertainError
        if name in ("is_incremental", "is_full_refresh"):
            if args or kwargs:
                raise UncertainError
            context = self.running.context
            return bool(context.incremental if name == "is_incremental" else context.full_refresh)
        if name == "var":
            return self._var(*args, **kwargs)
        if name in _BUILT_INS:
            return self._of_source(name, offset, end, args, kwargs)
        macro = self.running.macros.macro(name)
        if macro is None:
            raise UncertainError
        return self._expanded(macro, args, kwargs)

    def _var(self, name: Any, default: Any = _NONE) -> Any:
        running = self.running
        if type(name) is not str:
            raise UncertainError
        running.record.vars.add(name)
        if name in running.context.vars:
            return _copied(running.context.vars[name])
        if default is _NONE:
            raise UncertainError
        return default

    def _of_source(self, name: str, offset: int, end: int, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what `config`, `ref`, `changes` and `source` do; in a macro they are left to Jinja."""
        source = self.source
        if source is None:
            raise UncertainError
        record, context = self.running.record, self.running.context
        if name == "config":
            if args:
                raise UncertainError
            keywords = read_call(source.text, offset)[1]
            for written, value in kwargs.items():
                key, start = config_key(written), keywords[written]
                record.config[key] = _copied(value)
                record.config_places[key] = source.place(start, start + len(written))
            return ""
        if kwargs or not args or len(args) > 2 or not all(type(each) is str for each in args):
            raise UncertainError
        place = source.place(offset, end)
        if name == "source":
            if len(args) == 1:
                raise UncertainError
            record.sources[SourceRef(args[0], args[1], place)] = None
            return context.resolve_source(args[0], args[1])
        ref = Ref(args[-1], place)  # with two arguments the first is a package, as in dbt
        if name == "changes":
            record.changes[ref] = None
        record.refs[ref] = None
        relation = context.resolve_ref(ref.name)
        return changes_of(ref.name) if name == "changes" else relation

    def _expanded(self, macro: Macro, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        running = self.running
        running.step()
        names = dict(zip(macro.parameters, args, strict=False))
        if len(args) > len(macro.parameters) or self.depth >= _DEEPEST or not names.keys().isdisjoint(kwargs):
            raise UncertainError
        names.update(kwargs)
        for name, value in macro.defaults.items():
            if name not in names:
                names[name] = _copied(value)
        if names.keys() != set(macro.parameters):
            raise UncertainError
        running.called.add(macro.name)
        scope = _Scope(running, names, None, self.depth + 1)
        return "".join([running.made(chunk) for chunk in run(scope, macro.inside) if isinstance(chunk, str)])


class _Plainly(Meaning[_Value]):
    """Expressions as functions of a scope."""

    extended = True

    def constant(self, value: Any) -> _Value:
        return lambda _scope: value

    def operand(self, name: str, offset: int, attributes: Sequence[tuple[str, int]], call: Call | None) -> _Value:
        if attributes:
            attribute = attributes[0][0]
            if name != "target" or len(attributes) > 1 or call is not None:
                raise UncertainError
            return lambda scope: scope.of_target(attribute)
        if call is None:
            return lambda scope: scope.named(name)
        args, kwargs, end = call

        def value(scope: _Scope) -> Any:
            given = [arg(scope) for arg in args]
            return scope.called(name, offset, end, given, {key: each(scope) for key, each in kwargs.items()})

        return value

    def compared(self, compare: Callable[[Any, Any], Any], left: _Value, right: _Value) -> _Value:
        if compare is contains:
            return lambda scope: compare(_collection(left(scope)), _scalar(right(scope)))
        return lambda scope: compare(_scalar(left(scope)), _scalar(right(scope)))

    def negated(self, value: _Value) -> _Value:
        return lambda scope: not _condition(value(scope))

    def either(self, one: _Value, other: _Value) -> _Value:
        return lambda scope: _condition(one(scope)) or other(scope)

    def both(self, one: _Value, other: _Value) -> _Value:
        return lambda scope: _condition(one(scope)) and other(scope)

    def is_none(self, value: _Value) -> _Value:
        return lambda scope: value(scope) is None

    def chosen(self, value: _Value, condition: _Value, other: _Value) -> _Value:
        return lambda scope: value(scope) if _condition(condition(scope)) else other(scope)

    def joined(self, values: Sequence[_Value]) -> _Value:
        return lambda scope: scope.running.made("".join([_written(value(scope)) for value in values]))

    def listed(self, values: Sequence[_Value]) -> _Value:
        return lambda scope: [value(scope) for value in values]

    def of_loop(self, attribute: str) -> _Value:
        return lambda scope: scope.of_loop(attribute)


_MEANING = _Plainly()


def _scalar(value: Any) -> Any:
    if type(value) not in _SCALARS:
        raise UncertainError
    return value


def _written(value: Any) -> str:
    return str(value if type(value) is Relation else _scalar(value))


def _condition(value: Any) -> Any:
    if type(value) is Relation:
        raise UncertainError
    return value


def _collection(value: Any) -> Any:
    if type(value) not in (list, tuple) or not all(type(each) in _SCALARS for each in value):
        raise UncertainError
    return value


def _copied(value: Any) -> Any:
    """Return a copy of plain data. Raises UncertainError for any other value."""
    if type(value) is list:
        return [_copied(each) for each in value]
    if type(value) is tuple:
        return tuple(_copied(each) for each in value)
    if type(value) is dict:
        return {_copied(key): _copied(each) for key, each in value.items()}
    return _scalar(value)
