"""Publishes a branch: main of every Iceberg table that has it is moved to it, or of none; or drops it instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.locks import writing
from merge_runner.engine.table_format.branches import Branch, Branches
from merge_runner.engine.tables.catalog import table_exists
from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import run_config
from merge_runner.graph.order import topological
from merge_runner.location import location
from merge_runner.plan.branch_plan import branchable, is_view
from merge_runner.plan.load.project_context import Prepared
from merge_runner.relation import Relation
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.results.event_types import (
    BranchDropped,
    Message,
    PublishFinished,
    PublishRefused,
    PublishStarted,
    TablePublished,
)
from merge_runner.run.results.events import Events
from merge_runner.run.results.journal import Journal
from merge_runner.run.results.previous_run import last_invocation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class PublishResult:
    """The outcome of publishing a branch, by the names of tables in the order of the DAG.

    `moved` are tables whose main has snapshots that the branch does not have, and `undone` nodes that the branch's
    build has left failed or skipped: either keeps everything from being published. `left` were to be published when
    something went wrong, which `error` describes.
    """

    branch: str
    published: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    """Main had all that the branch has."""
    dropped: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether everything was done."""
        return not (self.moved or self.undone or self.left or self.error)


def publish(
    prepared: Prepared,
    ids: Sequence[str],
    branch: str,
    events: Events,
    source: DriverSource,
    drop: bool = False,
) -> PublishResult:
    """Publishes, or drops, a branch of the tables of the nodes `ids`.

    `source` is used as `driving` uses it. Raises ProblemsError where a table cannot be asked, or where none has
    the branch to be published: nothing has been moved then.
    """
    with Journal(prepared.target_path / "journal.jsonl") as journal:
        events.listen(journal)
        try:
            return _Publisher(prepared, ids, branch, events).run(source, drop)
        finally:
            events.forget(journal)


class _Publisher:
    def __init__(self, prepared: Prepared, ids: Sequence[str], branch: str, events: Events) -> None:
        self.prepared = prepared
        self.nodes = prepared.graph.nodes
        self.ids = topological(prepared.graph, ids)
        self.branch = branch
        self.events = events
        self.outcome = PublishResult(branch)

    def run(self, source: DriverSource, drop: bool) -> PublishResult:
        self.events.emit(PublishStarted(branch=self.branch, drop=drop))
        if not drop and self._is_left_undone():
            return self._finish()
        tables = {
            node.relation: run_config(node).format
            for node in branchable(self.prepared.graph, self.ids)
            if node.relation is not None
        }
        if tables:
            with (
                driving(self.prepared, self.events, source) as running,
                running.session() as session,
                self._lock(running, tables),
            ):
                formats = running.table_format
                self._on(session, {table: formats(name).branches for table, name in tables.items()}, drop)
        elif not drop:
            raise self._no_branch()
        return self._finish()

    def _on(self, session: SparkSession, tables: Mapping[Relation, Branches], drop: bool) -> None:
        try:
            with engine_errors(or_bugs=True):
                operations_by_branch = {
                    self._find(session, table, branches): branches for table, branches in tables.items()
                }
        except EngineError as error:
            raise ProblemsError([Problem(error.code, self.prepared.conceal(error.message), hint=error.hint)]) from error
        published = {branch: branches for branch, branches in operations_by_branch.items() if branch is not None}
        if drop:
            self._drop(session, published)
        elif not published:
            raise self._no_branch()
        else:
            self._publish(session, published)

    def _find(self, session: SparkSession, table: Relation, branches: Branches) -> Branch | None:
        return branches.find(session, table, self.branch) if table_exists(session, table) else None

    def _publish(self, session: SparkSession, branches: Mapping[Branch, Branches]) -> None:
        """All tables are looked at before the first one is moved: there is no transaction over them."""
        outcome = self.outcome
        outcome.moved += [branch.table.name for branch in branches if branch.state == "moved"]
        outcome.already += [branch.table.name for branch in branches if branch.state == "published"]
        if outcome.moved:
            for name in outcome.moved:
                self._refuse(
                    f"{name}: main has got other rows since `{self.branch}` began, which publishing would take away; "
                    f"nothing is published: `publish {self.branch} --drop`, then build the branch again",
                    table=name,
                )
            return
        ahead = [branch for branch in branches if branch.state == "ahead"]
        with self._reports_failure(ahead, "published"):
            for branch in ahead:
                branches[branch].fast_forward(session, branch)
                outcome.published.append(branch.table.name)
                self.events.emit(
                    TablePublished(
                        table=branch.table.name, branch=self.branch, snapshot=branch.head, before=branch.main
                    )
                )
            self._report_views()
        if outcome.ok:
            self._drop(session, branches)

    def _drop(self, session: SparkSession, tables_by_branch: Mapping[Branch, Branches]) -> None:
        with self._reports_failure([*tables_by_branch], "dropped"):
            for branch, branches in tables_by_branch.items():
                branches.drop(session, branch.table, self.branch)
                self.outcome.dropped.append(branch.table.name)
                self.events.emit(BranchDropped(table=branch.table.name, branch=self.branch, snapshot=branch.head))

    @contextmanager
    def _reports_failure(self, tables: Sequence[Branch], verb: str) -> Iterator[None]:
        """Report an error inside the block, with the tables that are done and those that are left."""
        try:
            with engine_errors(or_bugs=True):
                yield
        except EngineError as error:
            finished = self.outcome.published if verb == "published" else self.outcome.dropped
            self.outcome.left += [branch.table.name for branch in tables if branch.table.name not in finished]
            self.outcome.error = self.prepared.conceal(str(error))
            self._refuse(
                f"{self.outcome.error}; {verb}: {', '.join(finished) or 'nothing'}; not {verb}: "
                f"{', '.join(self.outcome.left)}: the same command again goes on from here"
            )

    def _is_left_undone(self) -> bool:
        """Whether the last invocation here was on the branch and did not succeed; reports what is not known."""
        try:
            last = last_invocation(self.prepared.target_path)
        except ProblemsError:
            last = None
        if last is None or last.args.get("branch") != self.branch:
            self.events.emit(
                Message(f"the last run here was not on `{self.branch}`: whether its tests passed is not known here")
            )
            return False
        self.outcome.undone += [node for node in last.undone if node in self.nodes]
        if self.outcome.undone:
            names = ", ".join(self.nodes[node].name for node in self.outcome.undone)
            self._refuse(
                f"the {last.command} on `{self.branch}` has left {names} failed or skipped; nothing is published: "
                f"put it right and build the branch again, or `retry` where nothing else is to be built again"
            )
        return bool(self.outcome.undone)

    def _report_views(self) -> None:
        views = " ".join(self.nodes[node].name for node in self.ids if is_view(self.nodes[node]))
        if views:
            self.events.emit(
                Message(f"views have no branches: where their text has changed, `run -s {views}` defines them")
            )

    @contextmanager
    def _lock(self, driver: Driver, tables: Iterable[Relation]) -> Iterator[None]:
        """No build of this machine writes the tables meanwhile."""
        profile = self.prepared.files.profile
        with ExitStack() as stack:
            if profile.warehouse is not None:
                for name in sorted(table.name for table in tables):
                    stack.enter_context(
                        writing(
                            location(self.prepared.files.root, profile.warehouse),
                            name,
                            lambda message: self.events.emit(Message(message)),
                            spark=driver.spark,
                        )
                    )
            yield

    def _no_branch(self) -> ProblemsError:
        return ProblemsError(
            [
                Problem(
                    "no-branch",
                    f"no Iceberg table of the selected nodes has a branch `{self.branch}`",
                    hint=f"`merge-runner build --branch {self.branch}` writes one; a branch that is published is gone",
                )
            ]
        )

    def _refuse(self, message: str, table: str = "") -> None:
        self.events.emit(PublishRefused(branch=self.branch, message=message, table=table))

    def _finish(self) -> PublishResult:
        outcome = self.outcome
        self.events.emit(
            PublishFinished(
                branch=self.branch,
                published=outcome.published,
                already=outcome.already,
                dropped=outcome.dropped,
                ok=outcome.ok,
            )
        )
        return outcome
