"""A TOML file as plain data with the place of each key and value; the standard parser reports no positions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from merge_runner.errors import Problems
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.toml import TomlError, parse_toml
from merge_runner.text import Place, SourceText, Span

_TRIVIA = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL
)  # a multi-line string may end in up to two quotes that belong to it
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")
_POSITION = re.compile(r"\(at line (\d+), column (\d+)\)\Z")


@dataclass(frozen=True)
class TomlTree:
    """The content of a TOML file, or of a table in it: `data` is plain, places are found by key path."""

    source: SourceText
    data: Any
    spans: dict[KeyPath, tuple[Span, Span]]
    """The spans of the key and the value of each path from the top of the file."""
    prefix: KeyPath = ()

    def at(self, *path: str) -> TomlTree:
        """Return the table at `path` as a separate tree; it must be there."""
        data = self.data
        for key in path:
            data = data[key]
        return TomlTree(self.source, data, self.spans, (*self.prefix, *path))

    def place(self, path: KeyPath = ()) -> Place:
        """The place of the value at `path` (of a table: its header), or of the closest value around it."""
        return self._place(path, 1)

    def key_place(self, path: KeyPath) -> Place:
        """The place of the key that `path` ends in; of the value where it ends in a list's index."""
        return self._place(path, 0)

    def text(self, path: KeyPath) -> str | None:
        """What the author wrote for the number, boolean or date at `path`; None for anything else."""
        spans = self.spans.get((*self.prefix, *path))
        return spans[1].of(self.source.text) if spans else None

    def _place(self, path: KeyPath, index: int) -> Place:
        full = (*self.prefix, *path)
        while full:
            if spans := self.spans.get(full):
                return self.source.place(spans[index].start, spans[index].end)
            full = full[:-1]
        return self.source.place(0)


def toml_tree(source: SourceText, problems: Problems) -> TomlTree | None:
    """Reads a TOML file; None, and a problem with its place, where it is not TOML."""
    try:
        data = parse_toml(source.text)
    except TomlError as error:
        message = str(error)
        at = _POSITION.search(message)
        place = Place(source.path, int(at[1]), int(at[2])) if at else source.place(len(source.text))
        plus = source.line(place.line).lstrip().startswith("+")
        hint = "quote a key that starts with +, or leave the + out" if plus else None
        problems.add("toml-syntax", f"not TOML: {message[: at.start()].rstrip() if at else message}", place, hint)
        return None
    return TomlTree(source, data, _Locator(source.text).spans)


class _Locator:
    """Walks over valid TOML and records the spans of keys and values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lengths: dict[KeyPath, int] = {}  # of arrays of tables
        self.spans: dict[KeyPath, tuple[Span, Span]] = {}
        table: KeyPath = ()
        self._skip(_TRIVIA)
        while self._at < len(text):
            if text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_TRIVIA)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise AssertionError(f"valid TOML expected at offset {self._at}")
        self._at = match.end()
        return match[0]

    def _header(self) -> KeyPath:
        start = self._at
        many = self._text.startswith("[[", start)
        self._at += 2 if many else 1
        keys = self._keys()
        self._at += 2 if many else 1
        whole = Span(start, self._at)
        path: KeyPath = ()
        for key, span in keys[:-1]:
            path = self._step(path, key)
            self.spans.setdefault(path, (span, whole))
        key, span = keys[-1]
        if many:
            array = (*path, key)
            self.spans.setdefault(array, (span, whole))
            self._lengths[array] = self._lengths.get(array, 0) + 1
        path = self._step(path, key)
        self.spans[path] = (span, whole)
        return path

    def _step(self, path: KeyPath, key: str) -> KeyPath:
        """The path of a key in a header: into the last element where it is an array of tables."""
        path = (*path, key)
        return (*path, self._lengths[path] - 1) if path in self._lengths else path

    def _keys(self) -> list[tuple[str, Span]]:
        """A dotted key, and the blanks around it."""
        keys: list[tuple[str, Span]] = []
        while True:
            self._skip(_BLANK)
            start = self._at
            key_text = self._skip(_KEY)
            keys.append((_key(key_text), Span(start, self._at)))
            self._skip(_BLANK)
            if not self._text.startswith(".", self._at):
                return keys
            self._at += 1

    def _pair(self, table: KeyPath) -> None:
        path = table
        keys = self._keys()
        self._at += 1  # the equals sign
        self._skip(_BLANK)
        start = self._at
        for key, _ in keys:
            path = (*path, key)
        self._value(path)
        value = Span(start, self._at)
        for count, (_, span) in enumerate(keys, 1):
            self.spans.setdefault((*table, *(key for key, _ in keys[:count])), (span, value))

    def _value(self, path: KeyPath) -> None:
        opening = self._text[self._at]
        if opening in "\"'":
            self._skip(_STRING)
        elif opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        else:
            value_text = self._skip(_BARE_VALUE)
            self._at -= len(value_text) - len(value_text.rstrip())

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        self._skip(_TRIVIA)
        while self._text[self._at] != "]":
            start = self._at
            entry = (*path, index)
            self._value(entry)
            span = Span(start, self._at)
            self.spans[entry] = (span, span)
            index += 1
            self._skip(_TRIVIA)
            if self._text[self._at] == ",":
                self._at += 1
                self._skip(_TRIVIA)
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        self._skip(_TRIVIA)
        while self._text[self._at] != "}":
            self._pair(path)
            self._skip(_TRIVIA)
            if self._text[self._at] == ",":
                self._at += 1
                self._skip(_TRIVIA)
        self._at += 1


def _key(key_text: str) -> str:
    if key_text[0] == "'":
        return key_text[1:-1]
    if key_text[0] == '"':
        return next(iter(parse_toml(f"{key_text} = 0")))
    return key_text
