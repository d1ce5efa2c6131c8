"""`merge-runner publish`."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import load_project, selected, with_default_selector
from merge_runner.cli.node_commands import display_for
from merge_runner.options.declaration import argument, flag
from merge_runner.options.nodes import read_branch
from merge_runner.options.project import Selection


@dataclass(frozen=True)
class Options(Selection):
    """The options of `publish`."""

    branch: str = argument(metavar="NAME", parse=read_branch)
    drop: bool = flag("--drop", help="Drop the branch of every table instead.")


@make("publish", Options)
def command(options: Options) -> int:
    """Move main of every Iceberg table to its branch NAME, all tables or none, and drop the branch.

    Nothing is published where main of a table has moved since the branch began, or where the build of the branch has
    left a model or a test failed or skipped.
    """
    project = load_project(options, secrets=True)
    selection = selected(project, with_default_selector(project, options))
    display = display_for(options, project.graph)
    try:
        outcome = project.publish(options.branch, selection, drop=options.drop, on_event=display)
    finally:
        display.close()
    return 0 if outcome.ok else 1
