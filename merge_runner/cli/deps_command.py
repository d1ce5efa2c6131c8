"""`merge-runner deps`."""

from __future__ import annotations

import os

import click


@click.command("deps")
@click.option("--iceberg", is_flag=True, help="The Iceberg jar as well, for profiles with an Iceberg catalog.")
def command(iceberg: bool) -> int:
    """Fetch the jars of the table formats into the cache folder and verify their checksums."""
    from merge_runner.cli.messages import say
    from merge_runner.engine.jars import fetch_jars

    for path in fetch_jars(("delta", "iceberg") if iceberg else ("delta",), os.environ, say):
        click.echo(path)
    return 0
