"""The places of the nodes of a YAML file: scalars by their parser events, collections by marks of their content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import yaml

from merge_runner.text import Place, SourceText

Event = Any
"""A parser event of PyYAML, whose published types say too little about them."""

# libyaml breaks lines at these, editors do not.
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")


class Mark(NamedTuple):
    """Where a collection begins, and the nodes in it."""

    event: Event
    keys: dict[str, tuple[Event, Node]]
    items: list[Node]


Node = Mark | Event


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

    def place(self, node: Node) -> Place:
        """The place of a node: with its end for a scalar, without for a collection (YAML ends it lines below)."""
        event = node.event if isinstance(node, Mark) else node
        start, end = event.start_mark, event.end_mark
        scalar = isinstance(event, yaml.ScalarEvent)
        if self._odd:
            return self.source.place(start.index, end.index if scalar else None)
        path = self.source.path
        if scalar:
            return Place(path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        return Place(path, start.line + 1, start.column + 1)
