"""`merge-runner deps`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.options.declaration import flag, option
from merge_runner.options.output import OutputOptions


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `deps`."""

    iceberg: bool = flag("--iceberg", help="The Iceberg jar as well, for profiles with an Iceberg catalog.")
    sqlite: bool = flag("--sqlite", help="Iceberg and SQLite as well, for profiles with an embedded catalog.")
    kafka: bool = flag("--kafka", help="The Kafka connector as well, for projects with a stream of Kafka.")
    store: Literal["s3", "azure", "gcs"] | None = option(
        "--store", help="The connector of an object store as well, for profiles whose tables lie there."
    )
    archive: bool = flag("--archive", help="Also make the class-data archive, with which local Spark starts faster.")


@make("deps", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Fetch the jars of the table formats into the cache folder and verify their checksums."""
    from merge_runner.api import fetch_jars, make_archive
    from merge_runner.cli.display.messages import say

    notify = _silent if options.quiet else say
    iceberg, sqlite, kafka, store = options.iceberg, options.sqlite, options.kafka, options.store
    for path in fetch_jars(iceberg=iceberg, sqlite=sqlite, kafka=kafka, store=store, on_message=notify):
        click.echo(path)
    if options.archive:
        notify("making the class-data archive: this takes a minute")
        click.echo(make_archive(iceberg=iceberg, sqlite=sqlite, kafka=kafka, store=store))
    return 0


def _silent(_message: str) -> None:
    """Take the messages that --quiet leaves out."""
