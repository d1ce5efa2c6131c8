"""`merge-runner debug`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from merge_runner.api import debug
from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import show_text, styled
from merge_runner.cli.display.problems import ShownMessages, show_problems
from merge_runner.cli.loading import project_of
from merge_runner.options.declaration import flag, option
from merge_runner.options.project import ProjectOptions


@dataclass(frozen=True)
class Options(ProjectOptions):
    """The options of `debug`."""

    spark: bool = flag("--spark", help="Start Spark as well, and run a query on it.")
    write_catalog: str | None = option(
        "--write-catalog",
        bare="",
        metavar="[FILE]",
        help="Record how the project's tables are laid out, for lint; default: catalog.yml in the project.",
    )
    cluster: bool = flag(
        "--cluster",
        help="An error: the guide to Kubernetes and YARN has the commands and the job that submit a project.",
    )


@make("debug", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Check the set-up: versions, Java, jars, project, profile, the Spark that starts, and with --spark a session."""
    if options.cluster:
        message = "--cluster is gone: what submits a project is a command or a job spec that you write."
        raise click.UsageError(
            f"{message} They are in the guide to Kubernetes and YARN, docs/guides/run-on-a-cluster.md."
        )
    status = 0
    catalog = options.write_catalog
    for check in debug(
        lambda: project_of(options, secrets=options.spark or catalog is not None),
        spark=options.spark,
        write_catalog=None if catalog is None else catalog or True,
        messages=ShownMessages(options),
    ):
        if check.ok:
            show_text(f"{check.name:<9} {styled('OK', fg='green')}  {check.text}", hanging=14)
        else:
            click.echo(f"{check.name:<9} {styled('ERROR', fg='red')}")
            show_problems(check.problems)
            status = 2
    return status
