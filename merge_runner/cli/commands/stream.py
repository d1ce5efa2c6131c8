"""`merge-runner stream`."""

from __future__ import annotations

from merge_runner.cli.command import command as make
from merge_runner.cli.display.problems import show_no_effect
from merge_runner.cli.loading import load_project, selected, with_default_selector
from merge_runner.cli.node_commands import display_for, exit_status
from merge_runner.options.nodes import StreamOptions


@make("stream", StreamOptions)
def command(options: StreamOptions) -> int:
    """Read the streams that feed the selected models, batch by batch, and merge each batch into all of them.

    Ctrl-C ends it after the batch that runs. A batch that did not end well comes again with the next start, and changes
    no table twice.
    """
    project = load_project(options, secrets=True)
    options = with_default_selector(project, options)
    selection = selected(project, options)
    show_no_effect(project.graph, selection.ids, options)
    display = display_for(options, project.graph)
    try:
        results = project.invoke_stream(options, selection, on_event=display, on_driver=display.observe)
    finally:
        display.close()
    return exit_status(results, options)
