"""The shuffles and sorts in the engine's plan of a MERGE, and what each of them is for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from merge_runner.plan.explain.physical_plan import PlanNode, read_plan_nodes

Kind = Literal["Exchange", "Sort"]
Purpose = Literal["join", "write", "files", "pruning", "source"]
Side = Literal["target", "source"]

_KINDS: tuple[Kind, ...] = ("Exchange", "Sort")
_JOIN = re.compile(r"\w*Join\b|CartesianProduct\b")
_ABOVE_THE_JOIN = ("ReplaceData", "WriteDelta", "AppendData", "MergeRows")
_PASSING = ("AdaptiveSparkPlan", "Project", "Filter", *_KINDS)
"""Nodes to look past: the operator that a shuffle below them serves is above them."""
_GROUPED = re.compile(r"\bgroupedBy=\w")
_FOR_A_NODE = "ENSURE_REQUIREMENTS"
"""What Spark prints next to an Exchange that an operator needs; others are requested by the query or the table."""

_WORDS: Mapping[tuple[Kind, Purpose], str] = {
    ("Exchange", "join"): "shuffles the {side} for the join",
    ("Sort", "join"): "sorts the {side} for the join",
    ("Exchange", "write"): "brings the rows to the tasks that write them",
    ("Sort", "write"): "sorts the rows before they are written",
    ("Exchange", "files"): "shuffles for {consumer} in the pass that finds the files with matches",
    ("Sort", "files"): "sorts for {consumer} in the pass that finds the files with matches",
    ("Exchange", "pruning"): "shuffles for {consumer} in a query that finds which partitions can match",
    ("Sort", "pruning"): "sorts for {consumer} in a query that finds which partitions can match",
    ("Exchange", "source"): "shuffles for {consumer} in the source's own query",
    ("Sort", "source"): "sorts for {consumer} in the source's own query",
}
_CONSUMERS = (
    ("Aggregate", "an aggregation"),
    ("Window", "a window function"),
    ("Join", "a join"),
    ("CartesianProduct", "a join"),
    ("Limit", "a LIMIT"),
    ("TakeOrdered", "a LIMIT"),
)


@dataclass(frozen=True)
class Shuffle:
    """An Exchange or a Sort of a plan. `line` is its line in the plan's text, from 0.

    `purpose`: `join`, for the MERGE's own join, with the `side` of it; `write`, before the rows are written; `files`,
    in the pass by which copy-on-write finds the files with matches; `pruning`, in a query that finds what a scan may
    skip; `source`, in the source's own query. A broadcast is none: it moves a small side alone.
    """

    kind: Kind
    number: int
    line: int
    purpose: Purpose
    side: Side | None
    words: str


def shuffles(plan: str, *, source_first: bool) -> tuple[Shuffle, ...]:
    """Those of a MERGE that Spark itself plans, from the text of EXPLAIN FORMATTED, in its order.

    `source_first`: the source is the left side of the join, as in a MERGE that only inserts (RewriteMergeIntoTable).
    """
    nodes = read_plan_nodes(plan)
    by_number = {node.number: node for node in nodes}
    join = _merge_join(nodes)
    operations = []
    for node in nodes:
        if node.name not in _KINDS:
            continue
        kind: Kind = "Exchange" if node.name == "Exchange" else "Sort"
        purpose, side = _purpose(node, by_number, join, source_first)
        words = _WORDS[kind, purpose].format(side=side, consumer=_consumer(node))
        operations.append(Shuffle(kind, node.number, node.line, purpose, side, words))
    return tuple(operations)


def joins_by_partition(plan: str) -> bool:
    """Whether a plan joins target and source partition by partition, as the scans of both have them."""
    nodes = read_plan_nodes(plan)
    join = _merge_join(nodes)
    if join is None or join.name.startswith("Broadcast"):
        return False
    below = [node for node in nodes if join in node.above]
    scans = [node for node in below if node.name.startswith("BatchScan")]
    return all(node.name != "Exchange" for node in below) and any(_GROUPED.search(scan.details) for scan in scans)


def _merge_join(nodes: Sequence[PlanNode]) -> PlanNode | None:
    """The join of target and source; None where the engine has planned none."""
    join = next((node for node in nodes if node.subquery is None and _JOIN.match(node.name)), None)
    if join is None or any(ancestor.name not in (*_ABOVE_THE_JOIN, *_PASSING) for ancestor in join.above):
        return None
    return join


def _purpose(
    node: PlanNode, by_number: Mapping[int, PlanNode], join: PlanNode | None, source_first: bool
) -> tuple[Purpose, Side | None]:
    if node.subquery is not None:
        return _purpose_of_subquery(node, by_number), None
    if join is None or join not in node.above:
        writes = all(ancestor.name in (*_ABOVE_THE_JOIN, *_PASSING) for ancestor in node.above)
        return ("write" if writes else "source"), None
    # What the join needs is right below it: an Exchange, and a Sort above that.
    between = node.above[node.above.index(join) + 1 :]
    has_author_hint = node.name == "Exchange" and _FOR_A_NODE not in node.details
    if (
        has_author_hint
        or [ancestor.name for ancestor in between] not in ([], ["Sort"])
        or (between and node.name == "Sort")
    ):
        return "source", None
    side: Side = "source" if ((*between, node)[0].child == 0) == source_first else "target"
    return "join", side


def _purpose_of_subquery(node: PlanNode, by_number: Mapping[int, PlanNode]) -> Purpose:
    """Return the purpose of a query in a condition. It may be nested in another one: the outermost decides."""
    subquery, purpose = node.subquery, "source"
    while subquery is not None:
        if subquery.expression.startswith("_file#"):
            return "files"
        purpose = "pruning" if "dynamicpruning#" in subquery.expression else "source"
        host = by_number.get(subquery.host)
        subquery = host.subquery if host is not None else None
    return "pruning" if purpose == "pruning" else "source"


def _consumer(node: PlanNode) -> str:
    """What needs the rows so, in words."""
    above = next((ancestor.name for ancestor in reversed(node.above) if ancestor.name not in _PASSING), "")
    if node.name == "Exchange" and _FOR_A_NODE not in node.details:
        return "a hint or an order"
    return next((words for part, words in _CONSUMERS if part in above), "an order")
