"""`merge-runner test`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.completion import model_names
from merge_runner.cli.options import (
    branch_option,
    defer_option,
    junit_option,
    output_options,
    project_options,
    running_options,
    selection_options,
)


@click.command("test", cls=Command)
@click.option(
    "--mutate",
    metavar="MODEL",
    shell_complete=model_names,
    help="Change the model's MERGE one piece at a time instead, and say which changes no unit test notices.",
)
@click.option(
    "--generate",
    metavar="MODEL",
    shell_complete=model_names,
    help="Write a first unit test of the model instead, from real rows of what it reads, to be edited.",
)
@selection_options
@defer_option
@running_options
@branch_option
@junit_option
@project_options
@output_options
def command(mutate: str | None, generate: str | None, **options: Any) -> int:
    """Run the data tests and the unit tests of the selected nodes."""
    if mutate is not None and generate is not None:
        raise click.UsageError("--mutate and --generate exclude each other.")
    if generate is not None:
        from merge_runner.cli.test.generate import generate_unit_test

        return generate_unit_test(generate, options)
    if mutate is not None:
        from merge_runner.cli.test.mutate import mutate_model

        return mutate_model(mutate, options)
    from merge_runner.cli.node_commands import run_command

    return run_command("test", options)
