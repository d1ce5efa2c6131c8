"""`merge-runner test --generate`: a first unit test."""

from __future__ import annotations

import os

from merge_runner.cli.display.messages import say, show
from merge_runner.cli.loading import load_project
from merge_runner.cli.node_commands import display_for
from merge_runner.engine.spark.errors import EngineError
from merge_runner.options.nodes import NodeOptions


def generate_unit_test(name: str, options: NodeOptions) -> int:
    """Write a unit test of a model next to it, and print the file's path; return 1 where its inputs cannot be read."""
    project = load_project(options)
    display = display_for(options)
    try:
        path = project.generate_unit_test(name, on_event=display)
    except EngineError as error:
        say(f"error: {error}", "error")
        return 1
    finally:
        display.close()
    show(os.path.relpath(path))
    say("its rows are real ones: edit them before you commit the file")
    return 0
