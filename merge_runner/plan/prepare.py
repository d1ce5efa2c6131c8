"""From a project's folder to its graph: what every command begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merge_runner.graph.build import Invocation, build_graph
from merge_runner.graph.graph import Graph
from merge_runner.project.files import ProjectFiles
from merge_runner.project.load import load
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

    @property
    def target_path(self) -> Path:
        """The folder of everything generated."""
        return self.files.root / self.files.settings.target_path


def prepare(root: Path, flags: Flags, env: Mapping[str, str]) -> Prepared:
    """Loads the project at `root` and builds its graph. Raises ProblemsError with everything that is wrong."""
    files = load(
        root,
        profile=flags.profile,
        target=flags.target,
        profiles_dir=flags.profiles_dir,
        vars=flags.vars,
        target_path=flags.target_path,
        env=env,
    )
    templates = Templates(files.macros)
    invocation = Invocation(env, flags.full_refresh)
    return Prepared(files, templates, build_graph(files, templates, invocation), invocation)
