"""`merge-runner source freshness`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import load_project, output_options, project_options, selected, selection_options


@click.command("source", cls=Command)
@click.argument("what", metavar="freshness", type=click.Choice(["freshness"]))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: target/sources.json.")
@click.option("--threads", type=click.IntRange(min=1), help="Sources to check in parallel; default: the profile's.")
@selection_options
@project_options
@output_options
def command(what: str, output: Path | None, threads: int | None, **options: Any) -> int:
    """Ask the sources how old their newest rows are, and hold that against their `freshness`.

    Sources that say nothing of it are left alone. The exit status is 1 where one is too old or cannot be asked.
    """
    from merge_runner.cli.node_commands import display_for, exit_status
    from merge_runner.run.execution.driver_scope import starting_driver
    from merge_runner.run.freshness import source_freshness
    from merge_runner.run.results.events import Events

    project = load_project(options)
    ids = selected(project, options)
    display = display_for(options)
    events = Events(display)
    try:
        with starting_driver(project.prepared, events) as starting:
            results = source_freshness(project.prepared, ids, events, starting=starting, threads=threads, output=output)
    finally:
        display.close()
    return exit_status(results, options)
