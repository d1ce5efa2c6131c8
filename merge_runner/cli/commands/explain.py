"""`merge-runner explain`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import concealed, fitted, terminal_columns
from merge_runner.cli.display.problems import show_no_effect
from merge_runner.cli.loading import check_defer, load_project, selected, with_default_selector
from merge_runner.cli.node_commands import display_for
from merge_runner.columns import cut, printable, printable_json
from merge_runner.options.declaration import flag, option
from merge_runner.options.project import Defer, FullRefresh, ProjectOptions, Selection


@dataclass(frozen=True)
class PlanOptions(ProjectOptions):
    """How the plan is written, and who is asked."""

    output: Literal["text", "table", "json"] = option(
        "--output",
        default="text",
        help="How the plan is written; `table` has a line for each node: whether it would run, and why.",
    )
    spark: bool = flag("--spark", help="Ask Spark for its own plan of each merge, and the files it would read.")


@dataclass(frozen=True)
class Options(Selection, Defer, PlanOptions, FullRefresh):
    """The options of `explain`."""


@make("explain", Options)
def command(options: Options) -> int:
    """Show what `build` would do: levels, the models that run in parallel, and the steps of each.

    The exit status is 1 where --spark is given and Spark refuses a statement.
    """
    project = load_project(options, secrets=options.spark)
    selection = selected(project, with_default_selector(project, options))
    show_no_effect(project.graph, selection.ids, options)
    state = check_defer(options, options.state)
    explanation = project.explain(
        selection,
        defer=options.defer,
        state=state,
        spark=options.spark,
        on_event=display_for(options, project.graph) if options.spark else None,
    )
    if options.output == "json":
        click.echo(printable_json(json.dumps(project.prepared.concealed(explanation.as_json()), indent=2)))
    else:
        columns = terminal_columns(sys.stdout)
        is_table = options.output == "table"
        for line in map(printable, map(concealed, explanation.table() if is_table else explanation.lines())):
            # A row is one line, and a node of Spark's plan may be thousands of characters long.
            is_cut = columns and (is_table or options.spark)
            click.echo(cut(line, columns, "…") if columns and is_cut else fitted(line, columns))
    return 0 if explanation.ok else 1
