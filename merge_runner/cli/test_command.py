"""`merge-runner test`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.options import (
    branch_option,
    defer_option,
    junit_option,
    output_options,
    project_options,
    running_options,
    selection_options,
)


@click.command("test")
@selection_options
@defer_option
@running_options
@branch_option
@junit_option
@project_options
@output_options
def command(**options: Any) -> int:
    """Run the data tests and the unit tests of the selected nodes."""
    from merge_runner.cli.running import run_command

    return run_command("test", options)
