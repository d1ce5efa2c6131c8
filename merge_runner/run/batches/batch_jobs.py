"""The batches of a model that are due, as jobs of the scheduler: a plan for each, and which waits for which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.merge.batch_windows import committed_windows, newest_row
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.graph.graph import ModelNode
from merge_runner.plan.batches.batch_values import NodeBatch, schedule_of
from merge_runner.plan.batches.due import Commitment, DueBatch, Schedule, asked_batches, batches_again, due_batches
from merge_runner.plan.layout.table_layout import table_layout
from merge_runner.plan.load.compiler import is_rebuilt
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.disjoint_batches import keeps_to_window
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.settings import RunSettings


@dataclass(frozen=True)
class BatchJob:
    """A batch that is to run. `after` is the job that has to end well before; None: it waits for no other one."""

    id: str
    unique_id: str
    due: DueBatch
    plan: NodePlan
    after: str | None
    shares_table: bool
    """Whether others may write the table at the same time, other parts of it."""
    replaces_table: bool

    @property
    def batch(self) -> NodeBatch:
        """The batch that its texts are rendered for."""
        return NodeBatch(self.unique_id, self.due.window)


def runs_in_batches(node: object, settings: RunSettings) -> bool:
    """Whether a run of a node is one of its batches."""
    is_run = settings.maintenance is None and settings.clones is None and settings.new_branch is None
    return is_run and isinstance(node, ModelNode) and schedule_of(node) is not None


def batch_jobs(
    prepared: Prepared, planner: Planner, node: ModelNode, settings: RunSettings, driver: Driver, catalog: Catalog
) -> list[BatchJob]:
    """Return the batches of a model that are due, as its table says. Raises EngineError and ProblemsError.

    `planner` is one of `prepared`.
    """
    schedule = schedule_of(node)
    assert schedule is not None, "its config has batches"
    is_part = settings.event_time is not None or node.unique_id in settings.batches_left
    replaces = is_rebuilt(node, prepared.invocation) and not is_part
    committed, newest = ((), None) if replaces else _record(prepared, node, driver, catalog)
    due = _due(prepared, node, schedule, settings, committed, newest)
    plans = [
        planner.batch(NodeBatch(node.unique_id, batch.window), full_refresh=replaces and number == 0)
        for number, batch in enumerate(due)
    ]
    is_first_run = not committed and newest is None
    mode = node.config.concurrent_batches or "auto"
    are_apart = mode == "on" or all(
        keeps_to_window(plan, node, batch.window) for plan, batch in zip(plans, due, strict=True)
    )
    jobs: list[BatchJob] = []
    for batch, plan in zip(due, plans, strict=True):
        waits = bool(jobs) and (is_first_run or not are_apart or mode == "off")
        after = (jobs[0] if are_apart and mode != "off" else jobs[-1]).id if waits else None
        jobs.append(
            BatchJob(
                f"{node.unique_id}@{batch.window}",
                node.unique_id,
                batch,
                plan,
                after,
                are_apart and mode != "off",
                replaces and not jobs,
            )
        )
    return jobs


def _record(
    prepared: Prepared, node: ModelNode, driver: Driver, catalog: Catalog
) -> tuple[Sequence[Commitment], datetime | None]:
    """Return what the table of a model has committed; where that is nothing, the time of its newest row."""
    layout = table_layout(prepared, node)
    assert node.config.event_time is not None, "graph/config_checks.py refuses batches without it"
    with driver.session() as session:
        if not catalog.adopt(session, layout):
            return (), None
        table_format = catalog.table_format(layout.format)
        committed = committed_windows(session, layout.relation, table_format, node.application).windows
        return committed, None if committed else newest_row(session, layout.relation, node.config.event_time)


def _due(
    prepared: Prepared,
    node: ModelNode,
    schedule: Schedule,
    settings: RunSettings,
    committed: Sequence[Commitment],
    newest: datetime | None,
) -> list[DueBatch]:
    sample, now = prepared.sample, settings.now
    if sample is not None and sample.is_empty:
        return asked_batches(schedule, committed, now, schedule.begin, schedule.begin)
    if sample is not None:
        return asked_batches(schedule, committed, now, sample.start or schedule.begin, sample.end)
    if (windows := settings.batches_left.get(node.unique_id)) is not None:
        return batches_again(windows, committed, now)
    if settings.event_time is not None:
        return asked_batches(schedule, committed, now, *settings.event_time)
    return due_batches(schedule, committed, now, newest)
