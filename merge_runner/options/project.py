"""The options that say which project, and which of its nodes, named as in dbt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from merge_runner.options.declaration import flag, option, several
from merge_runner.options.output import OutputOptions


def _project_dir() -> Any:
    return option("--project-dir", path="folder", help="The project's folder; default: the nearest one upwards.")


def _target_path() -> Any:
    return option("--target-path", help="The folder for everything generated.")


@dataclass(frozen=True)
class FolderOptions(OutputOptions):
    """Which project, for commands that need no profile."""

    project_dir: Path | None = _project_dir()
    target_path: str | None = _target_path()


@dataclass(frozen=True)
class ProjectOptions(OutputOptions):
    """Which project, profile and target."""

    project_dir: Path | None = _project_dir()
    profiles_dir: Path | None = option(
        "--profiles-dir",
        path="folder",
        recorded=True,
        help="Where profiles.yml is; default: the project, ~/.merge-runner.",
    )
    profile: str | None = option("--profile", recorded=True, help="The profile of profiles.yml.")
    target: str | None = option("-t", "--target", recorded=True, help="The output of the profile.")
    vars_text: str | None = option("--vars", metavar="YAML", recorded=True, help="Variables, as '{name: value, …}'.")
    target_path: str | None = _target_path()
    cache_dir: Path | None = option(
        "--cache-dir", path="folder", help="The folder of caches and jars; default: the user's cache folder."
    )
    no_cache: bool = flag("--no-cache", help="Neither read nor keep what earlier runs found out about the files.")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class FullRefresh(ProjectOptions):
    """For commands that run or render models."""

    full_refresh: bool = flag(
        "-f", "--full-refresh", recorded=True, help="Rebuild targets instead of merging into them."
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Selection(ProjectOptions):
    """Which nodes."""

    select: tuple[str, ...] = several(
        *("-s", "--select", "-m", "--models"), words=True, recorded=True, help="The nodes to take, in dbt's syntax."
    )
    exclude: tuple[str, ...] = several("--exclude", words=True, recorded=True, help="The nodes to leave out.")
    indirect_selection: Literal["eager", "cautious", "buildable", "empty"] = option(
        "--indirect-selection",
        default="eager",
        recorded=True,
        help="Which tests of the selected nodes come along: all, those that read nothing else (cautious), or else only "
        "what is above (buildable), or none.",
    )
    selector: str | None = option("--selector", recorded=True, help="A named selection of selectors.yml.")
    state: Path | None = option(
        "--state",
        path="folder",
        recorded=True,
        help="A folder with the artifacts of an earlier run, for state:, result: and --defer.",
    )
    columns: bool = flag(
        "--columns", recorded=True, help="Of what is below state:modified, take only what a changed column can reach."
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Defer(ProjectOptions):
    """For commands that have `Selection`."""

    defer: bool = flag(
        "--defer",
        recorded=True,
        help="What is neither selected nor built in this target is read where the manifest.json of --state has it.",
    )
    defer_state: Path | None = option(
        "--defer-state",
        path="folder",
        recorded=True,
        help="The folder of --defer, where it is another one than --state.",
    )
