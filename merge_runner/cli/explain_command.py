"""`merge-runner explain`."""

from __future__ import annotations

import json
from typing import Any

import click

from merge_runner.cli.options import (
    defer_option,
    deferred,
    load_project,
    output_options,
    project_options,
    selected,
    selection_options,
)


@click.command("explain")
@selection_options
@defer_option
@click.option("--output", type=click.Choice(["text", "json"]), default="text", help="How the plan is written.")
@project_options
@output_options
def command(**options: Any) -> int:
    """Tell what `build` would do: levels, the models that run side by side, and the steps of each."""
    from merge_runner.plan.explain import explain

    project = load_project(options)
    ids = selected(project, options)
    explanation = explain(deferred(project, ids, options).prepared, ids)
    if options["output"] == "json":
        click.echo(json.dumps(explanation.as_json(), indent=2))
    else:
        for line in explanation.lines():
            click.echo(line)
    return 0
