"""The component: `type: merge_runner.integrations.dagster.MergeRunnerComponent` in a defs.yaml.

Dagster reads the types of its fields, so that annotations are not postponed here.
"""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import dagster as dg
from dagster.components.utils.translation import TranslationFn, TranslationFnResolver

from merge_runner.integrations.dagster.assets import BuildSettings, build_assets, source_assets, table_specs
from merge_runner.integrations.dagster.freshness import freshness_checks
from merge_runner.integrations.dagster.partitions import batch_partitions
from merge_runner.integrations.manifest import Table
from merge_runner.integrations.process import THIS
from merge_runner.integrations.project import OrchestratedProject


@dataclass
class Window(dg.Resolvable):
    """Time partitions, and the vars of the project that are their window."""

    start: str
    """The first day or time, such as `2026-01-01`."""
    vars: dict[str, str]
    """`{from: "{start}", to: "{end}"}`; `{end}` is the first day after the window, `{last}` the last day in it."""
    every: str = "day"
    """`hour`, `day`, `week` or `month`."""
    timezone: str | None = None
    """Default: UTC."""
    end: str | None = None
    """Where they end; default: they go on."""

    def definition(self) -> dg.TimeWindowPartitionsDefinition:
        """Return Dagster's definition. Raises DagsterInvalidDefinitionError for an unknown `every`."""
        kinds = {
            "hour": dg.HourlyPartitionsDefinition,
            "day": dg.DailyPartitionsDefinition,
            "week": dg.WeeklyPartitionsDefinition,
            "month": dg.MonthlyPartitionsDefinition,
        }
        if self.every not in kinds:
            raise dg.DagsterInvalidDefinitionError(f"every: {self.every!r} is none of {', '.join(kinds)}")
        start = f"{self.start}-00:00" if self.every == "hour" and len(self.start) == len("2026-01-01") else self.start
        return kinds[self.every](start_date=start, end_date=self.end, timezone=self.timezone)


@dataclass
class Retry(dg.Resolvable):
    """How often a build that has failed goes on with what it has left undone, by `merge-runner retry`."""

    max_retries: int = 1
    delay_seconds: float | None = None

    def policy(self) -> dg.RetryPolicy:
        """Return Dagster's policy."""
        return dg.RetryPolicy(max_retries=self.max_retries, delay=self.delay_seconds)


def _relative(context: dg.ResolutionContext, path: str | None) -> Path | None:
    return None if path is None else context.resolve_source_relative_path(context.resolve_value(path, as_type=str))


_Path = dg.Resolver(_relative, model_field_type=str)
_OptionalPath = dg.Resolver(_relative, model_field_type=str | None)


@dataclass
class MergeRunnerComponent(dg.Component, dg.Resolvable):
    """Tables of a merge-runner project as assets, tests and `expect_merge` as asset checks. A run is one build."""

    project: Annotated[Path, _Path]
    """The folder of the project, relative to the file."""
    select: str = ""
    """What of it, in the syntax of --select; default: all."""
    exclude: str = ""
    """What of it not."""
    selector: str | None = None
    """A name of selectors.yml instead."""
    target: str | None = None
    """The output of the profile."""
    profiles_dir: Annotated[Path | None, _OptionalPath] = None
    """The folder of profiles.yml, relative to the file."""
    target_path: str | None = None
    """The target folder, relative to the project."""
    vars: dict[str, Any] = field(default_factory=dict)
    """The vars of every run."""
    args: list[str] = field(default_factory=list)
    """More arguments of `merge-runner build`, such as `[--threads, "4"]`; Dagster makes a number of such a text."""
    executable: str | None = None
    """The command line of another merge-runner, such as that of an environment with Spark; default: this one."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables of the build."""
    partitions: Window | None = None
    """Time partitions of all assets, whose window is vars of the project."""
    batch_partitions: bool = True
    """Whether a model with batches has a partition for each; not where `partitions` are those of all assets."""
    retry: Retry | None = None
    """How often a failed build goes on."""
    name: str | None = None
    """The name of the op; default: that of the project."""
    pool: str | None = None
    """The concurrency pool of the op: builds of one project should not overlap."""
    tags: dict[str, str] = field(default_factory=dict)
    """Tags of the op."""
    translation: Annotated[
        TranslationFn[Any] | None,
        TranslationFnResolver(template_vars_for_translation_fn=lambda entry: {"node": entry}),
    ] = None
    """Attributes of each asset; `{{ node }}` is its entry in manifest.json."""

    def get_asset_spec(self, table: Table, spec: dg.AssetSpec) -> dg.AssetSpec:
        """Return the asset of a table, made of the one that it has by itself. A subclass may override it."""
        return spec if self.translation is None else self.translation(spec, table.entry)

    def orchestrated(self) -> OrchestratedProject:
        """Return the project with the options that all of its commands have."""
        return OrchestratedProject(
            self.project,
            _executable(self.executable),
            self.target,
            self.profiles_dir,
            self.target_path,
            self.vars,
            {name: str(value) for name, value in self.env.items()},
        )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return the definitions; the project is loaded, without Spark. Raises ProblemsError for its mistakes."""
        return self.definitions()

    def definitions(self) -> dg.Definitions:
        """Return the definitions, as `build_defs` does."""
        project = self.orchestrated()
        tables = project.tables(self.select, self.exclude, self.selector)
        partitions = None if self.partitions is None else self.partitions.definition()
        specs = {
            unique_id: self.get_asset_spec(tables.tables[unique_id], spec)
            for unique_id, spec in table_specs(tables).items()
        }
        selection = [
            *(["--select", *self.select.split()] if self.select else []),
            *(["--exclude", *self.exclude.split()] if self.exclude else []),
            *(["--selector", self.selector] if self.selector else []),
        ]
        window = {} if self.partitions is None else self.partitions.vars
        batches = {
            unique_id: definition
            for unique_id, table in tables.tables.items()
            if partitions is None and self.batch_partitions and (definition := batch_partitions(table)) is not None
        }
        assets = build_assets(
            project,
            tables,
            BuildSettings([str(word) for word in self.args], selection, window, batches),
            name=self.name or tables.project,
            specs=specs,
            partitions=partitions,
            retry_policy=None if self.retry is None else self.retry.policy(),
            op_tags=self.tags,
            pool=self.pool,
        )
        sources = source_assets(tables)
        parents = {parent for table in tables.tables.values() for parent in table.parents}
        sources_read = {unique_id: entry for unique_id, entry in tables.sources.items() if unique_id in parents}
        checks = freshness_checks(project, sources_read, f"{self.name or tables.project}_freshness")
        return dg.Definitions(assets=[assets, *sources], asset_checks=[] if checks is None else [checks])


def _executable(text: str | None) -> Sequence[str]:
    if text is None:
        return THIS
    words = shlex.split(text)
    return (shutil.which(words[0]) or words[0], *words[1:])
