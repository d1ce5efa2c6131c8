"""`merge-runner clone`."""

from __future__ import annotations

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.node_commands import chosen_nodes, run_nodes
from merge_runner.options.nodes import Branch, NodeOptions, Reporting, Running
from merge_runner.options.project import FullRefresh, Selection


@make("clone", NodeOptions, offers=(Selection, Running, Branch, Reporting, FullRefresh))
def command(options: NodeOptions) -> int:
    """Clone the Delta tables that the manifest.json of --state names into this target, and define the views.

    A shallow clone has the rows of the table as it is now, and shares its files until it is written; the table that is
    cloned stays as it is. A table that exists is left alone, or with --full-refresh replaced by the clone. With
    --branch NAME each Iceberg table of this target gets that branch instead, where main is now: `build --branch NAME`
    goes on with it.
    """
    if options.state is None and options.branch is None:
        raise click.UsageError(
            "clone needs --state, the folder with the manifest.json of what is cloned, or --branch, for Iceberg tables."
        )
    return run_nodes("clone", *chosen_nodes("clone", options))
