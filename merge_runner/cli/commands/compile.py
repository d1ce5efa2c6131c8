"""`merge-runner compile`."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import deferred, load_project, selected, with_default_selector
from merge_runner.options.project import Defer, FullRefresh, Selection


@dataclass(frozen=True)
class Options(Selection, Defer, FullRefresh):
    """The options of `compile`."""


@make("compile", Options)
def command(options: Options) -> int:
    """Render the selected nodes to target/compiled; a single one is printed as well."""
    from merge_runner.cli.display.messages import counted, say, show
    from merge_runner.cli.display.problems import show_no_effect
    from merge_runner.graph.graph import ModelNode
    from merge_runner.run.results.artifacts import compile_nodes

    project = load_project(options)
    ids = selected(project, with_default_selector(project, options))
    show_no_effect(project.graph, ids, options)
    project = deferred(project, ids, options.defer, options.state)
    texts = compile_nodes(project.prepared, ids, str(uuid.uuid4()), (lambda _: None) if options.quiet else say)
    models = {node: text for node, text in texts.items() if isinstance(project.graph.nodes[node], ModelNode)}
    if len(models) == 1 and options.select:
        show(next(iter(models.values())))
    if not options.quiet:
        say(f"{counted(len(texts), 'node')} compiled to {project.prepared.target_path / 'compiled'}")
    return 0
