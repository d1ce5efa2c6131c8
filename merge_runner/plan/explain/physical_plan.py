"""The nodes of Spark's physical plan, read from what EXPLAIN FORMATTED answers: Spark Connect has nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NODE = re.compile(r"(?P<indent>(?:[ :] {2})*(?:[+:]- )?)(?:\* )?(?P<name>\S.*?) \((?P<number>\d+)\)\s*\Z")
_DETAILS = re.compile(r"\((?P<number>\d+)\) ")
_SUBQUERY = re.compile(r"Subquery:\d+ Hosting operator id = (?P<host>\d+) Hosting Expression = (?P<expression>.*)")
_LEVEL = 3
"""Columns by which a tree is indented for each level."""


@dataclass(frozen=True)
class Subquery:
    """A query in a condition of a plan: the number of the node that has the condition, and the condition."""

    host: int
    expression: str


@dataclass(frozen=True)
class PlanNode:
    """A node of a plan. `line` is its line in the text, from 0. `above` are the nodes over it, the root first.

    `child` is which of its parent's inputs it is, from 0. `subquery`: what it is a part of; None: the plan itself.
    `details` is what the text says of it below the tree.
    """

    name: str
    number: int
    line: int
    above: tuple[PlanNode, ...]
    child: int
    subquery: Subquery | None
    details: str


def read_plan_nodes(text: str) -> tuple[PlanNode, ...]:
    """All nodes of a plan and of its subqueries, in the order of the text; what is no tree is passed over."""
    lines = text.splitlines()
    details = dict(_details(lines))
    nodes: list[PlanNode] = []
    subquery: Subquery | None = None
    path: list[PlanNode] = []
    inputs: dict[int, int] = {}
    for index, line in enumerate(lines):
        hosted = _SUBQUERY.match(line)
        if hosted is not None:
            subquery, path = Subquery(int(hosted["host"]), hosted["expression"]), []
        match = _NODE.match(line)
        if match is None or hosted is not None or _DETAILS.match(line):
            continue
        del path[len(match["indent"]) // _LEVEL :]
        number, child = int(match["number"]), 0
        if path:
            child = inputs[path[-1].line] = inputs.get(path[-1].line, -1) + 1
        node = PlanNode(match["name"], number, index, tuple(path), child, subquery, details.get(number, ""))
        nodes.append(node)
        path.append(node)
    return tuple(nodes)


def _details(lines: list[str]) -> Iterator[tuple[int, str]]:
    """What the text says of each node below its trees, by the number of the node."""
    number, node_lines = None, []
    for line in [*lines, ""]:
        if number is None:
            match = _DETAILS.match(line)
            number, node_lines = (int(match["number"]), [line]) if match else (None, [])
        elif line.strip():
            node_lines.append(line)
        else:
            yield number, "\n".join(node_lines)
            number = None
