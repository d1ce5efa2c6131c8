"""`merge-runner publish`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import (
    checked_branch,
    load_project,
    output_options,
    project_options,
    selected,
    selection_options,
)


@click.command("publish", cls=Command)
@click.argument("branch", metavar="NAME", callback=lambda _ctx, _param, value: checked_branch(value))
@click.option("--drop", is_flag=True, help="Drop the branch of every table instead.")
@selection_options
@project_options
@output_options
def command(branch: str, drop: bool, **options: Any) -> int:
    """Move main of every Iceberg table to its branch NAME, all tables or none, and drop the branch.

    Nothing is published where main of a table has moved since the branch began, or where the build of the branch has
    left a model or a test failed or skipped.
    """
    from merge_runner.cli.node_commands import display_for
    from merge_runner.run.execution.driver_scope import starting_driver
    from merge_runner.run.publish import publish
    from merge_runner.run.results.events import Events

    project = load_project(options)
    ids = selected(project, options)
    display = display_for(options)
    events = Events(display)
    try:
        with starting_driver(project.prepared, events) as starting:
            outcome = publish(project.prepared, ids, branch, events, starting=starting, drop=drop)
    finally:
        display.close()
    return 0 if outcome.ok else 1
