"""`merge-runner diff`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import print_lines, say, shown_text, table_columns
from merge_runner.cli.loading import load_project, selected, with_default_selector
from merge_runner.cli.node_commands import display_for
from merge_runner.graph.selection.selection import Selection
from merge_runner.options.declaration import flag, option, several
from merge_runner.options.project import ProjectOptions
from merge_runner.options.project import Selection as SelectionOptions
from merge_runner.project.syntax.point_in_time import read_time
from merge_runner.run.diff.other_state import OtherStateError

if TYPE_CHECKING:
    from merge_runner.api.project import Project
    from merge_runner.comparison.report import DiffReport


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
    pr: Path | None = option(
        "--pr",
        path="folder",
        help="Write the comment of a pull request: what differs from the project in this folder, its base. Rows are "
        "compared where another state is named, too.",
    )


@dataclass(frozen=True)
class Options(SelectionOptions, DiffOptions):
    """The options of `diff`."""


@make("diff", Options)
def command(options: Options) -> int:
    """Compare the tables of models with another state of them, row by row; nothing of them is written.

    The other state is that of another target, the one that the manifest.json of --state names, an earlier version, a
    branch, or a rebuild. The exit status is 1 where a table is different, 2 where one could not be compared.

    With --pr it is the comment of a pull request that is written: of each model that the branch changes the verdict,
    the columns that it reaches, new findings of lint, and rows where another state is named.
    """
    if options.pr is not None:
        return _write_comment(options.pr, options)
    project = load_project(options, secrets=True)
    report = _compared(project, selected(project, with_default_selector(project, options)), options)
    if options.output == "json":
        click.echo(json.dumps(project.prepared.concealed(report.as_json()), indent=2))
    else:
        print_lines(report.markdown() if options.output == "markdown" else report.lines(table_columns()))
    if not report.models:
        say("none of the selected nodes has a table that could be compared", "warn")
    return report.exit_status


def _write_comment(base: Path, options: Options) -> int:
    """Print the comment of a pull request; the exit status is that of the comparison of rows, 0 without one."""
    from merge_runner.comparison.report import FailedComparison
    from merge_runner.run.diff.comment import comment

    if options.output == "json":
        raise click.UsageError("--pr writes Markdown: leave out --output json.")
    compares_rows = options.rebuild or any(getattr(options, name) is not None for name in _OTHER_STATES)
    project = load_project(options, secrets=compares_rows)
    selection = selected(project, with_default_selector(project, options))
    changes = project.branch_changes(base, selection)
    report = _compared(project, Selection(changes.compared), options) if compares_rows else None
    for model in report.models if report is not None else ():
        if isinstance(model, FailedComparison):
            say(f"{model.model}: not compared: {model.message}", "warn")
    click.echo(comment(changes, report, shown_text), nl=False)
    return report.exit_status if report is not None else 0


_OTHER_STATES = ("against", "state", "version", "timestamp", "branch")
"""The options whose value names what rows are compared with."""


def _compared(project: Project, selection: Selection, options: Options) -> DiffReport:
    """Compare the tables of the selected nodes as the options say. Raises UsageError and ProblemsError."""
    display = display_for(options, project.graph)
    try:
        return project.diff(
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
