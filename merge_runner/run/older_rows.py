"""Which tables have rows that an older text of their model has made, as the commits of the tables say."""

from __future__ import annotations

from merge_runner.engine.table_format.stored_version import commits_by_text
from merge_runner.graph.graph import ModelNode, Node
from merge_runner.graph.model_text import OlderRows, text_hash
from merge_runner.graph.model_text import older_rows as counted
from merge_runner.graph.naming import table_location
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.maintenance import has_table
from merge_runner.run.reuse.stored_state import stored_table


def older_rows(prepared: Prepared, node: Node) -> OlderRows | None:
    """Return how many commits of a model's table were made by an older text; None where that is not known.

    Tables are read whose commits are files on this machine.
    """
    if not isinstance(node, ModelNode) or not has_table(node) or node.relation is None:
        return None
    relation, format = node.relation, node.config.format
    location = table_location(prepared.files.root, prepared.files.profile, relation, format)
    stored = stored_table(relation, format, location, prepared)
    commits = commits_by_text(stored.versions()).get(node.unique_id) if stored is not None else None
    return counted(commits, text_hash(prepared.graph, node)) if commits is not None else None


def older_rows_by_id(prepared: Prepared) -> dict[str, OlderRows]:
    """Return the same of all models of which it is known, by their ids."""
    counts = {unique_id: older_rows(prepared, node) for unique_id, node in prepared.graph.nodes.items()}
    return {unique_id: rows for unique_id, rows in counts.items() if rows is not None}
