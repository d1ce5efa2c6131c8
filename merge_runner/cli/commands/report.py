"""`merge-runner report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from merge_runner.api.set_up import target_folder
from merge_runner.cli.browser import open_in_browser
from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import counted, say, show
from merge_runner.cli.loading import load_project, project_root
from merge_runner.cli.node_commands import display_for
from merge_runner.columns import printable
from merge_runner.options.declaration import flag, option
from merge_runner.options.project import ProjectOptions


@dataclass(frozen=True)
class Options(ProjectOptions):
    """The options of `report`."""

    output: Literal["html", "markdown"] = option(
        "--output", default="html", help="The page of all kept runs, or a summary of the last one on standard output."
    )
    report: Path | None = option("--report", path="file", help="The file of the page; default: target/run_report.html.")
    from_audit: bool = flag(
        "--from-audit", help="Take the last runs that the audit table of the profile has, too; this starts Spark."
    )
    open_page: bool = flag("--open", help="Open the page in a browser.")


@make("report", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Write the page of the runs that are kept: timelines, what each MERGE did, what has changed, each model's history.

    Every build keeps a record of itself in the target folder, the last 50 of them, and writes this page. The records
    are in the audit table, too, where the profile has one.
    """
    from merge_runner.api.pages import run_markdown, write_run_report

    if options.from_audit:
        _restore(options)
    target = target_folder(project_root(options.project_dir), options.target_path)
    if options.output == "markdown":
        click.echo(printable(run_markdown(target)), nl=False)
        return 0
    page = write_run_report(target, options.report)
    show(str(page))
    if options.open_page:
        open_in_browser(page.absolute().as_uri())
    return 0


def _restore(options: Options) -> None:
    project = load_project(options, secrets=True)
    display = display_for(options, project.graph)
    try:
        count = project.restore_runs(on_event=display)
    finally:
        display.close()
    if not options.quiet:
        say(f"{counted(count, 'run')} in the audit table")
