"""Which text of a model its rows are of: what its commits carry, and what is counted of them."""

from __future__ import annotations

import hashlib

from merge_runner.graph.graph import Graph, Node

_LENGTH = 16
"""Hexadecimal digits of a hash: each commit carries one."""


def text_hash(graph: Graph, node: Node) -> str:
    """Return a hash of what the author wrote for the rows of a node: its text, and those of the macros that it calls.

    That is what `state:modified.body` and `state:modified.macros` compare. The compiled text would differ between a
    first run and the next one, and with each value of a var. Config, values of vars and hooks in YAML do not count.
    """
    macros = (graph.macros[unique_id].sql for unique_id in node.macros if unique_id in graph.macros)
    return hashlib.sha256("\0".join((node.checksum, *macros)).encode()).hexdigest()[:_LENGTH]
