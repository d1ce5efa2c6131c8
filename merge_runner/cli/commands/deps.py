"""`merge-runner deps`."""

from __future__ import annotations

import os
from dataclasses import dataclass

import click

from merge_runner.cli.command import command as make
from merge_runner.options.declaration import flag
from merge_runner.options.output import OutputOptions


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `deps`."""

    iceberg: bool = flag("--iceberg", help="The Iceberg jar as well, for profiles with an Iceberg catalog.")
    sqlite: bool = flag("--sqlite", help="Iceberg and SQLite as well, for profiles with an embedded catalog.")
    kafka: bool = flag("--kafka", help="The Kafka connector as well, for projects with a stream of Kafka.")
    archive: bool = flag("--archive", help="Also make the class-data archive, with which local Spark starts faster.")


@make("deps", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Fetch the jars of the table formats into the cache folder and verify their checksums."""
    from merge_runner.cli.display.messages import say
    from merge_runner.engine.spark.jars import fetch_jars

    groups = ["delta"]
    if options.iceberg or options.sqlite:
        groups.append("iceberg")
    if options.sqlite:
        groups.append("sqlite")
    if options.kafka:
        groups.append("kafka")
    for path in fetch_jars(groups, os.environ, _silent if options.quiet else say):
        click.echo(path)
    if options.archive:
        from merge_runner.engine.appcds_training import made_archive

        if not options.quiet:
            say("making the class-data archive: this takes a minute")
        click.echo(made_archive(groups, os.environ))
    return 0


def _silent(_message: str) -> None:
    """Takes the messages that --quiet keeps back."""
