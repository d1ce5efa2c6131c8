"""A node that is rendered while it runs, since its text depends on what a query returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.graph.graph import Graph

if TYPE_CHECKING:
    from merge_runner.template.operation.table import Operation


@dataclass(frozen=True)
class EngineAccess:
    """A running node, whose texts `operation` executes the statements of."""

    nodes: frozenset[str]
    """Its id, and those of the models whose texts may be part of its text."""
    operation: Operation
    on_read: Callable[[str], None]
    """Called with the id of each node that these texts refer to, before a statement may read it."""
    first_run: bool = False
    """Whether its table was never built, as the table itself said."""

    def operation_of(self, unique_id: str) -> Operation | None:
        """Return what executes the statements of a node's texts; None where they are not part of this node."""
        return self.operation if unique_id in self.nodes else None


def with_inlined(graph: Graph, unique_id: str) -> frozenset[str]:
    """Return a node and the models above whose queries may be inlined in its text: a view is where a run is sampled."""
    inlined = {unique_id}
    waiting = list(graph.nodes[unique_id].depends_on)
    while waiting:
        parent = waiting.pop()
        if parent not in inlined and graph.nodes[parent].materialized in ("ephemeral", "view"):
            inlined.add(parent)
            waiting += graph.nodes[parent].depends_on
    return frozenset(inlined)
