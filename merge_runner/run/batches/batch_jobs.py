"""The batches of a model that are due, as jobs of the scheduler: a plan for each, and which waits for which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.merge.batch_windows import committed_windows, newest_row
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import ModelNode, Node
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
        return NodeBatch(self.unique_id, self.due.window, self.due.empties)


def runs_in_batches(node: object, settings: RunSettings) -> bool:
    """Whether a run of a node is one of its batches."""
    is_run = settings.maintenance is None and settings.clones is None and settings.new_branch is None
    return is_run and isinstance(node, ModelNode) and schedule_of(node) is not None


def check_batch_options(nodes: Mapping[str, Node], ids: Iterable[str], settings: RunSettings) -> None:
    """Raise ProblemsError for an option that a model with batches cannot be run with."""
    for unique_id in ids:
        node = nodes[unique_id]
        if settings.batch_id is not None and runs_in_batches(node, settings):
            message = f"--batch-id numbers the run of a model, and {node.name} has batches"
            hint = "leave it out, or run the model without it"
            raise ProblemsError([Problem("broken-batches", message, node.place, hint)])


def batch_jobs(
    prepared: Prepared, planner: Planner, node: ModelNode, settings: RunSettings, driver: Driver, catalog: Catalog
) -> list[BatchJob]:
    """Return the batches of a model that are due, as its table says. Raises EngineError and ProblemsError.

    `planner` is one of `prepared`.
    """
    replaces = _replaces_table(prepared, node, settings)
    due, is_first_run = read_due(prepared, node, settings, driver, catalog)
    plans = [
        planner.batch(NodeBatch(node.unique_id, batch.window, batch.empties), full_refresh=replaces and number == 0)
        for number, batch in enumerate(due)
    ]
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


def read_due(
    prepared: Prepared, node: ModelNode, settings: RunSettings, driver: Driver, catalog: Catalog
) -> tuple[list[DueBatch], bool]:
    """Return the batches of a model that are due, and whether its table has yet to get its first rows.

    Raises EngineError.
    """
    schedule = schedule_of(node)
    assert schedule is not None, "its config has batches"
    is_replaced = _replaces_table(prepared, node, settings)
    committed, newest = ((), None) if is_replaced else _record(prepared, node, driver, catalog)
    return _due(prepared, node, schedule, settings, committed, newest), not committed and newest is None


def _replaces_table(prepared: Prepared, node: ModelNode, settings: RunSettings) -> bool:
    """Whether a full refresh replaces the table of a model as a whole, and not the rows of some windows."""
    is_part = settings.event_time is not None or node.unique_id in settings.batches_left
    return is_rebuilt(node, prepared.invocation) and not is_part


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
        return batches_again(schedule, windows, committed, now)
    if settings.event_time is not None:
        empties = is_rebuilt(node, prepared.invocation)
        return asked_batches(schedule, committed, now, *settings.event_time, empties=empties)
    return due_batches(schedule, committed, now, newest)
