"""`merge-runner test --generate`: a first unit test."""

from __future__ import annotations

import os

from merge_runner.cli.display.messages import say, show
from merge_runner.cli.loading import load_project
from merge_runner.cli.node_commands import display_for
from merge_runner.engine.spark.errors import EngineError
from merge_runner.graph.named_model import named_model
from merge_runner.options.nodes import NodeOptions
from merge_runner.run.execution.driver_scope import starting_driver
from merge_runner.run.model_tests.generate import write_first_unit_test
from merge_runner.run.results.events import Events


def generate_unit_test(name: str, options: NodeOptions) -> int:
    """Write a unit test of a model next to it, and print the file's path; return 1 where its inputs cannot be read."""
    project = load_project(options)
    model = named_model(project.prepared.graph, name)
    display = display_for(options)
    events = Events(display)
    try:
        with starting_driver(project.prepared, events) as starting:
            starting.launch()
            path = write_first_unit_test(project.prepared, model, events, starting=starting)
    except EngineError as error:
        say(f"error: {error}", "error")
        return 1
    finally:
        display.close()
    show(os.path.relpath(path))
    say("its rows are real ones: edit them before you commit the file")
    return 0
