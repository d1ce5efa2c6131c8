"""Warns of rows that came too late for the batches of a model (`late_rows: warn`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.merge.late_rows import late_rows
from merge_runner.engine.table_format.commit_metadata import written_by
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.formats.branches import branch_confs
from merge_runner.formats.registry import table_format_of
from merge_runner.graph.graph import ModelNode
from merge_runner.plan.batches.batch_values import event_time_of, time_type
from merge_runner.plan.batches.due import joined_windows
from merge_runner.plan.batches.window import Window, time_literal
from merge_runner.plan.layout.table_layout import table_layout
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.inputs import Inputs
from merge_runner.plan.steps.inputs import TableInput

_COMMITS = 50
"""Commits of others after which the last one of a batch is not searched for any more."""


def last_batch_time(
    prepared: Prepared, node: ModelNode, branch: str | None, driver: Driver, catalog: Catalog
) -> int | None:
    """Return when the last batch of a model was committed (ms since the epoch); None: that is not known.

    Raises EngineError.
    """
    layout = table_layout(prepared, node)
    with driver.session(branch_confs(branch)) as session:
        if not catalog.adopt(session, layout):
            return None
        for commit in catalog.table_format(layout.format).commits(session, layout.relation, _COMMITS):
            writer = written_by(commit.stamp)
            if writer is not None and writer.node == node.unique_id and writer.batch is not None:
                return commit.milliseconds
    return None


def late_warnings(
    prepared: Prepared,
    node: ModelNode,
    windows_run: Sequence[Window],
    since: int,
    branch: str | None,
    driver: Driver,
    catalog: Catalog,
) -> Iterator[str]:
    """Yield a warning for each table that a model reads and that has new rows in none of `windows_run`.

    Tables without `event_time` are not asked. Raises EngineError.
    """
    type, first = time_type(node), min(windows_run)
    windows = [
        (time_literal(window.start, type), time_literal(window.end, type)) for window in joined_windows(windows_run)
    ]
    for parent_id in node.depends_on:
        parent = prepared.graph.nodes[parent_id]
        event_time = event_time_of(parent)
        if event_time is None:
            continue
        relation = prepared.compiler.relation(parent_id)
        inputs = Inputs(prepared).attach([parent_id]).inputs
        own = next((item for item in inputs if isinstance(item, TableInput) and item.relation == relation), None)
        format = table_format_of(own.format) if own is not None else None
        if own is None or format is None:
            continue  # a view or a file has no versions
        with driver.session(branch_confs(branch)) as session:
            catalog.attach(session, own)
            late = late_rows(session, catalog.table_format(format), relation, event_time, windows, since)
        if late is not None:
            rows = f"{late.rows:,} row{'s' if late.rows != 1 else ''}"
            yield (
                f"{rows} of {relation.name} came too late for the batches that ran, the first of which was {first}: "
                f"the times are {late.oldest} to {late.newest}; --event-time-start and --event-time-end merge them"
            )
