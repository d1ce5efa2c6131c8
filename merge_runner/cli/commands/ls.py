"""`merge-runner ls`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.multi_word_option import Names
from merge_runner.cli.options import load_project, output_options, project_options, selected, selection_options

_OUTPUTS = ("name", "path", "json", "levels", "dot")
_TYPES = ("model", "seed", "source", "test", "unit_test")


@click.command("ls", cls=Command)
@selection_options
@click.option("--output", type=click.Choice(_OUTPUTS), default="name", help="How nodes are written.")
@click.option(
    "--resource-type",
    "--resource-types",
    cls=Names,
    type=click.Choice(_TYPES),
    multiple=True,
    help="Only nodes of these types.",
)
@project_options
@output_options
def command(**options: Any) -> int:
    """List the selected nodes."""
    from merge_runner.cli.display.messages import show
    from merge_runner.cli.display.problems import show_not_read
    from merge_runner.graph.output import output

    project = load_project(options)
    show_not_read(project.prepared.files, options)
    ids = selected(project, options)
    if options["resource_type"]:
        ids = tuple(node for node in ids if project.graph.nodes[node].resource_type in options["resource_type"])
    for line in output(project.graph, ids, options["output"]):
        show(line)
    return 0
