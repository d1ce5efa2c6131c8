"""Whether a node waits, as its config key `build_after` says: for time to pass, or for new data."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from merge_runner.graph.graph import Graph, ModelNode, Node
from merge_runner.project.schema.freshness import BuildAfter


def waiting_time(config: BuildAfter, built_at: datetime, now: datetime) -> str | None:
    """Return until when a node waits that was built last at `built_at`; None: it does not."""
    due = built_at + timedelta(seconds=config.seconds)
    if not built_at <= now < due:
        return None
    return f"`build_after`: it waits until {due:%Y-%m-%d %H:%M} UTC"


def waiting_parents(config: BuildAfter, node: Node, graph: Graph, changed: Collection[str]) -> str | None:
    """Return for what a node waits that has new data of the relations `changed`; None: for nothing."""
    if config.updates_on == "any":
        return None
    old = [graph.nodes[parent].name for parent in node.depends_on if not _is_new(graph, parent, changed)]
    return f"`build_after`: it waits for new data of {', '.join(sorted(old))}" if old else None


def _is_new(graph: Graph, unique_id: str, changed: Collection[str]) -> bool:
    node = graph.nodes[unique_id]
    if node.relation is not None and node.relation.name in changed:
        return True
    is_query = isinstance(node, ModelNode) and node.materialized in ("view", "ephemeral")
    return is_query and any(_is_new(graph, parent, changed) for parent in node.depends_on)
