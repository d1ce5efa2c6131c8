"""A project as an orchestrator is given it: where it is, and how its commands are started."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merge_runner.api import Project
from merge_runner.integrations.manifest import ProjectTables
from merge_runner.integrations.process import THIS, Process


@dataclass(frozen=True)
class OrchestratedProject:
    """A project, the executable that runs it, and the options that every command of it has.

    `executable` is the command line that merge-runner is started with, by default that of this environment. None leaves
    an option to the project and its profile; `target_path` is relative to the project.
    """

    project_dir: Path
    executable: Sequence[str] = THIS
    target: str | None = None
    profiles_dir: Path | None = None
    target_path: str | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)

    def tables(self, select: str = "", exclude: str = "", selector: str | None = None) -> ProjectTables:
        """Load the project, write its manifest, and return its tables, or those that are selected.

        Raises ProblemsError. Needs no Spark.
        """
        project = Project.load(
            self.project_dir,
            vars=self.vars,
            target=self.target,
            profiles_dir=self.profiles_dir,
            target_path=self.target_path,
            secrets=False,
        )
        tables = ProjectTables.read(project.write_manifest())
        if not (select or exclude or selector):
            return tables
        return tables.only(frozenset(project.select(select or (), exclude or (), selector).ids))

    def target_folder(self) -> Path:
        """Return the target folder. Raises ProblemsError where the project cannot be loaded."""
        if self.target_path is not None:
            return self.project_dir / self.target_path
        project = Project.load(
            self.project_dir, target=self.target, profiles_dir=self.profiles_dir, vars=self.vars, secrets=False
        )
        return project.prepared.target_path

    def command_line(
        self,
        command: Sequence[str],
        arguments: Sequence[str] = (),
        vars: Mapping[str, Any] | None = None,
        log_format: str = "json",
    ) -> list[str]:
        """Return the command line of a command with its options; `vars` win over those of the project."""
        all_vars = {**self.vars, **(vars or {})}
        return [
            *self.executable,
            *command,
            *(["--log-format", log_format]),
            *(["--target", self.target] if self.target else []),
            *(["--profiles-dir", str(self.profiles_dir)] if self.profiles_dir else []),
            *(["--target-path", self.target_path] if self.target_path else []),
            *(["--vars", json.dumps(all_vars, default=str)] if all_vars else []),
            *arguments,
        ]

    def start(
        self, command: Sequence[str], arguments: Sequence[str] = (), vars: Mapping[str, Any] | None = None
    ) -> Process:
        """Start a command as a process that reports its events."""
        return Process(self.command_line(command, arguments, vars), self.project_dir, self.environment())

    def environment(self) -> dict[str, str]:
        """Return the environment variables of its processes."""
        return {**os.environ, **self.env}
