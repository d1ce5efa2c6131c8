"""`merge-runner run`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import (
    batch_option,
    branch_option,
    defer_option,
    full_refresh_option,
    output_options,
    project_options,
    running_options,
    selection_options,
)


@click.command("run", cls=Command)
@selection_options
@defer_option
@running_options
@batch_option
@branch_option
@full_refresh_option
@project_options
@output_options
def command(**options: Any) -> int:
    """Run the models, in DAG order."""
    from merge_runner.cli.node_commands import run_command

    return run_command("run", options)
