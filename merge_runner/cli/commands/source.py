"""`merge-runner source freshness`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import load_project, selected, with_default_selector
from merge_runner.cli.node_commands import display_for, exit_status
from merge_runner.options.declaration import argument, option
from merge_runner.options.project import Selection


@dataclass(frozen=True)
class Options(Selection):
    """The options of `source`."""

    what: Literal["freshness"] = argument(metavar="freshness")
    output: Path | None = option("-o", "--output", path="file", help="Default: target/sources.json.")
    threads: int | None = option("--threads", least=1, help="Sources to check in parallel; default: the profile's.")


@make("source", Options)
def command(options: Options) -> int:
    """Ask the sources how old their newest rows are, and hold that against their `freshness`.

    Sources that say nothing of it are left alone. The exit status is 1 where one is too old or cannot be asked.
    """
    project = load_project(options, secrets=True)
    selection = selected(project, with_default_selector(project, options))
    display = display_for(options, project.graph)
    try:
        results = project.source_freshness(selection, threads=options.threads, output=options.output, on_event=display)
    finally:
        display.close()
    return exit_status(results, options)
