"""Where a dbt model's config is written: in config() of the model's own file, else in the YAML that describes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from merge_runner.project.syntax.yaml_tree import YamlTree
from merge_runner.text import Place, SourceText, Span

CONFIG = re.compile(r"\{\{-?\s*(config\s*\()")
JINJA_END = re.compile(r"\s*-?\}\}")
STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_MODELS = ("models", "snapshots", "seeds")


@dataclass(frozen=True)
class LocatedSpan:
    """A part of a config as its author wrote it. `exact`: the span is the config's text, character for character."""

    source: SourceText
    span: Span
    exact: bool = False

    @property
    def place(self) -> Place:
        """The place in the file."""
        return self.source.place(self.span.start, self.span.end)


@dataclass(frozen=True)
class _Call:
    """A call of config(): the span of its name, its end with the closing braces, and its arguments by key."""

    name: Span
    end: int
    arguments: dict[str, tuple[Span, tuple[Span, ...]]]
    """The span of each `key=value`, and those of the items of a list, or of the value itself."""


@dataclass(frozen=True)
class DbtConfig:
    """The config of the model `name`, whose file is `source`. `described` reads the YAML that describes it, if any."""

    name: str
    source: SourceText
    described: Callable[[], YamlTree | None]

    def find(self, key: str, index: int | None = None, text: str | None = None) -> LocatedSpan | None:
        """Return where a config key is written, or the item `index` of its list; None where neither file has it.

        With `text` the location is exact where exactly that is written there.
        """
        for call in self._calls:
            if key in call.arguments:
                whole, items = call.arguments[key]
                span = items[index] if index is not None and index < len(items) else whole
                return _without_quotes(self.source, span, text)
        return self._in_yaml(key, index, text)

    @property
    def place(self) -> LocatedSpan:
        """Where the model says what it is: `materialized`, else config(), else the first line."""
        if (materialized := self.find("materialized")) is not None and materialized.source is self.source:
            return materialized
        if self._calls:
            return LocatedSpan(self.source, self._calls[0].name)
        return LocatedSpan(self.source, Span(0, len(self.source.line(1))))

    def query(self, compiled: str | None) -> LocatedSpan:
        """Return where the model's query begins: its first line that the compiled text has as well, else the first."""
        start = max((call.end for call in self._calls), default=0)
        compiled_lines = {line.strip() for line in (compiled or "").splitlines()}
        lines = [(span, span.of(self.source.text)) for span in _lines(self.source.text, start)]
        same = (span for span, line in lines if line in compiled_lines and not line.startswith(("--", "{#", "/*")))
        span = next(same, lines[0][0] if lines else None)
        return self.place if span is None else LocatedSpan(self.source, span)

    def _in_yaml(self, key: str, index: int | None, text: str | None) -> LocatedSpan | None:
        tree = self.described()
        if tree is None or not isinstance(tree.data, dict):
            return None
        source = tree.source
        for kind in _MODELS:
            entries = tree.data.get(kind)
            for number, entry in enumerate(entries if isinstance(entries, list) else ()):
                config = entry.get("config") if isinstance(entry, dict) and entry.get("name") == self.name else None
                if not isinstance(config, dict) or key not in config:
                    continue
                path = (kind, number, "config", key)
                many = index is not None and isinstance(config[key], list) and index < len(config[key])
                place = tree.place((*path, index) if many and index is not None else path)
                start = source.offset(place.line, place.column)
                end = source.offset(place.end_line or place.line, place.end_column or place.column)
                return _without_quotes(source, Span(start, end), text)
        return None

    @cached_property
    def _calls(self) -> list[_Call]:
        return list(_calls(self.source.text))


def without_config(text: str) -> str:
    """Return a template without its `{{ config(…) }}`, which dbt renders to nothing."""
    pieces, at = [], 0
    for call in CONFIG.finditer(text):
        close = closing(text, call.end())
        end = JINJA_END.match(text, close) if close is not None else None
        if end is not None and call.start() >= at:
            pieces.append(text[at : call.start()])
            at = end.end()
    return "".join([*pieces, text[at:]])


def _without_quotes(source: SourceText, span: Span, text: str | None) -> LocatedSpan:
    """The span without its quotes where what remains is `text`."""
    value = span.of(source.text)
    for quotes in (0, 1):
        if text and value[quotes : quotes + len(text)] == text and len(value) == len(text) + 2 * quotes:
            return LocatedSpan(source, Span(span.start + quotes, span.start + quotes + len(text)), exact=True)
    return LocatedSpan(source, span)


def _calls(text: str) -> Iterator[_Call]:
    for match in CONFIG.finditer(text):
        close = closing(text, match.end())
        if close is None:
            continue
        after = JINJA_END.match(text, close)
        name = Span(match.start(1), match.end(1) - 1)
        yield _Call(name, after.end() if after else close, _arguments(text, Span(match.start(1), close)))


def closing(text: str, at: int) -> int | None:
    """Return the offset after the parenthesis that closes the one before `at`."""
    depth = 1
    while at < len(text):
        if (string := STRING.match(text, at)) is not None:
            at = string.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at
    return None


def _arguments(text: str, call: Span) -> dict[str, tuple[Span, tuple[Span, ...]]]:
    """The arguments of a call; none where it is not Python's syntax, which Jinja's is but for a few operators."""
    source = SourceText("", call.of(text))
    try:
        tree = ast.parse(source.text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}

    def span(node: ast.keyword | ast.expr) -> Span:
        edges = []
        for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)):
            assert line is not None and column is not None
            characters = len(source.line(line).encode()[:column].decode(errors="replace"))  # ast counts bytes
            edges.append(call.start + source.offset(line, characters + 1))
        return Span(*edges)

    arguments: dict[str, tuple[Span, tuple[Span, ...]]] = {}
    for keyword in tree.keywords if isinstance(tree, ast.Call) else ():
        if keyword.arg is not None:
            many = isinstance(keyword.value, (ast.List, ast.Tuple))
            items = keyword.value.elts if isinstance(keyword.value, (ast.List, ast.Tuple)) else [keyword.value]
            arguments[keyword.arg] = (span(keyword if many else keyword.value), tuple(span(item) for item in items))
    return arguments


def _lines(text: str, start: int) -> Iterator[Span]:
    """The lines of a text from an offset, without the blanks around them; empty ones are left out."""
    for line in re.finditer(r"[^\n]*\S", text[start:]):
        left = len(line[0]) - len(line[0].lstrip())
        yield Span(start + line.start() + left, start + line.end())
