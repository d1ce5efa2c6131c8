"""The assets of a project as one op: whatever is selected of them is one build.

Dagster reads the types of an op's arguments, so that annotations are not postponed here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from merge_runner.integrations.attempts import Attempts
from merge_runner.integrations.dagster.results import Declarations
from merge_runner.integrations.dagster.specs import (
    DeclaredCheck,
    asset_key,
    asset_spec,
    declared_checks,
    source_spec,
)
from merge_runner.integrations.manifest import ProjectTables
from merge_runner.integrations.process import Process
from merge_runner.integrations.project import OrchestratedProject
from merge_runner.integrations.run_log import failures, log_line
from merge_runner.integrations.windows import event_time_arguments, window_vars


@dataclass(frozen=True)
class BuildSettings:
    """How the op builds."""

    arguments: Sequence[str] = ()
    """Arguments of `merge-runner build`, such as `--threads 4`."""
    selection: Sequence[str] = ()
    """What selects all of its tables: `--select …`."""
    window: Mapping[str, str] = field(default_factory=dict)
    """The vars of a time partition (`window_vars`)."""
    batches: Mapping[str, dg.TimeWindowPartitionsDefinition] = field(default_factory=dict)
    """The partitions of models whose batches are partitions."""


def build_assets(
    project: OrchestratedProject,
    tables: ProjectTables,
    settings: BuildSettings,
    *,
    name: str,
    specs: Mapping[str, dg.AssetSpec],
    partitions: dg.PartitionsDefinition | None = None,
    retry_policy: dg.RetryPolicy | None = None,
    op_tags: Mapping[str, Any] | None = None,
    pool: str | None = None,
) -> dg.AssetsDefinition:
    """Return one definition for all tables, of which any subset is one build. `specs` are its assets by unique id.

    `partitions` are those of all assets; None: each has those of its batches, or none.
    """
    if partitions is None:
        specs = {
            unique_id: spec.replace_attributes(partitions_def=settings.batches[unique_id])
            if unique_id in settings.batches
            else spec
            for unique_id, spec in specs.items()
        }
    keys = {unique_id: asset_key(entry) for unique_id, entry in tables.sources.items()}
    keys |= {unique_id: spec.key for unique_id, spec in specs.items()}
    checks = list(declared_checks(tables, keys))

    @dg.multi_asset(
        name=name,
        specs=list(specs.values()),
        check_specs=[check.spec for check in checks],
        can_subset=True,
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.single_run() if partitions is not None or settings.batches else None,
        retry_policy=retry_policy,
        op_tags=dict(op_tags or {}),
        pool=pool,
    )
    def build(context: dg.AssetExecutionContext) -> Iterator[Any]:
        yield from _build(
            context, project, settings, _BuildSelection.of(context, tables, specs, checks, settings.batches)
        )

    return build


@dataclass(frozen=True)
class _BuildSelection:
    """What a run of the op builds: all of its tables, or some, with the checks that were selected with them."""

    declarations: Declarations
    arguments: Sequence[str]
    """What selects them; empty: all."""
    has_batches: bool
    """Whether a model has batches."""

    @classmethod
    def of(
        cls,
        context: dg.AssetExecutionContext,
        tables: ProjectTables,
        specs: Mapping[str, dg.AssetSpec],
        checks: Sequence[DeclaredCheck],
        batches: Mapping[str, dg.TimeWindowPartitionsDefinition],
    ) -> "_BuildSelection":
        chosen_tables = [
            table
            for unique_id, table in tables.tables.items()
            if specs[unique_id].key in context.op_execution_context.selected_asset_keys
        ]
        wanted_checks = [
            check for check in checks if check.spec.key in context.op_execution_context.selected_asset_check_keys
        ]
        declarations = Declarations(
            {table.unique_id: specs[table.unique_id].key for table in chosen_tables},
            {check.unique_id: check for check in wanted_checks if check.selector is not None},
            {check.unique_id: check for check in wanted_checks if check.selector is None},
            {table.unique_id: batches[table.unique_id] for table in chosen_tables if table.unique_id in batches},
        )
        has_batches = any(table.first_batch is not None for table in chosen_tables)
        if len(chosen_tables) == len(tables.tables) and len(wanted_checks) == len(checks):
            return cls(declarations, (), has_batches)
        selectors = [
            *(selected.selector for selected in chosen_tables),
            *(selected.selector for selected in wanted_checks if selected.selector),
        ]
        return cls(declarations, ("--select", *selectors, "--indirect-selection", "empty"), has_batches)


def _build(
    context: dg.AssetExecutionContext,
    project: OrchestratedProject,
    settings: BuildSettings,
    build_selection: _BuildSelection,
) -> Iterator[Any]:
    """Build, and yield what Dagster is given of each node when it ends. Raises Failure where one has failed."""
    is_of_partitions = context.has_partition_key or context.has_partition_key_range
    is_of_window = is_of_partitions and (bool(settings.window) or build_selection.has_batches)
    time_window = context.partition_time_window if is_of_window else None
    window = {} if time_window is None else window_vars(settings.window, time_window.start, time_window.end)
    of_batches = (
        event_time_arguments(time_window.start, time_window.end)
        if time_window is not None and build_selection.has_batches
        else ()
    )

    def start(command: Sequence[str], arguments: Sequence[str]) -> Process:
        command_shown = project.command_line(command, arguments, window)
        context.log.info(" ".join(command_shown))
        return project.start(command, arguments, window)

    # A run that Dagster retries as a whole is another run; the attempts of a step share its id.
    key = f"{context.run.run_id} {context.op_execution_context.get_step_execution_context().step.key}"
    attempts = Attempts(start, project.target_folder(), key)
    arguments = (*settings.arguments, *of_batches, *(build_selection.arguments or settings.selection))
    results = []
    for event in attempts.events(arguments, context.retry_number + 1):
        line = log_line(event)
        if line is not None:
            getattr(context.log, line[0])(line[1])
        if event["event"] == "node_finished":
            results.append(event["result"])
            yield from build_selection.declarations.report(event["result"], is_of_partitions)
    assert attempts.process is not None
    if attempts.process.returncode:
        lines = failures(results) or [attempts.process.reason()]
        raise dg.Failure("\n".join(lines), metadata={"merge_runner/exit_status": attempts.process.returncode})


def source_assets(tables: ProjectTables) -> list[dg.AssetSpec]:
    """Return the external assets of the sources that the tables read."""
    parents = {parent for table in tables.tables.values() for parent in table.parents}
    return [source_spec(entry) for unique_id, entry in tables.sources.items() if unique_id in parents]


def table_specs(tables: ProjectTables) -> dict[str, dg.AssetSpec]:
    """Return the assets of the tables by unique id."""
    keys = {unique_id: asset_key(table.entry) for unique_id, table in tables.tables.items()}
    keys |= {unique_id: asset_key(entry) for unique_id, entry in tables.sources.items()}
    return {unique_id: asset_spec(table, tables.project, keys) for unique_id, table in tables.tables.items()}
