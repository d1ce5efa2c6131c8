"""Which text of a model its rows are of: what its commits carry, and what is counted of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from merge_runner.graph.graph import Graph, Node

UNKNOWN = "unknown"
"""The hash of a text in counts of commits that do not say which text has made them."""

_LENGTH = 16
"""Hexadecimal digits of a hash: each commit carries one."""


def text_hash(graph: Graph, node: Node) -> str:
    """Return a hash of what the author wrote for the rows of a node: its text, and those of the macros that it calls.

    That is what `state:modified.body` and `state:modified.macros` compare. The compiled text would differ between a
    first run and the next one, and with each value of a var. Config, values of vars and hooks in YAML do not count.
    """
    macros = (graph.macros[unique_id].sql for unique_id in node.macros if unique_id in graph.macros)
    return hashlib.sha256("\0".join((node.checksum, *macros)).encode()).hexdigest()[:_LENGTH]


@dataclass(frozen=True)
class OlderRows:
    """How many commits of a model's statement were made by an `older` text, and by one that is `unknown`, `of` all.

    They are the newest commits since all rows were replaced, as far as the table still knows them.
    """

    older: int
    of: int
    unknown: int = 0

    def __str__(self) -> str:
        text = f"{self.older:,} of {self.of:,} commits were made by an older text"
        text += f", {self.unknown:,} by one that is not known" if self.unknown else ""
        return f"{text}; diff --rebuild shows whether it matters" if self.older else text


def older_rows(commits: Mapping[str, int], text: str) -> OlderRows:
    """Return the counts for a model that has now the text with a hash; `commits` are counts by hash."""
    of, unknown = sum(commits.values()), commits.get(UNKNOWN, 0)
    return OlderRows(of - unknown - commits.get(text, 0), of, unknown)
