"""What a file says about itself, read from its text where its Jinja is only plain calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from merge_runner.project.syntax.environment import EnvVar
from merge_runner.template.capture import Capture, Record, Ref, SourceRef
from merge_runner.template.static.tags import OPENING
from merge_runner.text import SourceText

# Narrower than Jinja's: what these do not match is left to the renderer. A backslash could be an escape.
_STRING = r"""(?:'[^'\\\n]*'|"[^"\\\n]*")"""
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?![\w.])"
_CONSTANT = r"(?:[Tt]rue|[Ff]alse|[Nn]one)(?!\w)"

# Small ones, one after the other: one for whole tags takes longer to compile than to read the tags of a project.
_FIRST = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)")
_NAMES = re.compile(rf"\s*\(\s*(?P<first>{_STRING})\s*(?:,\s*(?P<second>{_STRING})\s*)?,?\s*\)")
_READ = re.compile(rf"\s*\(\s*(?P<name>{_STRING})\s*(?P<comma>,?)\s*")
_OPEN = re.compile(r"\s*\(\s*")
_ATTRIBUTE = re.compile(r"\s*\.\s*([A-Za-z_]\w*)")
_FILTER = re.compile(r"\s*\|\s*[A-Za-z_]\w*")
_END = re.compile(r"\s*-?\}\}")
_ATTRIBUTES_OF_THIS = frozenset({"identifier", "schema", "catalog", "name"})
_SCALARS = frozenset({"string", "number", "constant"})
_CONFIG_END = re.compile(r"\s*\)\s*-?\}\}")
_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*")
_VALUE = re.compile(
    rf"(?P<string>{_STRING})|(?P<number>{_NUMBER})|(?P<constant>{_CONSTANT})"
    rf"|(?P<strings>\[\s*(?:{_STRING}\s*(?:,\s*{_STRING}\s*)*,?\s*)?\])|(?P<open>[\[({{])"
)
_STRINGS = re.compile(_STRING)
_COMMA = re.compile(r"\s*,\s*")
_COLON = re.compile(r"\s*:\s*")
_SPACE = re.compile(r"\s*")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_CONSTANTS = {"true": True, "false": False, "none": None}
_DEEPEST = 20


_CALLS = frozenset({"ref", "changes", "source"})
"""The built-ins that are called with one name or two."""


class UncertainError(Exception):
    """The text holds something that only Jinja can read."""


def scan(source: SourceText, macros: Mapping[str, Capture] | None = None) -> Capture | None:
    """Return what rendering would capture, or None where this needs rendering.

    Reads comments, `ref`, `changes`, `source`, `var`, `env_var`, `config`, `this`, `target.x`, `model_name`, `macros`
    (see plain_macros) as plain calls with literal arguments; any block, other macro or expression gives None.
    """
    if "{%" in source.text:
        return None
    try:
        return _Scan(source, macros or {}).run()
    except UncertainError:
        return None


class _Scan:
    """One pass over a file."""

    def __init__(self, source: SourceText, macros: Mapping[str, Capture]) -> None:
        self._source = source
        self._plain = macros
        self._text = source.text
        self._record = Record()
        self._macros: set[str] = set()

    def run(self) -> Capture:
        text = self._text
        position = 0
        while opening := OPENING.search(text, position):
            start = opening.start()
            if opening.group() == "{#":
                position = text.find("#}", start + 2) + 2
                if position == 1:
                    raise UncertainError
            else:
                position = self._tag(start)
        return self._record.captured(self._macros)

    def _tag(self, start: int) -> int:
        """Read the tag at `start` and return the offset after it."""
        first = _FIRST.match(self._text, start)
        if first is None:
            raise UncertainError
        name, at = first[1], first.end()
        if name == "config":
            return self._keywords(_after(_OPEN, self._text, at))
        if name in _CALLS:
            return self._call(name, first.start(1), at)
        if name == "this":
            attribute = _ATTRIBUTE.match(self._text, at)
            if attribute is not None and attribute[1] not in _ATTRIBUTES_OF_THIS:
                raise UncertainError
            self._record.uses_this = True
            return _after(_END, self._text, at if attribute is None else attribute.end())
        if name in ("var", "env_var"):
            at = self._read_var(name, first.start(1), at)
        elif name == "target":
            at = _after(_ATTRIBUTE, self._text, at)
        elif name != "model_name":
            capture = self._plain.get(name)
            if capture is None:
                raise UncertainError
            self._record.vars |= capture.vars
            self._macros |= capture.macros
            at = self._arguments(_after(_OPEN, self._text, at), keywords=True)
        return _after(_END, self._text, self._filters(at))

    def _call(self, kind: str, called_at: int, at: int) -> int:
        names = _NAMES.match(self._text, at)
        if names is None:
            raise UncertainError
        end = _after(_END, self._text, names.end())
        place = self._source.place(called_at, names.end())
        first, second = names["first"][1:-1], names["second"]
        if kind == "source":
            if second is None:
                raise UncertainError
            self._record.sources[SourceRef(first, second[1:-1], place)] = None
        else:
            # With two arguments the first is a package, as in dbt.
            ref = Ref(first if second is None else second[1:-1], place)
            self._record.refs[ref] = None
            if kind == "changes":
                self._record.changes[ref] = None
        return end

    def _read_var(self, kind: str, called_at: int, at: int) -> int:
        """Read the arguments of `var` or `env_var`: a name, and perhaps a default."""
        text = self._text
        arguments = _READ.match(text, at)
        if arguments is None:
            raise UncertainError
        if kind == "var":
            self._record.vars.add(arguments["name"][1:-1])
        at = arguments.end()
        if arguments["comma"] and not text.startswith(")", at):
            at = _end_of_space(text, _scalar(text, at))
            at = _end_of_space(text, at + 1) if text.startswith(",", at) else at
        if not text.startswith(")", at):
            raise UncertainError
        if kind == "env_var":
            self._record.env_vars[EnvVar(arguments["name"][1:-1], self._source.place(called_at, at + 1))] = None
        return at + 1

    def _arguments(self, at: int, *, keywords: bool) -> int:
        """Read literals up to the closing parenthesis, and return the offset after it."""
        text = self._text
        if text.startswith(")", at):
            return at + 1
        while True:
            key = _KEY.match(text, at) if keywords else None
            at = _end_of_space(text, _scalar(text, at if key is None else key.end()))
            if text.startswith(")", at):
                return at + 1
            if not text.startswith(",", at):
                raise UncertainError
            at = _end_of_space(text, at + 1)

    def _filters(self, at: int) -> int:
        """Read the filters of a tag, and return the offset after them."""
        while filter_start := _FILTER.match(self._text, at):
            opening = _OPEN.match(self._text, filter_start.end())
            at = filter_start.end() if opening is None else self._arguments(opening.end(), keywords=False)
        return at

    def _keywords(self, position: int) -> int:
        """Read the keywords after `config(`, and return the offset after the tag."""
        keys = set()
        while key := _KEY.match(self._text, position):
            name = key[1]
            if name in keys:
                raise UncertainError
            keys.add(name)
            self._record.config[name], position = literal_value(self._text, key.end())
            self._record.config_places[name] = self._source.place(*key.span(1))
            comma = _COMMA.match(self._text, position)
            if comma is None:
                break
            position = comma.end()
        end = _CONFIG_END.match(self._text, position)
        if end is None:
            raise UncertainError
        return end.end()


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where what the pattern finds at an offset ends. Raises UncertainError."""
    match = pattern.match(text, at)
    if match is None:
        raise UncertainError
    return match.end()


def _scalar(text: str, at: int) -> int:
    """Return where the string, number or constant at an offset ends. Raises UncertainError."""
    match = _VALUE.match(text, at)
    if match is None or match.lastgroup not in _SCALARS:
        raise UncertainError
    return match.end()


def literal_value(text: str, position: int, deepest: int = _DEEPEST) -> tuple[Any, int]:
    """Return the literal at `position` and the offset after it. Raises UncertainError."""
    match = _VALUE.match(text, position)
    if match is None or deepest == 0:
        raise UncertainError
    kind, word, position = match.lastgroup, match.group(), match.end()
    if kind == "string":
        return word[1:-1], position
    if kind == "number":
        return (float(word) if "." in word else int(word)), position
    if kind == "constant":
        return _CONSTANTS[word.lower()], position
    if kind == "strings":
        return [string[1:-1] for string in _STRINGS.findall(word)], position
    return _collection(text, word, position, deepest)


def _collection(text: str, opening: str, position: int, deepest: int) -> tuple[Any, int]:
    """The list, tuple, dict or parenthesised value whose opening bracket ends at `position`."""
    items: list[Any] = []
    values: list[Any] = []
    comma = None
    closing = _CLOSING[opening]
    position = _end_of_space(text, position)
    while not text.startswith(closing, position):
        if items and comma is None:
            raise UncertainError
        item, position = literal_value(text, position, deepest - 1)
        if opening == "{":
            colon = _COLON.match(text, position)
            if colon is None or isinstance(item, (list, tuple, dict)):
                raise UncertainError
            value, position = literal_value(text, colon.end(), deepest - 1)
            values.append(value)
        items.append(item)
        comma = _COMMA.match(text, position)
        position = comma.end() if comma else _end_of_space(text, position)
    position += 1
    if opening == "{":
        return dict(zip(items, values, strict=True)), position
    if opening == "[":
        return items, position
    if len(items) == 1 and comma is None:
        return items[0], position
    return tuple(items), position


def _end_of_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
