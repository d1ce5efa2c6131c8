"""`merge-runner optimize`."""

from __future__ import annotations

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.node_commands import chosen_nodes, run_nodes
from merge_runner.options.nodes import Maintaining, NodeOptions, Reporting, Running
from merge_runner.options.project import Selection


@make("optimize", NodeOptions, offers=(Maintaining, Selection, Running, Reporting))
def command(options: NodeOptions) -> int:
    """Compact the tables of the selected models and seeds, in DAG order; their rows stay as they are."""
    if options.retain is not None and not options.vacuum:
        raise click.UsageError("--retain needs --vacuum: nothing is removed without it.")
    return run_nodes("optimize", *chosen_nodes("optimize", options))
