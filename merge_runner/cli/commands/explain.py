"""`merge-runner explain`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import deferred, load_project, selected, with_default_selector
from merge_runner.options.declaration import flag, option
from merge_runner.options.project import Defer, FullRefresh, ProjectOptions, Selection

if TYPE_CHECKING:
    from merge_runner.plan.explain.explain import Explanation
    from merge_runner.plan.load.project_context import Prepared


@dataclass(frozen=True)
class PlanOptions(ProjectOptions):
    """How the plan is written, and who is asked."""

    output: Literal["text", "json"] = option("--output", default="text", help="How the plan is written.")
    spark: bool = flag("--spark", help="Ask Spark for its own plan of each merge, and the files it would read.")


@dataclass(frozen=True)
class Options(Selection, Defer, PlanOptions, FullRefresh):
    """The options of `explain`."""


@make("explain", Options)
def command(options: Options) -> int:
    """Show what `build` would do: levels, the models that run in parallel, and the steps of each.

    The exit status is 1 where --spark is given and Spark refuses a statement.
    """
    from merge_runner.cli.display.messages import concealed, fitted, terminal_columns
    from merge_runner.cli.display.problems import show_no_effect
    from merge_runner.columns import cut
    from merge_runner.engine.tables.first_run import built_in_warehouse
    from merge_runner.plan.explain.explain import explain

    project = load_project(options)
    ids = selected(project, with_default_selector(project, options))
    show_no_effect(project.graph, ids, options)
    prepared = deferred(project, ids, options.defer, options.state).prepared
    explanation = _on_spark(prepared, ids, options) if options.spark else explain(prepared, ids, built_in_warehouse)
    if options.output == "json":
        click.echo(json.dumps(prepared.concealed(explanation.as_json()), indent=2))
    else:
        columns = terminal_columns(sys.stdout)
        for line in map(concealed, explanation.lines()):
            # A node of Spark's plan may be thousands of characters long: it is cut.
            click.echo(cut(line, columns, "…") if columns and options.spark else fitted(line, columns))
    return 0 if explanation.ok else 1


def _on_spark(prepared: Prepared, ids: tuple[str, ...], options: Options) -> Explanation:
    from merge_runner.cli.display.display import JsonDisplay, TextDisplay
    from merge_runner.plan.explain.explain import explain
    from merge_runner.run.execution.driver_scope import starting_driver
    from merge_runner.run.explain import explain_on_spark
    from merge_runner.run.results.event_types import SparkStarting
    from merge_runner.run.results.events import Events

    quiet = options.quiet
    display = JsonDisplay(quiet) if options.log_format == "json" else TextDisplay(quiet, options.debug)
    events = Events(display)
    with starting_driver(prepared, events) as starting:
        if any(prepared.graph.nodes[node].materialized == "merge" for node in ids):
            events.emit(SparkStarting(master=prepared.files.profile.where))
            starting.launch()  # the JVM comes up while the project is looked at
        explanation = explain(prepared, ids)
        starting.proceed()
        return explain_on_spark(prepared, explanation, starting=starting)
