"""The nodes of a project as its page lists, searches and draws them: a few values each, and the numbers of parents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from merge_runner.graph.graph import DataTestNode, Graph, ModelNode, Node, RefNode, SourceNode, UnitTestNode
from merge_runner.graph.order import topological
from merge_runner.lint.report import ReportedMerge
from merge_runner.pages.graph_layout import layout
from merge_runner.pages.runs.history import LastResult

_LONGEST = 280
"""Characters of a description in the list; the page of the node has all of it."""


class NodeNumbers:
    """The nodes of a graph, parents first, by their numbers: the page names a node by its number."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ids: Sequence[str] = topological(graph)
        self._numbers = {unique_id: number for number, unique_id in enumerate(self.ids)}
        self._by_relation: dict[str, int] = {}
        for unique_id, number in self._numbers.items():
            relation = graph.nodes[unique_id].relation
            if relation is not None:
                self._by_relation.setdefault(relation.name.casefold(), number)

    def __getitem__(self, unique_id: str) -> int:
        return self._numbers[unique_id]

    def of_relation(self, name: str) -> int | None:
        """The first node with this relation, where there is one."""
        return self._by_relation.get(name.casefold())

    def of(self, ids: Iterable[str]) -> list[int]:
        """The numbers of nodes, sorted."""
        return sorted(self._numbers[unique_id] for unique_id in ids)


def is_test(node: Node) -> bool:
    """Whether a node is a data test or a unit test: those are listed with what they test, and not drawn."""
    return isinstance(node, DataTestNode | UnitTestNode)


def listed_nodes(
    numbers: NodeNumbers,
    columns: Mapping[str, Sequence[str]],
    merges: Mapping[str, ReportedMerge],
    last: Mapping[str, LastResult],
) -> list[dict[str, Any]]:
    """Return an entry for each node. `columns`, `merges` and `last` are by id."""
    graph = numbers.graph
    unique_ids = [unique_id for unique_id in numbers.ids if not is_test(graph.nodes[unique_id])]
    place = {unique_id: number for number, unique_id in enumerate(unique_ids)}
    coordinates = layout(
        [[place[parent] for parent in sorted(graph.dag.pred[node]) if parent in place] for node in unique_ids]
    )
    positions = dict(zip(unique_ids, coordinates, strict=True))
    return [
        _without_empty(
            {
                "id": unique_id,
                "kind": node.resource_type,
                "name": node.full_name,
                "path": node.path,
                "relation": node.relation.name if node.relation is not None else None,
                "materialized": node.materialized,
                "format": node.config.format if isinstance(node, RefNode) and node.materialized != "view" else None,
                "tags": list(node.tags),
                "about": _shorten(node.description),
                "columns": list(columns.get(unique_id, ())),
                "parents": numbers.of(graph.dag.pred[unique_id]),
                "at": positions.get(unique_id),
                **_verdict(merges.get(unique_id)),
                **_last_run(last.get(unique_id)),
            }
        )
        for unique_id in numbers.ids
        for node in (graph.nodes[unique_id],)
    ]


def group(node: Node) -> str:
    """The folder that a node is listed in."""
    if isinstance(node, SourceNode):
        return node.source_name
    return "/".join(node.fqn[1:-1]) if isinstance(node, ModelNode) else node.path.rpartition("/")[0]


def _verdict(merge: ReportedMerge | None) -> dict[str, Any]:
    if merge is None:
        return {}
    return {"verdict": merge.verdict, "scan_full": merge.scans_all_on_purpose}


def _last_run(result: LastResult | None) -> dict[str, Any]:
    if result is None:
        return {}
    work = (result.work or result).entry
    figures = work.get("response", {})
    return {
        "status": result.entry.get("status"),
        "seconds": work.get("seconds"),
        "files": [figures.get("files_scanned"), figures.get("files_total")] if "files_total" in figures else None,
    }


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"


def _without_empty(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value not in (None, "", [], False)}
