"""`merge-runner build`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import (
    batch_option,
    branch_option,
    defer_option,
    full_refresh_option,
    junit_option,
    lint_option,
    output_options,
    project_options,
    running_options,
    selection_options,
)


@click.command("build", cls=Command)
@lint_option
@selection_options
@defer_option
@running_options
@batch_option
@branch_option
@junit_option
@full_refresh_option
@project_options
@output_options
def command(**options: Any) -> int:
    """Lint, then run models, load seeds and run tests, in DAG order."""
    from merge_runner.cli.node_commands import run_command

    return run_command("build", options)
