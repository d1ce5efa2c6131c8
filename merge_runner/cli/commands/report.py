"""`merge-runner report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import project_root
from merge_runner.options.declaration import flag, option
from merge_runner.options.project import FolderOptions


@dataclass(frozen=True)
class Options(FolderOptions):
    """The options of `report`."""

    output: Literal["html", "markdown"] = option(
        "--output", default="html", help="The page of all kept runs, or a summary of the last one on standard output."
    )
    report: Path | None = option("--report", path="file", help="The file of the page; default: target/run_report.html.")
    open_page: bool = flag("--open", help="Open the page in a browser.")


@make("report", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Write the page of the runs that are kept: timelines, what each MERGE did, what has changed, each model's history.

    Every build keeps a record of itself in the target folder, the last 50 of them, and writes this page.
    """
    from merge_runner.api.pages import run_markdown, write_run_report
    from merge_runner.api.set_up import target_folder

    target = target_folder(project_root(options.project_dir), options.target_path)
    if options.output == "markdown":
        click.echo(run_markdown(target), nl=False)
        return 0
    page = write_run_report(target, options.report)
    click.echo(str(page))
    if options.open_page:
        click.launch(page.absolute().as_uri())
    return 0
