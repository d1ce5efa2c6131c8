"""`merge-runner compile`."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import counted, say, show
from merge_runner.cli.display.problems import show_no_effect
from merge_runner.cli.loading import check_defer, load_project, selected, with_default_selector
from merge_runner.graph.graph import AnalysisNode, ModelNode
from merge_runner.options.project import Defer, FullRefresh, Selection


@dataclass(frozen=True)
class Options(Selection, Defer, FullRefresh):
    """The options of `compile`."""


@make("compile", Options)
def command(options: Options) -> int:
    """Render the selected nodes to target/compiled; a single one is printed as well."""
    project = load_project(options)
    selection = selected(project, with_default_selector(project, options))
    show_no_effect(project.graph, selection.ids, options)
    state = check_defer(options, options.state)
    notify = (lambda _: None) if options.quiet else say
    texts = project.compile(selection, defer=options.defer, state=state, on_message=notify)
    nodes = project.graph.nodes
    models = [text for node, text in texts.items() if isinstance(nodes[node], ModelNode)]
    analyses = [text for node, text in texts.items() if isinstance(nodes[node], AnalysisNode)]
    if len(models or analyses) == 1 and options.select:
        show((models or analyses)[0], data=True)
    if not options.quiet:
        say(f"{counted(len(texts), 'node')} compiled to {project.prepared.target_path / 'compiled'}")
    return 0
