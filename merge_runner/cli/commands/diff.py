"""`merge-runner diff`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import print_lines, say, table_columns
from merge_runner.cli.loading import load_project, selected, with_default_selector
from merge_runner.cli.node_commands import display_for
from merge_runner.options.declaration import flag, option, several
from merge_runner.options.project import ProjectOptions, Selection
from merge_runner.project.syntax.point_in_time import read_time
from merge_runner.run.diff.other_state import OtherStateError


def _names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the names in words, which may be several by commas."""
    return tuple(name.strip() for word in words for name in word.split(",") if name.strip())


@dataclass(frozen=True)
class DiffOptions(ProjectOptions):
    """What is compared, and how."""

    against: str | None = option("--against", metavar="TARGET", help="Compare with this output of the profile.")
    version: int | None = option(
        "--version", metavar="N", least=0, help="Compare with this version, or Iceberg snapshot."
    )
    timestamp: datetime | None = option(
        "--timestamp", metavar="TIME", parse=read_time, help="Compare with the table as it was then; UTC."
    )
    branch: str | None = option("--branch", metavar="NAME", help="Compare with this branch of Iceberg tables.")
    rebuild: bool = flag("--rebuild", help="Compare with what the model gives where it is built from nothing.")
    key: tuple[str, ...] = several(
        "--key", metavar="COLUMNS", words=True, help="What identifies a row; default: unique_key, else the keys of ON."
    )
    where: str | None = option("--where", metavar="SQL", help="Compare the rows that this condition is true of.")
    limit: int = option("--limit", default=5, least=0, shows_default=True, help="The most examples of each kind.")
    tolerance: float = option(
        "--tolerance", default=0.0, least=0, help="The largest difference of equal floats and doubles."
    )
    exclude_columns: tuple[str, ...] = several(
        "--exclude-columns", metavar="COLUMNS", words=True, help="Columns to leave out."
    )
    output: Literal["table", "json", "markdown"] = option(
        "--output", default="table", help="How the result is written."
    )


@dataclass(frozen=True)
class Options(Selection, DiffOptions):
    """The options of `diff`."""


@make("diff", Options)
def command(options: Options) -> int:
    """Compare the tables of models with another state of them, row by row; nothing of them is written.

    The other state is that of another target, the one that the manifest.json of --state names, an earlier version, a
    branch, or a rebuild. The exit status is 1 where a table is different, 2 where one could not be compared.
    """
    project = load_project(options, secrets=True)
    selection = selected(project, with_default_selector(project, options))
    display = display_for(options, project.graph)
    try:
        report = project.diff(
            selection,
            against=options.against,
            state=options.state,
            version=options.version,
            timestamp=options.timestamp,
            branch=options.branch,
            rebuild=options.rebuild,
            key=_names(options.key),
            where=options.where,
            limit=options.limit,
            tolerance=options.tolerance,
            exclude_columns=_names(options.exclude_columns),
            on_event=display,
        )
    except OtherStateError as error:
        raise click.UsageError(
            "give one of --against, --version, --timestamp, --branch and --rebuild, or --state alone."
        ) from error
    finally:
        display.close()
    if options.output == "json":
        click.echo(json.dumps(project.prepared.concealed(report.as_json()), indent=2))
    else:
        print_lines(report.markdown() if options.output == "markdown" else report.lines(table_columns()))
    if not report.models:
        say("none of the selected nodes has a table that could be compared", "warn")
    return report.exit_status
