"""`merge-runner explain`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import (
    defer_option,
    deferred,
    full_refresh_option,
    load_project,
    output_options,
    project_options,
    selected,
    selection_options,
)

if TYPE_CHECKING:
    from merge_runner.plan.explain.explain import Explanation
    from merge_runner.plan.load.project_context import Prepared


@click.command("explain", cls=Command)
@selection_options
@defer_option
@click.option("--output", type=click.Choice(["text", "json"]), default="text", help="How the plan is written.")
@click.option("--spark", is_flag=True, help="Ask Spark for its own plan of each merge, and the files it would read.")
@full_refresh_option
@project_options
@output_options
def command(**options: Any) -> int:
    """Show what `build` would do: levels, the models that run in parallel, and the steps of each.

    The exit status is 1 where --spark is given and Spark refuses a statement.
    """
    from merge_runner.cli.display.messages import concealed, fitted, terminal_columns
    from merge_runner.cli.display.problems import show_no_effect
    from merge_runner.columns import cut
    from merge_runner.engine.tables.first_run import built_in_warehouse
    from merge_runner.plan.explain.explain import explain

    project = load_project(options)
    ids = selected(project, options)
    show_no_effect(project.graph, ids, options)
    prepared = deferred(project, ids, options).prepared
    explanation = _on_spark(prepared, ids, options) if options["spark"] else explain(prepared, ids, built_in_warehouse)
    if options["output"] == "json":
        click.echo(json.dumps(prepared.concealed(explanation.as_json()), indent=2))
    else:
        columns = terminal_columns(sys.stdout)
        for line in map(concealed, explanation.lines()):
            # A node of Spark's plan may be thousands of characters long: it is cut.
            click.echo(cut(line, columns, "…") if columns and options["spark"] else fitted(line, columns))
    return 0 if explanation.ok else 1


def _on_spark(prepared: Prepared, ids: tuple[str, ...], options: dict[str, Any]) -> Explanation:
    from merge_runner.cli.display.display import JsonDisplay, TextDisplay
    from merge_runner.plan.explain.explain import explain
    from merge_runner.run.execution.driver_scope import starting_driver
    from merge_runner.run.explain import explain_on_spark
    from merge_runner.run.results.events import Events

    quiet = options["quiet"]
    display = JsonDisplay(quiet) if options["log_format"] == "json" else TextDisplay(quiet, options["debug"])
    events = Events(display)
    with starting_driver(prepared, events) as starting:
        if any(prepared.graph.nodes[node].config.get("materialized") == "merge" for node in ids):
            events.emit("spark_starting", master=prepared.files.profile.where)
            starting.launch()  # the JVM comes up while the project is looked at
        explanation = explain(prepared, ids)
        starting.proceed()
        return explain_on_spark(prepared, explanation, starting=starting)
