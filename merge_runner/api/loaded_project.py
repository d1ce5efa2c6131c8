"""A loaded project: its graph, its nodes, and what can be said of them without Spark."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.api.arguments import Names, as_path, texts
from merge_runner.graph.graph import Graph
from merge_runner.graph.selection.select import Selection
from merge_runner.plan.load.defer import defer
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import Prepared, prepare
from merge_runner.project.load.load import parse_vars
from merge_runner.project.syntax.environment import RecordingEnv

if TYPE_CHECKING:
    from typing_extensions import Self

    from merge_runner.api.node_run import Start
    from merge_runner.graph.model_text import OlderRows
    from merge_runner.lint.report import Report
    from merge_runner.options.project import Selection as SelectionOptions
    from merge_runner.plan.lineage.answer import Lineage
    from merge_runner.plan.lineage.project_lineage import ProjectLineage
    from merge_runner.project.schema.selectors import Indirect
    from merge_runner.run.diff.branch_changes import BranchChanges
    from merge_runner.template.rendered_text import Log


class LoadedProject:
    """What needs no Spark."""

    def __init__(self, prepared: Prepared, start: Start | None = None) -> None:
        """Take a prepared project; `start` returns the driver that its nodes run on, None: as the profile says."""
        self.prepared = prepared
        self.start = start
        self._lineage: ProjectLineage | None = None

    @classmethod
    def load(
        cls,
        path: str | Path = ".",
        *,
        vars: Mapping[str, Any] | str | None = None,
        target: str | None = None,
        profile: str | None = None,
        profiles_dir: str | Path | None = None,
        target_path: str | None = None,
        full_refresh: bool = False,
        cache: bool = True,
        env: Mapping[str, str] | None = None,
        secrets: bool = True,
        on_log: Callable[[Log], None] | None = None,
        start: Start | None = None,
        queries_only: bool = False,
    ) -> Self:
        """Load the project in a folder and build its graph. Raises ProblemsError with everything that is wrong.

        `vars` are a mapping, or a text of YAML as --vars takes. With `full_refresh` a run rebuilds targets instead of
        merging into them. With `cache`, what earlier runs found out about files that are the same is taken. Without
        `secrets` templates and the profile get a placeholder for every environment variable that is secret by its name:
        enough for a project that is not trusted, and of which nothing runs. `on_log`
        receives what templates `log` when they are compiled, instead of the logger `merge_runner.template`. `start`
        returns the driver that its nodes run on; None: as the profile says. With `queries_only` a template that asks
        the engine may read, and what else it executes is an error; hooks are what they are.
        """
        from merge_runner.api.event_log import log_template

        flags = Flags(
            profile=profile,
            target=target,
            profiles_dir=as_path(profiles_dir),
            vars=parse_vars(vars) if isinstance(vars, str) else vars or {},
            target_path=target_path,
            full_refresh=full_refresh,
            cache=cache,
            queries_only=queries_only,
        )
        if not isinstance(env, RecordingEnv):
            env = RecordingEnv(os.environ if env is None else env, secrets=secrets)
        return cls(prepare(Path(path).absolute(), flags, env, on_log or log_template), start)

    @property
    def graph(self) -> Graph:
        """The DAG of the project."""
        return self.prepared.graph

    def select(
        self,
        select: Names | Selection = (),
        exclude: Names = (),
        selector: str | None = None,
        state: str | Path | None = None,
        indirect: Indirect = "eager",
        *,
        columns: bool = False,
    ) -> Selection:
        """Return the selected nodes, parents first, and warnings of what matches nothing.

        `indirect` says which tests come along, as --indirect-selection does. With `columns`, what is below
        `state:modified` is selected only where a changed column can reach it.
        """
        if isinstance(select, Selection):
            return select

        def changed() -> frozenset[str]:
            from merge_runner.run.reuse.outlook import changed_inputs

            return changed_inputs(self.prepared)

        reach = None
        if columns:
            from merge_runner.plan.lineage.column_reach import column_reach

            reach = column_reach(self.prepared)
        of_tables = {"inputs": changed, "older-rows": self._with_older_rows}
        return self.prepared.select(texts(select), texts(exclude), selector, as_path(state), indirect, of_tables, reach)

    def selected_by(self, options: SelectionOptions) -> Selection:
        """Return the nodes that the options of a command select: what `select` returns."""
        return self.select(
            *(options.select, options.exclude, options.selector, options.state, options.indirect_selection),
            columns=options.columns,
        )

    def older_rows(self, ids: Iterable[str]) -> dict[str, OlderRows]:
        """Return how many commits of the tables of models an older text has made, by id, where that is known.

        Tables whose commits are files on this machine are read, of others the recorded catalog.
        """
        from merge_runner.run.older_rows import OlderRowsReader

        return OlderRowsReader(self.prepared).by_id(ids)

    def last_batches(self, ids: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the batches of models in their last kept run, as `adapter_response` has them, by id.

        Models that have no batches, and those that no kept run of the target has run, are left out.
        """
        from merge_runner.pages.runs.history import last_results

        results = last_results(self.prepared.target_path, self.prepared.files.profile.target)
        return {
            unique_id: list(results[unique_id].entry.get("batches") or ())
            for unique_id in ids
            if unique_id in results and results[unique_id].entry.get("batch_size")
        }

    def _with_older_rows(self) -> list[str]:
        return [unique_id for unique_id, rows in self.older_rows(self.graph.nodes).items() if rows.older]

    def defer(self, ids: Sequence[str], state: str | Path) -> Self:
        """Return the project for a build of `ids` that reads what is neither selected nor built from another target.

        `state` is the folder with the manifest.json of that target. Raises ProblemsError where it has none.
        """
        from merge_runner.graph.selection.state import read_manifest

        prepared = self.prepared
        manifest = read_manifest(Path(state))
        deferral = defer(self.graph, ids, manifest, prepared.files.root, prepared.files.profile)
        return type(self)(replace(prepared, deferral=deferral), self.start)

    def check(self) -> None:
        """Check every template, hook of a run, query and unit test. Raises ProblemsError."""
        from merge_runner.plan.load.query import check_queries
        from merge_runner.plan.load.run_hooks import check_run_hooks
        from merge_runner.plan.model_tests.unit_tests import check_unit_tests

        self.prepared.templates.check()
        check_run_hooks(self.prepared)
        check_queries(self.graph)
        check_unit_tests(self.prepared)

    def write_manifest(self) -> Path:
        """Write target/manifest.json, in dbt's shape, and return its path."""
        from merge_runner.run.results.artifacts import write_manifest

        write_manifest(self.prepared, str(uuid.uuid4()))
        return self.prepared.target_path / "manifest.json"

    def parse(self) -> Path:
        """Check the project as `check` does, write the manifest, and return its path."""
        self.check()
        return self.write_manifest()

    def compile(
        self,
        select: Names | Selection = (),
        exclude: Names = (),
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        defer: bool = False,
        on_message: Callable[[str], None] | None = None,
    ) -> dict[str, str]:
        """Return the rendered texts of the selected nodes by id; they are written to target/compiled, too.

        `on_message` receives what a text does not show, such as that a table is created first.
        """
        from merge_runner.run.compile import compile_nodes

        ids = self.select(select, exclude, selector, state).ids
        return compile_nodes(self.deferred(ids, defer, state).prepared, ids, str(uuid.uuid4()), on_message or _ignore)

    def lint(
        self,
        select: Names | Selection = (),
        exclude: Names = (),
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        rules: Names = (),
        ignore: Names = (),
        layout: str | Path | None = None,
        baseline: str | Path | None = None,
    ) -> Report:
        """Return what each MERGE will scan, and what is wrong with the models; needs no Spark.

        `rules` and `ignore` (codes, names, beginnings), `layout` and `baseline` (paths) are as on the command line.
        Raises ProblemsError for arguments or settings that are wrong.
        """
        from merge_runner.lint.options import LintOptions
        from merge_runner.lint.run.lint_project import lint_project

        ids = self.select(select, exclude, selector, state).ids
        request = LintOptions(
            rules=texts(rules), ignore=texts(ignore), layout=as_path(layout), baseline=as_path(baseline)
        )
        return lint_project(self.prepared, ids, request)

    def lineage(
        self, name: str | None = None, *, direction: Literal["up", "down", "both"] = "both", direct: bool = False
    ) -> Lineage:
        """Return which columns each column comes from, and which depend on it.

        `name` is that of a model, seed or source, or of one column (`model.column`); None: all models. With `direct`
        only what values are made of counts, and not what decides about them. Needs no Spark. Raises ProblemsError for
        a name that is none.
        """
        from merge_runner.plan.layout.layouts import Layouts
        from merge_runner.plan.lineage.project_lineage import ProjectLineage

        if self._lineage is None:
            self._lineage = ProjectLineage(self.prepared, Layouts.load(self.prepared))
        return self._lineage.ask(name, direction, direct=direct)

    def branch_changes(
        self,
        base: str | Path,
        select: Names | Selection = (),
        exclude: Names = (),
        *,
        selector: str | None = None,
        state: str | Path | None = None,
    ) -> BranchChanges:
        """Return what a branch changes: verdicts, columns with what they reach, and findings that are new.

        `base` is the folder of the project as the branch began with it. Needs no Spark. `comment` of
        `merge_runner.run.diff.comment` makes the comment of a pull request of it. Raises ProblemsError where the base
        cannot be loaded.
        """
        from merge_runner.run.diff.branch_changes import base_project, branch_changes

        ids = self.select(select, exclude, selector, state).ids
        return branch_changes(self.prepared, base_project(self.prepared, Path(base).resolve()), ids)

    def eject(self, name: str) -> Path:
        """Write the MERGE of a model that a macro of a package writes into the model's file, and return its path.

        `ref`, `source`, `this`, vars and `is_incremental()` are kept, and the model renders to the same text. Raises
        ProblemsError, and writes nothing, where there is no such model or no such macro in it, or where something
        cannot be kept.
        """
        from merge_runner.api.conversion import eject_model

        return eject_model(self.prepared, name)

    def docs(self, *, static: bool = False) -> Path:
        """Write the page of the project, and return its path: target/docs/index.html, next to a manifest.json.

        With `static`: target/docs.html, one file. The page needs neither a server nor a network; nor does this.
        `catalog` writes what tables have.
        """
        from merge_runner.api.pages import write_docs

        return write_docs(self.prepared, self.lint(), None if static else self.write_manifest())

    def deferred(self, ids: Sequence[str], defer: bool, state: str | Path | None) -> Self:
        """Return what `defer` returns, or the project itself. Raises ValueError where `state` is missing."""
        if not defer:
            return self
        if state is None:
            raise ValueError("defer needs state, the folder of the manifest.json to defer to")
        return self.defer(ids, state)


def _ignore(_message: str) -> None:
    """Take a message that no caller wants."""
