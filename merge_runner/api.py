"""The Python interface: the same results as the command line's, as objects."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.graph.graph import Graph
from merge_runner.graph.methods.lookup import SelectionContext
from merge_runner.graph.select import Selection
from merge_runner.graph.select import select as select_nodes
from merge_runner.plan.prepare import Flags, Prepared, prepare

if TYPE_CHECKING:
    from merge_runner.engine.session import Driver
    from merge_runner.run.events import Events
    from merge_runner.run.results import RunResults

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
    ) -> Project:
        """Loads the project in a folder and builds its graph. Raises ProblemsError with everything that is wrong."""
        flags = Flags(
            profile=profile,
            target=target,
            profiles_dir=Path(profiles_dir) if profiles_dir is not None else None,
            vars=vars or {},
            target_path=target_path,
            full_refresh=full_refresh,
        )
        return cls(prepare(Path(path), flags, os.environ if env is None else env))

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

    def build(self, select: Names = (), exclude: Names = (), **options: Any) -> RunResults:
        """Runs models, seeds and tests in DAG order; see `run_command` for the options."""
        return self._run("build", select, exclude, **options)

    def run(self, select: Names = (), exclude: Names = (), **options: Any) -> RunResults:
        """Runs the models alone."""
        return self._run("run", select, exclude, **options)

    def test(self, select: Names = (), exclude: Names = (), **options: Any) -> RunResults:
        """Runs the data tests alone."""
        return self._run("test", select, exclude, **options)

    def _run(
        self,
        command: Any,
        select: Names,
        exclude: Names,
        *,
        selector: str | None = None,
        state: str | Path | None = None,
        threads: int | None = None,
        fail_fast: bool = False,
        events: Events | None = None,
        driver: Driver | None = None,
    ) -> RunResults:
        from merge_runner.run.build import Options, build
        from merge_runner.run.events import Events

        ids = self.select(select, exclude, selector, state).ids
        options = Options(threads=threads, fail_fast=fail_fast, args={"select": list(_texts(select))})
        return build(self.prepared, ids, command, options, events or Events(), driver)


def _texts(names: Names) -> Sequence[str]:
    return [names] if isinstance(names, str) else names
