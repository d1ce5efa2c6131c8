"""`merge-runner deps`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.options.declaration import flag, option
from merge_runner.options.output import OutputOptions


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `deps`."""

    project_dir: Path | None = option("--project-dir", path="folder", help="The folder of the project with packages.")
    packages: bool = flag("--packages", help="The packages of macros alone: no jars.")
    upgrade: bool = flag(
        "--upgrade", help="Fetch the revisions of packages.yml again, not the commits of packages.lock."
    )
    iceberg: bool = flag("--iceberg", help="The Iceberg jar as well, for profiles with an Iceberg catalog.")
    sqlite: bool = flag("--sqlite", help="Iceberg and SQLite as well, for profiles with an embedded catalog.")
    kafka: bool = flag("--kafka", help="The Kafka connector as well, for projects with a stream of Kafka.")
    store: Literal["s3", "azure", "gcs"] | None = option(
        "--store", help="The connector of an object store as well, for profiles whose tables lie there."
    )
    archive: bool = flag("--archive", help="An error: a build with MERGE_RUNNER_CDS=1 writes the class-data archive.")


@make("deps", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Install the packages of macros of packages.yml, and fetch the jars of the table formats into the cache folder.

    Both are verified by their checksums; packages are pinned in packages.lock.
    """
    from merge_runner.api import fetch_jars, install_packages
    from merge_runner.cli.display.messages import say

    if options.archive:
        message = "--archive is gone: the JVM of the first build writes the class-data archive when it ends."
        raise click.UsageError(f"{message} With MERGE_RUNNER_CDS=1 the build does so in CI, too, and waits for it.")
    notify = _silent if options.quiet else say
    root = options.project_dir or Path()
    for package in install_packages(root, upgrade=options.upgrade, on_message=notify):
        click.echo(f"{package.name} {package.commit or package.declared['local']}")
    if options.packages:
        return 0
    iceberg, sqlite, kafka, store = options.iceberg, options.sqlite, options.kafka, options.store
    for path in fetch_jars(iceberg=iceberg, sqlite=sqlite, kafka=kafka, store=store, on_message=notify):
        click.echo(path)
    return 0


def _silent(_message: str) -> None:
    """Take the messages that --quiet leaves out."""
