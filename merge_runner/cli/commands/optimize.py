"""`merge-runner optimize`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import (
    maintenance_options,
    output_options,
    project_options,
    running_options,
    selection_options,
)


@click.command("optimize", cls=Command)
@maintenance_options
@selection_options
@running_options
@project_options
@output_options
def command(**options: Any) -> int:
    """Compact the tables of the selected models and seeds, in DAG order; their rows stay as they are."""
    from merge_runner.cli.node_commands import run_command

    if options["retain"] is not None and not options["vacuum"]:
        raise click.UsageError("--retain needs --vacuum: nothing is removed without it.")
    return run_command("optimize", options)
