"""The keys and values of a YAML or TOML file with their places, also of one that is half written.

The loader's readers refuse a file with a fault anywhere; here a line that says nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from merge_runner.text import Span


@dataclass(eq=False)
class Entry:
    """A key with its value, or an item of a list, whose `key` is None.

    `span` is the key's range (of an item: its value's); `value` is a scalar as written, without quotes, "" for none.
    `indent` is the column, from 0, in which the keys of one mapping begin; that of a flow mapping is -1.
    """

    key: str | None
    span: Span
    value: str
    value_span: Span
    indent: int
    parent: Entry | None = field(repr=False)
    children: list[Entry] = field(default_factory=list)

    @property
    def path(self) -> tuple[str, ...]:
        """The keys from the top of the file to here; `[]` is an item of a list."""
        above = self.parent.path if self.parent is not None else ()
        return (*above, "[]" if self.key is None else self.key) if self.parent is not None else ()

    def get(self, key: str) -> Entry | None:
        """Return the entry of a key below this one."""
        return next((child for child in self.children if child.key == key), None)

    def walk(self) -> Iterator[Entry]:
        """Yield all entries below, in the order of the file."""
        for child in self.children:
            yield child
            yield from child.walk()

    @property
    def end(self) -> int:
        """The offset after everything that is in it."""
        return max((child.end for child in self.children), default=max(self.span.end, self.value_span.end))

    def around(self, key: str) -> Entry | None:
        """Return the nearest entry above whose item or value is in the list or mapping `key`."""
        entry: Entry | None = self
        while entry is not None and entry.parent is not None:
            if entry.parent.key == key:
                return entry
            entry = entry.parent
        return None


_LINE = re.compile(r"^(?P<blank>[ ]*)(?P<rest>[^\n]*)", re.M)
_KEY = re.compile(r"""(?P<key>"[^"\n]*"|'[^'\n]*'|[^\s\[\]{},#:"'|>&*!%@`][^:\n#\[\]{},]*?)\s*:(?=\s|$)[ \t]*""")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_TAG_OR_ANCHOR = re.compile(r"[&!][^\s,]*[ \t]*")


@lru_cache(maxsize=256)
def yaml_outline(text: str) -> Entry:
    """Return the root of a YAML text; kept for the texts of the last requests."""
    return _Outline(text).read()


class _Outline:
    def __init__(self, text: str) -> None:
        self._text = text
        self.root = Entry(None, Span(0, 0), "", Span(0, 0), -2, None)
        self._block: int | None = None
        """The indent of a key whose value is a block of text, while its lines are passed."""

    def read(self) -> Entry:
        stack = [self.root]
        resume = 0
        for line in _LINE.finditer(self._text):
            if line.start() < resume:
                continue
            indent, rest, at = len(line["blank"]), line["rest"], line.start("rest")
            if not rest.strip() or rest.startswith("#") or (rest in ("---", "...")):
                continue
            if self._block is not None:
                if indent > self._block:
                    continue
                self._block = None
            while rest.startswith("- ") or rest == "-":
                stack = [
                    entry
                    for entry in stack
                    if entry.indent < indent or (entry.indent == indent and entry.key is not None)
                ]
                # a list may be indented as the key that holds it
                item = Entry(None, Span(at, at + 1), "", Span(at + 1, at + 1), indent, stack[-1])
                stack[-1].children.append(item)
                stack.append(item)
                step = len(rest) - len(rest[1:].lstrip(" "))
                indent, at, rest = indent + step, at + step, rest[step:]
            resume = self._content(stack, indent, rest, at)
        return self.root

    def _content(self, stack: list[Entry], indent: int, rest: str, at: int) -> int:
        """Read what a line has after its dashes, and return the offset after what was read."""
        key = _KEY.match(rest)
        if key is None:
            if stack[-1].key is None and stack[-1].indent < indent and rest:
                entry = stack[-1]
                return self._value(entry, rest, at)
            return 0
        while stack[-1].indent >= indent:
            stack.pop()
        name = key["key"]
        offset = at + key.start("key") + (name[0] in "\"'")
        entry = Entry(
            name.strip("\"'"), Span(offset, offset + len(name.strip("\"'"))), "", Span(0, 0), indent, stack[-1]
        )
        stack[-1].children.append(entry)
        stack.append(entry)
        return self._value(entry, rest[key.end() :], at + key.end())

    def _value(self, entry: Entry, rest: str, at: int) -> int:
        entry.value_span = Span(at, at)
        if anchor := _TAG_OR_ANCHOR.match(rest):
            rest, at = rest[anchor.end() :], at + anchor.end()
        if rest[:1] in "|>" and rest[:1]:
            self._block = entry.indent
            return 0
        if rest[:1] in "[{" and rest[:1]:
            return self._flow(entry, at)
        if rest[:1] in "\"'" and rest[:1]:
            closing = rest.find(rest[0], 1)
            rest, at = rest[1 : closing if closing > 0 else None], at + 1
        else:
            rest = _COMMENT.sub("", rest).rstrip()
        entry.value, entry.value_span = rest, Span(at, at + len(rest))
        if entry.key is None:
            entry.span = entry.value_span
        return 0

    def _flow(self, entry: Entry, at: int) -> int:
        """Read the flow list or mapping at `at` into its entry, and return the offset after it."""
        text, mapping = self._text, self._text[at] == "{"
        start, at = at, at + 1
        while at < len(text):
            char = text[at]
            if char in "]}":
                at += 1
                break
            if char in " \t\n,":
                at += 1
                continue
            if char == "#" and text[at - 1] in " \t\n":
                at = (text.find("\n", at) + len(text)) % len(text) + 1 if "\n" in text[at:] else len(text)
                continue
            if char == "\n" and _KEY.match(text, at + 1):
                break
            child = Entry(None, Span(at, at), "", Span(at, at), -1, entry)
            if mapping and (key := _KEY.match(text, at)) is not None:
                quoted = key["key"][0] in "\"'"
                child.key = key["key"].strip("\"'")
                child.span = Span(at + quoted, at + quoted + len(child.key))
                at = key.end()
            entry.children.append(child)
            at = self._flow_value(child, at)
        entry.value_span = Span(start, at)
        return at

    def _flow_value(self, child: Entry, at: int) -> int:
        text = self._text
        if anchor := _TAG_OR_ANCHOR.match(text, at):
            at = anchor.end()
        if text[at : at + 1] in ("[", "{"):
            return self._flow(child, at)
        if text[at : at + 1] in ("'", '"'):
            line = text.find("\n", at)
            closing = text.find(text[at], at + 1, line if line >= 0 else len(text))
            begin, stop = at + 1, closing if closing >= 0 else (line if line >= 0 else len(text))
            at = stop + (closing >= 0)
        else:
            scalar = _SCALAR.match(text, at)
            begin, stop = (at, at + len(scalar.group().rstrip())) if scalar else (at, at)
            at = max(stop, at) if stop > at else at + (text[at : at + 1] not in (",", "]", "}", "\n", ""))
        child.value, child.value_span = text[begin:stop], Span(begin, stop)
        if child.key is None:
            child.span = child.value_span
        return at


_SCALAR = re.compile(r"[^,\[\]{}\n]+(?:\([^)\n]*\))?[^,\[\]{}\n]*")

_HEADER = re.compile(r"^\s*\[\[?\s*(?P<path>[^\]\n]*)\]?\]?", re.M)
_TOML_KEY = re.compile(r"""(?P<key>[\w.+-]+|"[^"\n]*"|'[^'\n]*')\s*=\s*(?P<value>[^\n]*)|(?P<word>[\w+.-]+)""")
_PART = re.compile(r"""[\w+-]+|"[^"]*"|'[^']*'""")


def toml_outline(text: str) -> Entry:
    """Return the root of a TOML text: tables and their keys. A value in several lines is its first line."""
    root = Entry(None, Span(0, 0), "", Span(0, 0), -2, None)
    table = root
    for line in _LINE.finditer(text):
        rest, at = line["rest"], line.start("rest")
        if header := _HEADER.match(rest):
            table = _table(root, header["path"], at + header.start("path"))
        elif (key := _TOML_KEY.match(rest)) is not None:
            name = "key" if key["key"] else "word"
            key_text = key[name].strip("\"'")
            start = at + key.start(name) + (key[name][0] in "\"'")
            value = (key["value"] or "").strip()
            value_at = at + (key.start("value") if key["value"] is not None else key.end())
            table.children.append(
                Entry(
                    key_text, Span(start, start + len(key_text)), value, Span(value_at, value_at + len(value)), 0, table
                )
            )
    return root


def _table(root: Entry, path: str, at: int) -> Entry:
    table = root
    for part in _PART.finditer(path):
        name = part.group().strip("\"'")
        inner = table.get(name)
        if inner is None:
            start = at + part.start() + (part.group()[0] in "\"'")
            inner = Entry(name, Span(start, start + len(name)), "", Span(start, start), 0, table)
            table.children.append(inner)
        table = inner
    return table


@dataclass(frozen=True)
class Cursor:
    """Where a cursor is in an outline: in the value of `entry` (`in_value`), on its key, or where a key may begin.

    `holder` is the entry whose mapping or list the cursor is in; `prefix` is the range of what is typed before it.
    """

    entry: Entry | None
    holder: Entry
    in_value: bool
    prefix: Span


_WORD_BEFORE = re.compile(r"(?<![\w.+-])[\w.+-]*\Z")


def cursor_at(text: str, root: Entry, offset: int) -> Cursor:
    """Return where a cursor at `offset` is."""
    line_start = text.rfind("\n", 0, offset) + 1
    word = _WORD_BEFORE.search(text, line_start, offset)
    prefix = Span(word.start() if word else offset, offset)
    entries = list(root.walk())
    for entry in reversed(entries):
        parent = entry.parent or root
        if entry.value_span.start <= offset <= entry.value_span.end and not entry.children:
            if entry.key is not None and entry.value_span.start > entry.span.end:
                return Cursor(entry, parent, True, prefix)
            if entry.key is None and entry.value_span.start > line_start:
                return Cursor(entry, entry, entry.indent >= 0, prefix)
        if entry.key is not None and entry.span.start <= offset <= entry.span.end:
            return Cursor(entry, parent, False, prefix)
    for entry in reversed(entries):  # between the entries of a flow mapping or list
        inside = entry.value_span.start < offset and (offset < entry.value_span.end or offset <= entry.value_span.start)
        if inside and text[entry.value_span.start : entry.value_span.start + 1] in ("{", "["):
            return Cursor(None, entry, False, prefix)
    column = prefix.start - line_start
    before = [entry for entry in entries if entry.span.start < prefix.start and entry.indent >= 0]
    line = text[line_start : prefix.start]
    if line.lstrip().startswith("- ") and not line.strip("- "):
        column = len(line)
    holder = before[-1] if before else root
    while holder.parent is not None and holder.indent >= column:
        holder = holder.parent
    return Cursor(None, holder, False, prefix)
