"""`merge-runner build`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.options import (
    batch_option,
    branch_option,
    defer_option,
    junit_option,
    output_options,
    project_options,
    running_options,
    selection_options,
)


@click.command("build")
@click.option("--no-lint", is_flag=True, help="Do not lint first; errors of lint stop a build.")
@selection_options
@defer_option
@running_options
@batch_option
@branch_option
@junit_option
@project_options
@output_options
def command(**options: Any) -> int:
    """Lint, then run models, load seeds and run tests, in DAG order."""
    from merge_runner.cli.running import run_command

    return run_command("build", options)
