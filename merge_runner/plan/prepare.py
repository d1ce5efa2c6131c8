"""From a project's folder to its graph: what every command begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.build import Invocation, build_graph
from merge_runner.graph.graph import Graph
from merge_runner.plan.defer import Deferral
from merge_runner.project.files import ProjectFiles
from merge_runner.project.load import read
from merge_runner.project.profile import FILE as PROFILES
from merge_runner.template.rendered import Log
from merge_runner.template.templates import Templates


@dataclass(frozen=True)
class Flags:
    """What the command line or a caller says about every command; None: the project decides."""

    profile: str | None = None
    target: str | None = None
    profiles_dir: Path | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    target_path: str | None = None
    full_refresh: bool = False


@dataclass(frozen=True)
class Prepared:
    """A loaded project with its graph. Nothing but what the graph needs has been rendered."""

    files: ProjectFiles
    templates: Templates
    graph: Graph
    invocation: Invocation
    on_log: Callable[[Log], None] = field(default=lambda _log: None, repr=False)
    """Is told what templates log while they are compiled."""
    deferral: Deferral = field(default_factory=Deferral)
    """The nodes that --defer reads from another target."""

    @property
    def target_path(self) -> Path:
        """The folder of everything generated."""
        return self.files.root / self.files.settings.target_path


def prepare(
    root: Path, flags: Flags, env: Mapping[str, str], on_log: Callable[[Log], None] = lambda _log: None
) -> Prepared:
    """Loads the project at `root` and builds its graph. Raises ProblemsError with everything that is wrong."""
    problems = Problems()
    files = read(
        root,
        problems,
        profile=flags.profile,
        target=flags.target,
        profiles_dir=flags.profiles_dir,
        vars=flags.vars,
        target_path=flags.target_path,
        env=env,
    )
    invocation = Invocation(env, flags.full_refresh)
    try:
        templates = Templates(files.macros)
        graph = build_graph(files, templates, invocation)
    except ProblemsError as error:
        found = [problem for problem in error.problems if not _follows(problem, problems)]
        raise ProblemsError(dict.fromkeys([*problems, *found])) from None
    problems.check()
    return Prepared(files, templates, graph, invocation, on_log)


def _follows(problem: Problem, causes: Iterable[Problem]) -> bool:
    """Whether a problem of the graph may follow from what could not be read."""
    for cause in causes:
        path = cause.place.path if cause.place else ""
        if cause.code in ("unreadable", "not-utf8"):
            name = path.rpartition("/")[2].partition(".")[0]
            if problem.code == "undefined-name" or (problem.code == "unknown-ref" and f'"{name}"' in problem.message):
                return True
        if path.endswith((".yml", ".yaml")) and path != PROFILES and problem.code == "unknown-source":
            return True
        if (path == PROFILES or not path) and problem.code == "raised":  # a macro that looks at `target`
            return True
    return False
