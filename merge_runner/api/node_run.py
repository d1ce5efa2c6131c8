"""What comes before nodes run: lint, a driver on its way, and the settings of the run.

Modules that the launch of the JVM does not need are imported after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from merge_runner.engine.driver.driver_source import DriverSource, GivenDriver
from merge_runner.options.nodes import NodeOptions
from merge_runner.options.recorded_options import recorded_options
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.syntax.environment import whole_env
from merge_runner.project.syntax.point_in_time import read_time
from merge_runner.run.execution.driver_scope import starting_driver
from merge_runner.run.results.events import Events

if TYPE_CHECKING:
    from merge_runner.engine.driver.driver import Driver
    from merge_runner.plan.load.defer import BuiltNode
    from merge_runner.run.results.previous_run import LastInvocation
    from merge_runner.run.results.results import Command
    from merge_runner.run.settings import Mode, RunSettings

Start = Callable[[Prepared, Events], DriverSource]
"""Returns the source of the driver that a project is to run on."""


def lint_first(prepared: Prepared, command: Command, options: NodeOptions, ids: Sequence[str]) -> None:
    """Lint the nodes `ids` where the command is `build`, unless the options say otherwise. Raises LintError."""
    if command == "build" and not options.no_lint:
        from merge_runner.lint.refusal import refuse_errors
        from merge_runner.lint.run.lint_project import lint_project

        refuse_errors(lint_project(prepared, ids), warnings=options.warn_error)


@contextmanager
def starting(
    start: Start | None, prepared: Prepared, events: Events, driver: Driver | None, *, early: bool = False
) -> Iterator[DriverSource]:
    """Give the source of `driver` inside the block, or where that is None of an own one; `early`: its JVM starts now.

    `start` returns an own one; None: as the project's profile says. What was started of it and not asked for ends with
    the block.
    """
    if driver is not None:
        yield GivenDriver(driver)
        return
    source = (start or starting_driver)(prepared, events)
    try:
        if early:
            source.launch()
        yield source
    finally:
        source.abandon()


def with_sample(prepared: Prepared, options: NodeOptions) -> Prepared:
    """Return the project as a run with `--empty` or `--sample` reads it. Raises ValueError."""
    if not options.is_sampled:
        return prepared
    from merge_runner.plan.load.sample import EMPTY, read_sample

    sample = EMPTY if options.sample is None else read_sample(options.sample, datetime.now(timezone.utc))
    return replace(prepared, sample=sample)


def run_settings(
    prepared: Prepared,
    command: Command,
    options: NodeOptions,
    ids: Sequence[str],
    last: LastInvocation | None,
    before: Sequence[str],
) -> RunSettings:
    """Return what the options ask of a run of the nodes `ids` by a command.

    `last` is the invocation that they are left over from, and `before` are all nodes that it selected.
    """
    from merge_runner.plan.nodes.maintenance import Maintenance
    from merge_runner.run.settings import RunSettings

    args = recorded_options(options)
    started_at = last.started_at if last is not None else None
    is_same_kind = last is not None and bool(last.args.get("full_refresh")) == options.full_refresh
    done = last.batches_done if last is not None and is_same_kind else {}
    return RunSettings(
        now=started_at or datetime.now(timezone.utc),
        threads=options.threads,
        fail_fast=options.fail_fast,
        batch_id=options.batch_id,
        max_scanned=options.max_scanned,
        compares_tables=options.diff,
        branch=options.branch if command != "clone" else None,
        clones=_clones(options) if command == "clone" and options.branch is None else None,
        new_branch=options.branch if command == "clone" else None,
        maintenance=Maintenance(options.vacuum, options.retain) if command == "optimize" else None,
        event_time=_event_time(options),
        batches_done=done,
        runs_partial=options.partial,
        reuse=reuse_mode(prepared, options),
        args=args if last is None else {**args, "retried": list(last.invocations)},
        earlier_invocations=dict.fromkeys(last.started_nodes, last.invocations) if last is not None else {},
        recreated_tables=_recreated_tables(prepared, {*set(before).difference(ids), *done})
        if last is not None and options.full_refresh
        else (),
    )


def _event_time(options: NodeOptions) -> tuple[datetime, datetime | None] | None:
    if options.event_time_start is None:
        return None
    end = options.event_time_end
    return read_time(options.event_time_start), read_time(end) if end is not None else None


def _clones(options: NodeOptions) -> Mapping[str, BuiltNode]:
    """Return what the manifest of --state has built. Raises ProblemsError, and ValueError without --state."""
    from merge_runner.graph.selection.state import read_manifest
    from merge_runner.plan.load.defer import built_nodes

    if options.state is None:
        raise ValueError("clone needs state, the folder of the manifest.json of what is cloned, or branch")
    return built_nodes(read_manifest(options.state))


@contextmanager
def lineage_events(prepared: Prepared, ids: Sequence[str], events: Events, *, streams: bool = False) -> Iterator[None]:
    """Emit OpenLineage events about the nodes `ids` inside the block, where the profile or the environment says so."""
    from merge_runner.openlineage.settings import lineage_settings

    files = prepared.files
    settings = lineage_settings(files.profile, files.root, prepared.target_path, _whole_env(prepared))
    if settings is None:
        yield
        return
    from merge_runner.openlineage.emit import emitting

    with emitting(settings, prepared, ids, events, streams=streams):
        yield


def likely_no_op(prepared: Prepared, command: Command, options: NodeOptions, ids: Sequence[str]) -> bool:
    """Whether it is likely that none of the nodes `ids` needs to run: then no JVM is started ahead."""
    from merge_runner.run.reuse.records import FILE

    if command not in ("build", "run") or reuse_mode(prepared, options) != "auto":
        return False
    if not (prepared.target_path / FILE).exists():
        return False
    from merge_runner.run.reuse.likely import likely_unchanged

    return likely_unchanged(prepared, ids)


def reuse_mode(prepared: Prepared, options: NodeOptions) -> Mode:
    """Return whether nodes are left out whose inputs have not changed; MERGE_RUNNER_REUSE=off has all of them run."""
    if options.no_reuse or options.is_sampled or prepared.files.profile.reuse == "off":
        return "off"
    if _whole_env(prepared).get("MERGE_RUNNER_REUSE", "").casefold() in ("off", "false", "0"):
        return "off"
    return "fresh" if options.fresh else "auto"


def _whole_env(prepared: Prepared) -> Mapping[str, str]:
    """The environment: to look at it is not to ask, as a template does."""
    return whole_env(prepared.invocation.env)


def _recreated_tables(prepared: Prepared, done: set[str]) -> tuple[str, ...]:
    """Return the tables that a full refresh has recreated by nodes that are not left over: those keep their rows."""
    relations = (prepared.graph.nodes[node].relation for node in done)
    return tuple(relation.name for relation in relations if relation is not None)
