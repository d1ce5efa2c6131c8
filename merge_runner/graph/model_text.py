"""Which text of a model its rows are of: what its commits carry, and what is counted of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from merge_runner.graph.graph import Graph, ModelNode, Node

UNKNOWN = "unknown"
"""The hash of a text in counts of commits that do not say which text has made them."""

_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_LENGTH = 16
"""Hexadecimal digits of a hash: each commit carries one."""


def text_hash(graph: Graph, node: Node) -> str:
    """Return a hash of what the author wrote for the rows of a node: its text, and the project's macros that it names.

    It is the same for each run and target: macros count that a text could call, whichever branch of Jinja it takes. The
    compiled text would differ between a first run and the next one, and with each value of a var. Config and hooks in
    YAML, values of vars, and macros of packages do not count.
    """
    texts = "\0".join((node.checksum, *_macro_texts(graph, node.raw_code)))
    return hashlib.sha256(texts.encode()).hexdigest()[:_LENGTH]


def _macro_texts(graph: Graph, text: str) -> list[str]:
    """Return the texts of the macros that a text names with a parenthesis, and of those that these name, by name."""
    texts, todo = dict[str, str](), [text]
    while todo:
        for name in _CALL.findall(todo.pop()):
            for macro in graph.macros_by_call.get(name, ()):
                if macro.name not in texts:
                    texts[macro.name] = macro.sql
                    todo.append(macro.sql)
    return [texts[name] for name in sorted(texts)]


@dataclass(frozen=True)
class OlderRows:
    """How many commits of a model's statement were made by an `older` text, and by one that is `unknown`, `of` all.

    They are the newest commits since all rows were replaced, of those that the table still knows.
    """

    older: int
    of: int
    unknown: int = 0

    def __str__(self) -> str:
        text = f"{self.older:,} of {self.of:,} commits were made by an older text"
        text += f", {self.unknown:,} by one that is not known" if self.unknown else ""
        return f"{text}; diff --rebuild shows whether it matters" if self.older else text


def older_rows(graph: Graph, node: Node, commits: Mapping[str, Mapping[str, int]]) -> OlderRows | None:
    """Return the counts of a model that has a table; None where they are not known.

    `commits` are counts by node and hash.
    """
    if not isinstance(node, ModelNode) or node.materialized not in ("merge", "table") or node.unique_id not in commits:
        return None
    return count_older(commits[node.unique_id], text_hash(graph, node))


def count_older(commits: Mapping[str, int], text: str) -> OlderRows:
    """Return the counts where the text with a hash is the present one; `commits` are counts by hash."""
    of, unknown = sum(commits.values()), commits.get(UNKNOWN, 0)
    return OlderRows(of - unknown - commits.get(text, 0), of, unknown)
