"""`merge-runner compile`."""

from __future__ import annotations

import uuid
from typing import Any

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


@click.command("compile", cls=Command)
@selection_options
@defer_option
@full_refresh_option
@project_options
@output_options
def command(**options: Any) -> int:
    """Render the selected nodes to target/compiled; a single one is printed as well."""
    from merge_runner.cli.display.messages import counted, say, show
    from merge_runner.cli.display.problems import show_no_effect
    from merge_runner.run.results.artifacts import compile_nodes

    project = load_project(options)
    ids = selected(project, options)
    show_no_effect(project.graph, ids, options)
    project = deferred(project, ids, options)
    texts = compile_nodes(project.prepared, ids, str(uuid.uuid4()), (lambda _: None) if options["quiet"] else say)
    models = {node: text for node, text in texts.items() if project.graph.nodes[node].resource_type == "model"}
    if len(models) == 1 and options["select"]:
        show(next(iter(models.values())))
    if not options["quiet"]:
        say(f"{counted(len(texts), 'node')} compiled to {project.prepared.target_path / 'compiled'}")
    return 0
