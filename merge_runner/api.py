"""The Python interface: the same results as the command line's, as objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.graph.graph import Graph
from merge_runner.graph.methods.lookup import SelectionContext
from merge_runner.graph.select import Selection
from merge_runner.graph.select import select as select_nodes
from merge_runner.plan.branch_plan import branch_name
from merge_runner.plan.load.defer import defer
from merge_runner.plan.load.project_context import Flags, Prepared, prepare

if TYPE_CHECKING:
    from merge_runner.engine.driver.driver import Driver
    from merge_runner.lint.report import Report
    from merge_runner.plan.nodes.maintenance import Maintenance
    from merge_runner.run.publish import Published
    from merge_runner.run.results.events import Events
    from merge_runner.run.results.results import RunResults
    from merge_runner.template.rendered import Log

Names = str | Sequence[str]


class Project:
    """A loaded project: `Project.load("path").build(select="fct_flight+")`."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared

    @classmethod
    def load(
        cls,
        path: str | Path = ".",
        *,
        vars: Mapping[str, Any] | None = None,
        target: str | None = None,
        profile: str | None = None,
        profiles_dir: str | Path | None = None,
        target_path: str | None = None,
        full_refresh: bool = False,
        env: Mapping[str, str] | None = None,
        on_log: Callable[[Log], None] = lambda _log: None,
    ) -> Project:
        """Loads the project in a folder and builds its graph. Raises ProblemsError with everything that is wrong.

        `on_log` receives what templates `log` when they are compiled.
        """
        flags = Flags(
            profile=profile,
            target=target,
            profiles_dir=Path(profiles_dir) if profiles_dir is not None else None,
            vars=vars or {},
            target_path=target_path,
            full_refresh=full_refresh,
        )
        return cls(prepare(Path(path).absolute(), flags, os.environ if env is None else env, on_log))

    @property
    def graph(self) -> Graph:
        """The DAG of the project."""
        return self.prepared.graph

    def select(
        self,
        select: Names = (),
        exclude: Names = (),
        selector: str | None = None,
        state: str | Path | None = None,
    ) -> Selection:
        """The nodes of a selection, in the syntax of --select; without arguments all of them."""
        files = self.prepared.files
        context = SelectionContext(
            root=files.root, state_dir=Path(state) if state is not None else None, selectors=files.selectors
        )
        return select_nodes(self.graph, context, _texts(select), _texts(exclude), selector)

    def defer(self, ids: Sequence[str], state: str | Path) -> Project:
        """The project for a build of `ids` that reads what is neither selected nor built from another target.

        `state` is the folder with the manifest.json of that target. Raises ProblemsError where it has none.
        """
        from merge_runner.graph.state import read_manifest

        prepared = self.prepared
        manifest = read_manifest(Path(state))
        deferral = defer(self.graph, ids, manifest, prepared.files.root, prepared.files.profile)
        return Project(replace(prepared, deferral=deferral))

    def lint(
        self,
        select: Names = (),
        exclude: Names = (),
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        rules: Names = (),
        ignore: Names = (),
        layout: str | Path | None = None,
        baseline: str | Path | None = None,
    ) -> Report:
        """What each MERGE will scan, and what is wrong with the models; needs no Spark.

        `rules` and `ignore` (codes, names, beginnings), `layout` and `baseline` (paths) are as on the command line.
        Raises ProblemsError for arguments or settings that are wrong.
        """
        from merge_runner.lint.run.lint_project import LintOptions, lint_project

        ids = self.select(select, exclude, selector, state).ids
        said = LintOptions(
            rules=_texts(rules),
            ignore=_texts(ignore),
            layout=Path(layout) if layout is not None else None,
            baseline=Path(baseline) if baseline is not None else None,
        )
        return lint_project(self.prepared, ids, said)

    def build(self, select: Names = (), exclude: Names = (), *, lint: bool = True, **options: Any) -> RunResults:
        """Lints, then runs models, seeds and tests in DAG order.

        Options: `selector`, `state`, `defer`, `threads`, `fail_fast`, `batch_id`, `branch` as on the command line,
        `events` to listen to, and `driver`, a running one to use and to leave running. Raises LintError where lint
        finds an error: nothing has run then. `lint=False` leaves it out.
        """
        if lint:
            from merge_runner.lint.run.lint_project import refuse_errors

            refuse_errors(self.lint(select, exclude, selector=options.get("selector"), state=options.get("state")))
        return self._run("build", select, exclude, **options)

    def run(self, select: Names = (), exclude: Names = (), **options: Any) -> RunResults:
        """Runs the models alone."""
        return self._run("run", select, exclude, **options)

    def test(self, select: Names = (), exclude: Names = (), **options: Any) -> RunResults:
        """Runs the data tests alone."""
        return self._run("test", select, exclude, **options)

    def stream(
        self,
        select: Names = (),
        exclude: Names = (),
        *,
        available_now: bool = False,
        selector: str | None = None,
        state: str | Path | None = None,
        threads: int | None = None,
        events: Events | None = None,
        driver: Driver | None = None,
    ) -> RunResults:
        """Reads the streams that feed the selected models, until they end or one fails.

        With `available_now` that is when all that is there now has been read. Else as `build`.
        """
        from merge_runner.run.results.events import Events
        from merge_runner.run.settings import RunSettings
        from merge_runner.run.stream.stream import stream

        ids = self.select(select, exclude, selector, state).ids
        args = {"select": list(_texts(select)), "available_now": available_now}
        settings = RunSettings(threads=threads, available_now=available_now, args=args)
        return stream(self.prepared, ids, settings, events or Events(), driver)

    def source_freshness(
        self,
        select: Names = (),
        exclude: Names = (),
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        threads: int | None = None,
        events: Events | None = None,
        driver: Driver | None = None,
    ) -> RunResults:
        """Asks the selected sources how old their newest rows are, and writes target/sources.json.

        A result is `pass`, `warn` or `fail`, or `error` where a source cannot be asked.
        """
        from merge_runner.run.freshness import source_freshness
        from merge_runner.run.results.events import Events

        ids = self.select(select, exclude, selector, state).ids
        return source_freshness(self.prepared, ids, events or Events(), driver, threads=threads)

    def publish(
        self,
        branch: str,
        select: Names = (),
        exclude: Names = (),
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        drop: bool = False,
        events: Events | None = None,
        driver: Driver | None = None,
    ) -> Published:
        """Moves main of every table that has the branch to the branch, or none; `drop`: drops the branches instead.

        Raises ProblemsError where nothing could be looked at, or no table has the branch.
        """
        from merge_runner.run.publish import publish
        from merge_runner.run.results.events import Events

        ids = self.select(select, exclude, selector, state).ids
        return publish(self.prepared, ids, branch_name(branch), events or Events(), driver, drop=drop)

    def optimize(
        self,
        select: Names = (),
        exclude: Names = (),
        *,
        vacuum: bool = False,
        retain: float | str | None = None,
        **options: Any,
    ) -> RunResults:
        """Compacts the tables of the selected models and seeds; their rows stay as they are.

        `vacuum` also removes what no version within the retention needs; `retain` (seconds, or a text such as "14d") is
        how long that is, at least as long as each table says. Other options are those of `run`. Raises ProblemsError
        where a table cannot be asked for that: nothing has run then.
        """
        from merge_runner.plan.nodes.maintenance import Maintenance
        from merge_runner.project.syntax.duration import seconds

        if retain is not None and not vacuum:
            raise ValueError("retain needs vacuum: nothing is removed without it")
        asked = Maintenance(vacuum, None if retain is None else seconds(retain))
        return self._run("optimize", select, exclude, maintenance=asked, **options)

    def _run(
        self,
        command: Any,
        select: Names,
        exclude: Names,
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        defer: bool = False,
        threads: int | None = None,
        fail_fast: bool = False,
        batch_id: int | None = None,
        branch: str | None = None,
        maintenance: Maintenance | None = None,
        events: Events | None = None,
        driver: Driver | None = None,
    ) -> RunResults:
        from merge_runner.plan.nodes.maintenance import Maintenance
        from merge_runner.run.build import build
        from merge_runner.run.results.events import Events
        from merge_runner.run.settings import RunSettings

        ids = self.select(select, exclude, selector, state).ids
        if batch_id is not None and (isinstance(batch_id, bool) or not 0 <= batch_id < 2**63):
            raise ValueError(f"batch_id is a whole number from 0, not {batch_id!r}")
        asked = maintenance or Maintenance()
        said = {"batch_id": batch_id, "branch": branch, "vacuum": asked.vacuum, "retain": asked.retain}
        settings = RunSettings(
            threads=threads,
            batch_id=batch_id,
            branch=branch_name(branch) if branch is not None else None,
            fail_fast=fail_fast,
            maintenance=asked,
            args={"select": list(_texts(select)), **said},
        )
        if defer and state is None:
            raise ValueError("defer needs state, the folder of the manifest.json to defer to")
        prepared = self.defer(ids, state).prepared if defer and state is not None else self.prepared
        return build(prepared, ids, command, settings, events or Events(), driver)


def _texts(names: Names) -> Sequence[str]:
    return [names] if isinstance(names, str) else names
