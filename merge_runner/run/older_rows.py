"""Which tables have rows that an older text of their model has made, as their commits say."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from merge_runner.engine.table_format.stored_version import commits_by_text
from merge_runner.graph.graph import ModelNode, Node
from merge_runner.graph.model_text import OlderRows, older_rows
from merge_runner.graph.naming import table_location
from merge_runner.plan.layout.layouts import load_recorded
from merge_runner.plan.layout.table_names import TableNames
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.maintenance import has_table
from merge_runner.run.reuse.stored_state import stored_table


class OlderRowsReader:
    """Reads how many commits of the tables of a project an older text has made.

    A table whose commits are files on this machine is asked itself. Of others counts what the recorded catalog has.
    """

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    def of(self, node: Node) -> OlderRows | None:
        """Return the counts of a model's table; None where they are not known, or it has none."""
        if not isinstance(node, ModelNode) or not has_table(node) or node.relation is None:
            return None
        relation, format = node.relation, node.config.format
        location = table_location(self._prepared.files.root, self._prepared.files.profile, relation, format)
        stored = stored_table(relation, format, location, self._prepared)
        if stored is None or stored.needs_spark:
            return self._tables.recorded_older_rows(node)
        return older_rows(self._prepared.graph, node, commits_by_text(stored.versions()))

    def by_id(self, ids: Iterable[str]) -> dict[str, OlderRows]:
        """Return the counts of those of the nodes of which they are known, by id."""
        counts = {unique_id: self.of(self._prepared.graph.nodes[unique_id]) for unique_id in ids}
        return {unique_id: rows for unique_id, rows in counts.items() if rows is not None}

    @cached_property
    def _tables(self) -> TableNames:
        return TableNames(self._prepared, load_recorded(self._prepared))
