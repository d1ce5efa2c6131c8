"""A project and what can be run of it: the interface of the package, and of the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.api.arguments import Names, as_path, events_to, texts
from merge_runner.api.node_options import (
    BatchOptions,
    BuildOptions,
    CloneOptions,
    DataTestOptions,
    OptimizeOptions,
    PublishOptions,
    SeedOptions,
    StreamOptions,
    check_names,
    node_options,
)
from merge_runner.api.queried_project import QueriedProject
from merge_runner.formats.branches import branch_name
from merge_runner.graph.selection.select import Selection
from merge_runner.options.nodes import StreamOptions as StreamCommand
from merge_runner.options.nodes import check_conflicts
from merge_runner.project.syntax.duration import seconds

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from merge_runner.api.node_options import DriverOptions
    from merge_runner.engine.driver.driver import Driver
    from merge_runner.options.nodes import NodeOptions
    from merge_runner.run.operation import OperationResult
    from merge_runner.run.publish import PublishResult
    from merge_runner.run.results.events import Listener
    from merge_runner.run.results.previous_run import LastInvocation
    from merge_runner.run.results.results import Command, RunResults


class Project(QueriedProject):
    """A loaded project: `Project.load("path").build(select="fct_flight+")`.

    `select` and `exclude` are in the syntax of `--select`; without any selection all nodes are meant. Nothing is
    printed; events are logged to the loggers below `merge_runner`. A user's mistake raises ProblemsError.
    """

    def build(
        self, select: Names = (), exclude: Names = (), *, lint: bool = True, **options: Unpack[BuildOptions]
    ) -> RunResults:
        """Lint, then run models, load seeds and run tests, in DAG order.

        Raises LintError where lint finds an error: nothing has run then. `lint=False` leaves that out.
        """
        command_options = node_options(options, BuildOptions, select, exclude)
        return self._invoke("build", replace(command_options, no_lint=not lint), options)

    def run(self, select: Names = (), exclude: Names = (), **options: Unpack[BuildOptions]) -> RunResults:
        """Run the models alone, without lint; else as `build`."""
        return self._invoke("run", node_options(options, BuildOptions, select, exclude), options)

    def seed(self, select: Names = (), exclude: Names = (), **options: Unpack[SeedOptions]) -> RunResults:
        """Load the seeds alone, though their files may not have changed; else as `build`."""
        return self._invoke("seed", node_options(options, SeedOptions, select, exclude), options)

    def test(self, select: Names = (), exclude: Names = (), **options: Unpack[DataTestOptions]) -> RunResults:
        """Run the data tests and unit tests alone; else as `build`."""
        return self._invoke("test", node_options(options, DataTestOptions, select, exclude), options)

    def optimize(
        self,
        select: Names = (),
        exclude: Names = (),
        *,
        vacuum: bool = False,
        retain: float | str | None = None,
        **options: Unpack[OptimizeOptions],
    ) -> RunResults:
        """Compact the tables of the selected models and seeds; their rows stay as they are.

        `vacuum` also removes what no version within the retention needs; `retain` (seconds, or a text such as "14d") is
        how long that is, at least as long as each table says. Raises ProblemsError where a table cannot be compacted
        like that: nothing has run then.
        """
        if retain is not None and not vacuum:
            raise ValueError("retain needs vacuum: nothing is removed without it")
        command_options = node_options(options, OptimizeOptions, select, exclude)
        command_options = replace(command_options, vacuum=vacuum, retain=None if retain is None else seconds(retain))
        return self._invoke("optimize", command_options, options)

    def clone(
        self,
        state: str | Path | None = None,
        select: Names = (),
        exclude: Names = (),
        **options: Unpack[CloneOptions],
    ) -> RunResults:
        """Clone the Delta tables that the manifest.json in the folder `state` names into this target; define the views.

        A table that exists stays as it is, unless the project was loaded with `full_refresh`. With `branch` each
        Iceberg table of this target gets that branch instead, where main is now. Raises ProblemsError where a table
        cannot be cloned, and ValueError with neither of the two: nothing has run then.
        """
        command_options = replace(node_options(options, CloneOptions, select, exclude), state=as_path(state))
        return self._invoke("clone", command_options, options)

    def retry(self, **options: Unpack[BatchOptions]) -> RunResults | None:
        """Run what failed or was skipped in the last invocation, with its options; those given here win.

        The project has to be loaded as it was then. Return None where nothing is left over.
        """
        from merge_runner.options.recorded_options import restore_options
        from merge_runner.run.results.previous_run import last_invocation

        last = last_invocation(self.prepared.target_path)
        now = node_options(options, BatchOptions)
        names_given = {name for name, value in options.items() if value not in (None, False)}
        command_options = replace(
            restore_options(now, last.args, names_given), full_refresh=self.prepared.invocation.full_refresh
        )
        left = Selection(tuple(node for node in last.undone if node in self.graph.nodes))
        if not left.ids:
            return None
        return self._invoke(last.command, command_options, options, left, last=last)

    def _invoke(
        self,
        command: Command,
        command_options: NodeOptions,
        driver_options: DriverOptions,
        selection: Selection | None = None,
        last: LastInvocation | None = None,
    ) -> RunResults:
        on_event, driver = driver_options.get("on_event"), driver_options.get("driver")
        return self.invoke(command, command_options, selection, last=last, on_event=on_event, driver=driver)

    def invoke(
        self,
        command: Command,
        options: NodeOptions,
        selection: Selection | None = None,
        *,
        last: LastInvocation | None = None,
        on_event: Listener | None = None,
        on_driver: Callable[[Driver], None] | None = None,
        driver: Driver | None = None,
    ) -> RunResults:
        """Run nodes as the options of a command say: what `build`, `run`, `seed`, `test`, `optimize` and `retry` do.

        `selection` replaces that of the options; `last` is the invocation that these nodes are left over from.
        `on_driver` receives the Spark driver once it runs. Raises OptionConflictError for options that exclude another.
        """
        from merge_runner.api.node_run import (
            likely_no_op,
            lineage_events,
            lint_first,
            run_settings,
            starting,
            with_sample,
        )

        check_conflicts(options)

        def selected_ids() -> tuple[str, ...]:
            return self.selected_by(options).ids

        ids = selected_ids() if selection is None else selection.ids
        before = selected_ids() if last is not None and (options.defer or options.full_refresh) else ()
        # A left-over node reads what the previous invocation has built, and not the other target.
        prepared = self.deferred((*ids, *before), options.defer, options.defer_state or options.state).prepared
        sample_project = with_sample(prepared, options)
        events = events_to(on_event, on_driver)
        early = bool(ids) and not likely_no_op(prepared, command, options, ids)
        with starting(self.start, prepared, events, driver, early=early) as source:
            from merge_runner.run.build import build  # as lint, while the JVM starts

            lint_first(prepared, command, options, ids)
            source.proceed()  # not before: lint uses processes only where there is no thread that they could not have
            settings = run_settings(prepared, command, options, ids, last, before)
            with lineage_events(prepared, ids, events):
                return build(sample_project, ids, command, settings, events, source)

    def stream(
        self,
        select: Names = (),
        exclude: Names = (),
        *,
        available_now: bool = False,
        **options: Unpack[StreamOptions],
    ) -> RunResults:
        """Read the streams that feed the selected models, until they end or one fails.

        With `available_now` that is when all that is there now has been read.
        """
        check_names(options, StreamOptions)
        command_options = StreamCommand(
            select=texts(select),
            exclude=texts(exclude),
            selector=options.get("selector"),
            state=as_path(options.get("state")),
            available_now=available_now,
            threads=options.get("threads"),
        )
        return self.invoke_stream(command_options, on_event=options.get("on_event"), driver=options.get("driver"))

    def invoke_stream(
        self,
        options: StreamCommand,
        selection: Selection | None = None,
        *,
        on_event: Listener | None = None,
        on_driver: Callable[[Driver], None] | None = None,
        driver: Driver | None = None,
    ) -> RunResults:
        """Read streams as the options of `stream` say; `selection` replaces theirs."""
        from merge_runner.api.node_run import lineage_events, starting
        from merge_runner.options.recorded_options import recorded_options
        from merge_runner.run.settings import RunSettings
        from merge_runner.run.stream.stream import stream

        stream_selection = selection or self.selected_by(options)
        settings = RunSettings(
            threads=options.threads, available_now=options.available_now, args=recorded_options(options)
        )
        events = events_to(on_event, on_driver)
        with starting(self.start, self.prepared, events, driver, early=True) as source:
            source.proceed()
            with lineage_events(self.prepared, stream_selection.ids, events, streams=True):
                return stream(self.prepared, stream_selection.ids, settings, events, source)

    def publish(
        self,
        branch: str,
        select: Names | Selection = (),
        exclude: Names = (),
        *,
        drop: bool = False,
        **options: Unpack[PublishOptions],
    ) -> PublishResult:
        """Move main of every table that has the branch to the branch, or none; `drop`: drop the branches instead.

        Raises ProblemsError where the tables could not be read, or none has the branch.
        """
        from merge_runner.api.node_run import starting
        from merge_runner.run.publish import publish

        check_names(options, PublishOptions)
        ids = self.select(select, exclude, options.get("selector"), options.get("state")).ids
        events, driver = events_to(options.get("on_event")), options.get("driver")
        with starting(self.start, self.prepared, events, driver) as source:
            return publish(self.prepared, ids, branch_name(branch), events, source, drop=drop)

    def run_operation(
        self,
        macro: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_event: Listener | None = None,
        driver: Driver | None = None,
    ) -> OperationResult:
        """Call a macro that may execute statements, with `run_query` or a `statement` block.

        The result has what the macro returned, and the problems that ended it early. What it logs goes to the `on_log`
        of `load`. Raises ProblemsError where there is no such macro.
        """
        from merge_runner.api.node_run import starting
        from merge_runner.run.operation import run_operation

        events = events_to(on_event)
        with starting(self.start, self.prepared, events, driver) as source:
            return run_operation(self.prepared, macro, arguments or {}, events, source)

    def restore_runs(self, *, on_event: Listener | None = None, driver: Driver | None = None) -> int:
        """Keep the last runs that the audit table has in the target folder, where `report` shows them; return how many.

        Raises ProblemsError where the output of the profile has no audit table.
        """
        from merge_runner.api.node_run import starting
        from merge_runner.errors import Problem, ProblemsError
        from merge_runner.graph.naming import audit_table
        from merge_runner.run.execution.driver_scope import driving
        from merge_runner.run.results.audited_runs import restore_runs

        profile = self.prepared.files.profile
        table = audit_table(profile)
        if table is None:
            message = f'the output "{profile.target}" has no audit table'
            raise ProblemsError([Problem("no-audit", message, hint="`audit: schema.table` in profiles.yml names one")])
        events = events_to(on_event)
        with (
            starting(self.start, self.prepared, events, driver) as source,
            driving(self.prepared, events, source) as running,
        ):
            return restore_runs(running, self.prepared, table)

    def start_warm(self, *, idle: float = 30.0, on_message: Callable[[str], None] | None = None) -> None:
        """Start a Spark driver that stays, and that the next runs of the project use; it ends after `idle` minutes.

        `on_message` receives what takes time, instead of the logger `merge_runner.spark`.
        """
        from merge_runner.api.logged_messages import LoggedMessages
        from merge_runner.engine.startup import start_warm

        files, log = self.prepared.files, self.prepared.target_path / "logs" / "spark.log"
        notify = on_message or LoggedMessages("spark").say
        start_warm(files.profile, files.root, log, os.environ, idle * 60, notify)
