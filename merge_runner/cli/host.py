"""What a program that calls the command line in its own process gives it: the driver, and a say in what runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from merge_runner.api.node_run import Start
    from merge_runner.api.project import Project
    from merge_runner.graph.selection.select import Selection
    from merge_runner.run.results.results import Command, RunResults


def _permit_all(_command: Command, _project: Project, _selection: Selection) -> None:
    """Permit whatever is to run."""


def _ignore(_results: RunResults) -> None:
    """Take results that no caller wants."""


@dataclass(frozen=True)
class Host:
    """The program around a run of the command line; by default it is a terminal, which permits everything."""

    start: Start | None = None
    """Returns the driver of a project on its way; None: as the profile says."""
    queries_only: bool = False
    """Whether templates that ask the engine may only read."""
    permit: Callable[[Command, Project, Selection], None] = _permit_all
    """Called before nodes run. Raises ProblemsError where they may not."""
    on_results: Callable[[RunResults], None] = _ignore
    """Receives the results of nodes that have run."""


def current_host() -> Host:
    """Return the program around the current command."""
    host: Host | None = click.get_current_context().obj
    return Host() if host is None else host
