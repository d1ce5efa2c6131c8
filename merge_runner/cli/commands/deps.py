"""`merge-runner deps`."""

from __future__ import annotations

import os
from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import output_options_without


@click.command("deps", cls=Command)
@click.option("--iceberg", is_flag=True, help="The Iceberg jar as well, for profiles with an Iceberg catalog.")
@click.option("--sqlite", is_flag=True, help="Iceberg and SQLite as well, for profiles with an embedded catalog.")
@click.option("--kafka", is_flag=True, help="The Kafka connector as well, for projects with a stream of Kafka.")
@click.option("--archive", is_flag=True, help="Also make the class-data archive, with which local Spark starts faster.")
@output_options_without("warn_error")
def command(iceberg: bool, sqlite: bool, kafka: bool, archive: bool, quiet: bool, **_options: Any) -> int:
    """Fetch the jars of the table formats into the cache folder and verify their checksums."""
    from merge_runner.cli.display.messages import say
    from merge_runner.engine.spark.jars import fetch_jars

    groups = ["delta"]
    if iceberg or sqlite:
        groups.append("iceberg")
    if sqlite:
        groups.append("sqlite")
    if kafka:
        groups.append("kafka")
    for path in fetch_jars(groups, os.environ, _silent if quiet else say):
        click.echo(path)
    if archive:
        from merge_runner.engine.appcds_training import made_archive

        if not quiet:
            say("making the class-data archive: this takes a minute")
        click.echo(made_archive(groups, os.environ))
    return 0


def _silent(_message: str) -> None:
    """Takes the messages that --quiet keeps back."""
