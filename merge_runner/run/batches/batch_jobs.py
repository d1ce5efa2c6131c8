"""The batches of a model that are due, as jobs of the scheduler: a plan for each, and which waits for which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.merge.batch_windows import check_not_restored, committed_windows, newest_row
from merge_runner.engine.table_format.commit_metadata import stamp
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.branches import branch_confs
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import ModelNode
from merge_runner.graph.writers import other_writers
from merge_runner.plan.batches.batch_values import NodeBatch, schedule_of, time_type
from merge_runner.plan.batches.due import Commitment, DueBatch, Schedule, batches_between, due_batches
from merge_runner.plan.batches.window import moved_start
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
    of_new_table: bool
    """Whether this run replaces the table, by this job or one before it."""

    @property
    def replaces_table(self) -> bool:
        """Whether this job replaces the table: all others of the run wait for it."""
        return self.of_new_table and self.after is None

    @property
    def batch(self) -> NodeBatch:
        """The batch that its texts are rendered for."""
        return NodeBatch(self.unique_id, self.due.window, self.due.empties)


def runs_in_batches(node: object, settings: RunSettings) -> bool:
    """Whether a run of a node is one of its batches."""
    is_run = settings.maintenance is None and settings.clones is None and settings.new_branch is None
    return is_run and isinstance(node, ModelNode) and schedule_of(node) is not None


def check_batch_options(
    prepared: Prepared, ids: Iterable[str], settings: RunSettings, *, is_full_refresh: bool
) -> None:
    """Raise ProblemsError for an option that a model with batches cannot be run with."""
    profile = prepared.files.profile
    for unique_id in ids:
        node = prepared.graph.nodes[unique_id]
        if not isinstance(node, ModelNode) or not runs_in_batches(node, settings):
            continue
        if settings.branch is not None and is_full_refresh:
            message = f"--full-refresh with --branch empties the branch, and keeps what main records of {node.name}"
            hint = "build it without --full-refresh, or on main"
            raise ProblemsError([Problem("broken-batches", message, node.place, hint)])
        if profile.remote is not None and capabilities(node.config.format).keeps_batches:
            message = f"over Spark Connect nothing says which batches the table of {node.name} has committed"
            hint = "give the output of the profile a `master` in place of `remote`, or make it an Iceberg table"
            raise ProblemsError([Problem("broken-batches", message, node.place, hint)])
        if settings.batch_id is not None:
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
    are_apart = _may_share_table(prepared, node, due, plans)
    jobs: list[BatchJob] = []
    for batch, plan in zip(due, plans, strict=True):
        id = f"{node.unique_id}@{batch.window}"
        after = _job_before(jobs, are_apart, is_first_run)
        jobs.append(BatchJob(id, node.unique_id, batch, plan, after, are_apart, replaces))
    return jobs


def _job_before(jobs: Sequence[BatchJob], are_apart: bool, is_first_run: bool) -> str | None:
    """Return the id of the job that the next one waits for: the one before it, or the one that creates the table."""
    if not jobs or (are_apart and not is_first_run):
        return None
    return jobs[0].id if are_apart else jobs[-1].id


def _may_share_table(prepared: Prepared, node: ModelNode, due: Sequence[DueBatch], plans: Sequence[NodePlan]) -> bool:
    """Whether the batches of a model may write its table at the same time."""
    mode = node.config.concurrent_batches or "auto"
    if mode == "off" or other_writers(prepared.graph.nodes, node):
        return False
    return mode == "on" or all(
        keeps_to_window(plan, node, batch.window) for plan, batch in zip(plans, due, strict=True)
    )


def read_due(
    prepared: Prepared, node: ModelNode, settings: RunSettings, driver: Driver, catalog: Catalog
) -> tuple[list[DueBatch], bool]:
    """Return the batches of a model that are due, and whether none was ever committed.

    Raises EngineError and ProblemsError.
    """
    schedule = schedule_of(node)
    assert schedule is not None, "its config has batches"
    begins_anew = _replaces_table(prepared, node, settings) or prepared.sample is not None
    committed, newest = ((), None) if begins_anew else _record(prepared, node, settings, driver, catalog)
    due = _due(prepared, node, schedule, settings, committed, newest)
    done = settings.batches_done.get(node.unique_id, ())
    # The table has the last word: it may have been dropped since.
    return [batch for batch in due if batch.window not in done or str(batch.window) not in batch.record], not committed


def _replaces_table(prepared: Prepared, node: ModelNode, settings: RunSettings) -> bool:
    """Whether a full refresh replaces the table of a model as a whole, and not the rows of some windows."""
    is_part = settings.event_time is not None or bool(settings.batches_done.get(node.unique_id))
    return is_rebuilt(node, prepared.invocation) and not is_part


def _record(
    prepared: Prepared, node: ModelNode, settings: RunSettings, driver: Driver, catalog: Catalog
) -> tuple[Sequence[Commitment], datetime | None]:
    """Return what the table of a model has committed; where that is nothing, the time of its newest row."""
    layout, event_time = table_layout(prepared, node), node.config.event_time
    assert event_time is not None, "graph/config_checks.py refuses batches without it"
    with driver.session(branch_confs(settings.branch)) as session:
        if not catalog.adopt(session, layout):
            return (), None
        table_format = catalog.table_format(layout.format)
        committed = committed_windows(session, layout.relation, table_format, node.application).windows
        if settings.event_time is None and committed:
            check_not_restored(session, layout.relation, table_format, stamp("", node.unique_id))
        # The rows of a table with several writers may be those of the others.
        if committed or other_writers(prepared.graph.nodes, node):
            return committed, None
        newest = newest_row(session, layout.relation, event_time, time_type(node))
        return (), newest and min(newest, settings.now)


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
        end = moved_start(schedule.begin, schedule.size, 1)
        return batches_between(schedule, committed, now, schedule.begin, end)
    if sample is not None:
        return batches_between(schedule, committed, now, sample.start or schedule.begin, sample.end)
    if settings.event_time is None:
        return due_batches(schedule, committed, now, newest)
    empties = is_rebuilt(node, prepared.invocation)
    if empties and (others := other_writers(prepared.graph.nodes, node)):
        message = f"--full-refresh would remove rows of {others[0].name}, which writes the table of {node.name} as well"
        hint = "leave --full-refresh out, or replace the whole table by it, without --event-time-start"
        raise ProblemsError([Problem("broken-batches", message, node.place, hint)])
    return batches_between(schedule, committed, now, *settings.event_time, empties=empties)
