"""`merge-runner ls`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import load_project, selected, with_default_selector
from merge_runner.options.declaration import option, several
from merge_runner.options.project import ProjectOptions, Selection


@dataclass(frozen=True)
class ListOptions(ProjectOptions):
    """Which nodes are listed, and how."""

    output: Literal["name", "path", "json", "levels", "dot"] = option(
        "--output", default="name", help="How nodes are written."
    )
    resource_type: tuple[Literal["model", "seed", "source", "test", "unit_test"], ...] = several(
        *("--resource-type", "--resource-types"), words=True, help="Only nodes of these types."
    )
    output_keys: tuple[str, ...] = several(
        "--output-keys", words=True, help="The keys of --output json; a node leaves out those that it does not have."
    )


@dataclass(frozen=True)
class Options(Selection, ListOptions):
    """The options of `ls`."""


@make("ls", Options)
def command(options: Options) -> int:
    """List the selected nodes."""
    from merge_runner.cli.display.messages import show
    from merge_runner.cli.display.problems import show_not_read
    from merge_runner.graph.output import output

    project = load_project(options)
    show_not_read(project.prepared.files.not_read, options)
    ids = selected(project, with_default_selector(project, options)).ids
    if options.resource_type:
        ids = tuple(node for node in ids if project.graph.nodes[node].resource_type in options.resource_type)
    for line in output(project.graph, ids, options.output, options.output_keys):
        show(line)
    return 0
