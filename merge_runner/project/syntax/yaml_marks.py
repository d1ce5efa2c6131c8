"""The nodes of a YAML file with their places, as plain data that JSON can hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from merge_runner.text import Place, SourceText

Event = Any
"""A parser event of PyYAML, whose published types say too little about them."""

# libyaml breaks lines at these, editors do not.
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")


Node = list[Any]
"""A scalar: `[line, column, end line, end column, style, text]`, with the style of a plain one "".

A collection: `[line, column, content]`, with a list of nodes, or by key the pairs of nodes of key and value.
"""


def is_plain(event: Event) -> bool:
    """Return whether a scalar has neither quotes nor tag, so that its spelling decides its type."""
    # libyaml calls a quoted scalar with the tag ! implicit as well; its style differs.
    return bool(event.implicit[0]) and not event.style


@dataclass(frozen=True)
class Locator:
    """Finds the places of nodes in their text."""

    source: SourceText

    @cached_property
    def _odd(self) -> bool:
        return _ODD_BREAK.search(self.source.text) is not None

    def place(self, event: Event) -> Place:
        """The place of an event: with its end for a scalar, without for a collection (YAML ends it lines below)."""
        start, end = event.start_mark, event.end_mark
        scalar = hasattr(event, "value")  # of all events, scalars alone
        if self._odd:
            return self.source.place(start.index, end.index if scalar else None)
        path = self.source.path
        if scalar:
            return Place(path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        return Place(path, start.line + 1, start.column + 1)

    def scalar(self, event: Event) -> Node:
        """Return the node of a scalar."""
        style = "" if is_plain(event) else event.style or "!"
        if self._odd:
            place = self.place(event)
            return [place.line, place.column, place.end_line, place.end_column, style, event.value]
        start, end = event.start_mark, event.end_mark
        return [start.line + 1, start.column + 1, end.line + 1, end.column + 1, style, event.value]

    def collection(self, event: Event, content: dict[str, tuple[Node, Node]] | list[Node]) -> Node:
        """Return the node of a collection."""
        place = self.place(event)
        return [place.line, place.column, content]


def node_place(path: str, node: Node) -> Place:
    """Return the place of a node in the file `path`."""
    return Place(path, *node[:4]) if is_scalar(node) else Place(path, node[0], node[1])


def is_scalar(node: Node) -> bool:
    """Return whether a node is a scalar."""
    return len(node) > 3
