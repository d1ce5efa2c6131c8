"""`merge-runner show`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import print_lines, table_columns
from merge_runner.cli.loading import load_project, selected
from merge_runner.cli.node_commands import display_for
from merge_runner.options.declaration import option
from merge_runner.options.project import ProjectOptions, Selection


@dataclass(frozen=True)
class ShowOptions(ProjectOptions):
    """What is shown, and how."""

    inline: str | None = option("--inline", metavar="SQL", help="A query to show instead, with Jinja.")
    limit: int = option("--limit", default=5, least=1, shows_default=True, help="The most rows of each.")
    output: Literal["table", "json"] = option("--output", default="table", help="How the rows are written.")


@dataclass(frozen=True)
class Options(Selection, ShowOptions):
    """The options of `show`."""


@make("show", Options)
def command(options: Options) -> int:
    """Show the first rows of models, seeds, sources and analyses, or of a query; nothing is written.

    A view, a table or an ephemeral model is shown as its query is now, whether or not it has been built; a merge model
    by the rows that each of its clauses would change, as they would be. Its hooks are not run.
    """
    if (options.inline is not None) is bool(options.select or options.selector):
        raise click.UsageError("give either --select, the nodes to show, or --inline, a query.")
    project = load_project(options, secrets=True)
    selection = () if options.inline is not None else selected(project, options)
    display = display_for(options, project.graph)
    try:
        previews = project.show(selection, inline=options.inline, limit=options.limit, on_event=display)
    finally:
        display.close()
    if options.output == "json":
        documents = project.prepared.concealed([preview.as_json() for preview in previews])
        click.echo(json.dumps(documents[0] if len(documents) == 1 else documents, indent=2))
        return 0
    for preview in previews:
        print_lines(preview.lines(table_columns()))
    return 0
