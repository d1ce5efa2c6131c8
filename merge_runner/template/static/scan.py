"""The fast path: what a file says about itself, read from its text where its Jinja is only plain calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from merge_runner.project.load.files import Layer
from merge_runner.template.captured import Captured, Ref, SourceRef
from merge_runner.template.static.tags import OPENING
from merge_runner.text import Place, SourceText, Span

# Narrower than Jinja's: what these do not match is left to the renderer. A backslash could be an escape.
_STRING = r"""(?:'[^'\\\n]*'|"[^"\\\n]*")"""
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?![\w.])"
_CONSTANT = r"(?:[Tt]rue|[Ff]alse|[Nn]one)(?!\w)"
_SCALAR = rf"(?:{_STRING}|{_NUMBER}|{_CONSTANT})"
_FILTERS = rf"(?:\s*\|\s*[A-Za-z_]\w*(?:\s*\(\s*(?:{_SCALAR}\s*(?:,\s*{_SCALAR}\s*)*)?\))?)*"
_ARGUMENT = rf"(?:[A-Za-z_]\w*\s*=(?!=)\s*)?{_SCALAR}"

_TAG = re.compile(
    rf"""
    \{{\{{-?\s*(?:
      (?P<call>(?:ref|changes|source)\s*\(\s*(?P<first>{_STRING})\s*(?:,\s*(?P<second>{_STRING})\s*)?,?\s*\))
    | (?P<read>var|env_var)\s*\(\s*(?P<name>{_STRING})\s*(?:,\s*{_SCALAR}\s*)?,?\s*\){_FILTERS}
    | (?P<this>this)(?:\s*\.\s*(?:identifier|schema|catalog|name))?
    | (?:model_name|target\s*\.\s*[A-Za-z_]\w*){_FILTERS}
    | (?P<config>config)\s*\(
    | (?P<macro>[A-Za-z_]\w*)\s*\(\s*(?:{_ARGUMENT}\s*(?:,\s*{_ARGUMENT}\s*)*)?\){_FILTERS}
    )(?(config)|\s*-?\}}\}})
    """,
    re.X,
)
_FIRST = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)")
_BUILT_INS = frozenset({"ref", "changes", "source", "var", "env_var", "this", "model_name", "target", "config"})
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


class PlainTag(NamedTuple):
    """A tag of a file: which built-in it calls, its literal names, and its span with its braces."""

    kind: Literal["config", "ref", "changes", "source", "this"]
    names: tuple[str, ...]
    span: Span


class UncertainError(Exception):
    """The text holds something that only Jinja can read."""


def scan(source: SourceText, macros: Mapping[str, Captured] | None = None) -> Captured | None:
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


def plain_tags(source: SourceText) -> tuple[Captured, list[PlainTag]] | None:
    """What a file captures and its tags, where they are calls of `config`, `ref`, `changes`, `source` and `this` alone.

    None where there is anything else: another tag, a comment, or a tag that takes blanks away.
    """
    if "{%" in source.text or "{#" in source.text:
        return None
    run = _Scan(source, {})
    try:
        captured = run.run()
    except UncertainError:
        return None
    return (captured, run.tags) if run.all_plain else None


class _Scan:
    """One pass over a file."""

    def __init__(self, source: SourceText, macros: Mapping[str, Captured]) -> None:
        self._source = source
        self._plain = macros
        self._text = source.text
        self._refs: list[Ref] = []
        self._changes: list[Ref] = []
        self._sources: list[SourceRef] = []
        self._config: dict[str, Any] = {}
        self._places: dict[str, Place] = {}
        self._vars: set[str] = set()
        self._macros: set[str] = set()
        self.tags: list[PlainTag] = []
        self.all_plain = True
        self._uses_this = False

    def run(self) -> Captured:
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
        config = Layer(self._config, self._places)
        return Captured(
            tuple(self._refs),
            tuple(self._sources),
            config,
            self._uses_this,
            frozenset(self._vars),
            frozenset(self._macros),
            tuple(self._changes),
        )

    def _tag(self, start: int) -> int:
        """Read the tag at `start` and return the offset after it."""
        first = _FIRST.match(self._text, start)
        if first is None or (first[1] not in _BUILT_INS and first[1] not in self._plain):
            raise UncertainError  # at the first look: the whole tag takes ten times as long
        tag = _TAG.match(self._text, start)
        if tag is None:
            raise UncertainError
        self.all_plain = self.all_plain and _is_bare(tag)
        if tag["call"]:
            self._call(tag)
        elif tag["read"]:
            if tag["read"] == "var":
                self._vars.add(tag["name"][1:-1])
        elif tag["this"]:
            self._uses_this = True
            self.tags.append(PlainTag("this", (), Span(*tag.span())))
        elif tag["config"]:
            end = self._keywords(tag.end())
            self.all_plain = self.all_plain and self._text[end - 3] != "-"
            self.tags.append(PlainTag("config", (), Span(start, end)))
            return end
        elif tag["macro"]:
            called = self._plain.get(tag["macro"])
            if called is None:
                raise UncertainError
            self._vars |= called.vars
            self._macros |= called.macros
        return tag.end()

    def _call(self, tag: re.Match[str]) -> None:
        place = self._source.place(*tag.span("call"))
        first, second = tag["first"][1:-1], tag["second"]
        if not tag["call"].startswith("source"):
            # With two arguments the first is a package, as in dbt.
            name = first if second is None else second[1:-1]
            ref = Ref(name, place)
            self._refs.append(ref)
            is_feed = tag["call"].startswith("changes")
            if is_feed:
                self._changes.append(ref)
            self.tags.append(PlainTag("changes" if is_feed else "ref", (name,), Span(*tag.span())))
        elif second is None:
            raise UncertainError
        else:
            self._sources.append(SourceRef(first, second[1:-1], place))
            self.tags.append(PlainTag("source", (first, second[1:-1]), Span(*tag.span())))

    def _keywords(self, position: int) -> int:
        """Read the keywords after `config(`, and return the offset after the tag."""
        seen = set()
        while key := _KEY.match(self._text, position):
            name = key[1]
            if name in seen:
                raise UncertainError
            seen.add(name)
            self._config[name], position = literal_value(self._text, key.end())
            self._places[name] = self._source.place(*key.span(1))
            comma = _COMMA.match(self._text, position)
            if comma is None:
                break
            position = comma.end()
        end = _CONFIG_END.match(self._text, position)
        if end is None:
            raise UncertainError
        return end.end()


def _is_bare(tag: re.Match[str]) -> bool:
    """Return whether a tag is one of the five, without a dash at its braces and an attribute after `this`."""
    if tag["config"] or tag["call"] or tag["this"]:
        whole = tag.group()
        inside = whole[2:] if tag["config"] else whole[2:-2]
        return not inside.startswith("-") and not inside.endswith("-") and (not tag["this"] or "." not in inside)
    return False


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
