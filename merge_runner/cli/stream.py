"""What `merge-runner stream` does."""

from __future__ import annotations

from merge_runner.cli.display.problems import show_no_effect
from merge_runner.cli.loading import load_project, selected, with_default_selector
from merge_runner.cli.node_commands import display_for, exit_status
from merge_runner.options.kept import kept
from merge_runner.options.nodes import StreamOptions
from merge_runner.run.execution.driver_scope import starting_driver
from merge_runner.run.results.events import Events
from merge_runner.run.settings import RunSettings
from merge_runner.run.stream.stream import stream


def stream_command(options: StreamOptions) -> int:
    """Reads streams until they end; the exit status is 1 where a batch failed, or warned under --warn-error."""
    project = load_project(options)
    options = with_default_selector(project, options)
    ids = selected(project, options)
    show_no_effect(project.graph, ids, options)
    display = display_for(options)
    settings = RunSettings(threads=options.threads, available_now=options.available_now, args=kept(options))
    events = Events(display, observe=display.observe)
    try:
        with starting_driver(project.prepared, events) as starting:
            starting.launch()
            starting.proceed()
            results = stream(project.prepared, ids, settings, events, starting=starting)
    finally:
        display.close()
    return exit_status(results, options)
