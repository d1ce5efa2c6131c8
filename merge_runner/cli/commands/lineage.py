"""`merge-runner lineage`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.completion import model_names
from merge_runner.cli.display.messages import show, show_text
from merge_runner.cli.loading import load_project
from merge_runner.columns import printable_json
from merge_runner.options.declaration import argument, flag, option
from merge_runner.options.project import ProjectOptions


@dataclass(frozen=True)
class Options(ProjectOptions):
    """The options of `lineage`."""

    name: str | None = argument(metavar="[MODEL[.COLUMN]]", required=False, complete=model_names)
    output: Literal["text", "json", "dot"] = option("--output", default="text", help="How lineage is written.")
    direction: Literal["up", "down", "both"] = option(
        "--direction", default="both", help="Where columns come from (up), where they go to (down), or both."
    )
    direct: bool = flag("--direct", help="Only what values are made of, without what decides about them.")


@make("lineage", Options)
def command(options: Options) -> int:
    """Show which columns each column comes from, through MERGE, and which depend on it.

    MODEL may be a seed or a table of a source, too. Without it, the columns of all models are listed. The exit status
    is 1 where a model that the answer needs cannot be read.
    """
    project = load_project(options)
    lineage = project.lineage(options.name, direction=options.direction, direct=options.direct)
    if options.output == "json":
        click.echo(printable_json(json.dumps(project.prepared.concealed(lineage.as_json()), indent=2)))
    else:
        for line in lineage.dot() if options.output == "dot" else lineage.lines():
            show(line) if options.output == "dot" else show_text(line)
    return 0 if lineage.ok else 1
