"""`merge-runner test`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.completion import model_names
from merge_runner.cli.node_commands import chosen_nodes, run_nodes
from merge_runner.cli.unit_tests import generate_unit_test, mutate_model
from merge_runner.options.declaration import option
from merge_runner.options.nodes import Branch, Junit, NodeOptions, Reporting, Running
from merge_runner.options.project import Defer, Selection


@dataclass(frozen=True)
class Options(NodeOptions):
    """The options of `test`."""

    mutate: str | None = option(
        "--mutate",
        metavar="MODEL",
        complete=model_names,
        help="Change the model's MERGE one piece at a time instead, and say which changes no unit test notices.",
    )
    generate: str | None = option(
        "--generate",
        metavar="MODEL",
        complete=model_names,
        help="Write a first unit test of the model instead, from real rows of what it reads, to be edited.",
    )


@make("test", Options, offers=(Options, Selection, Defer, Running, Reporting, Branch, Junit))
def command(options: Options) -> int:
    """Run the data tests and the unit tests of the selected nodes."""
    if options.mutate is not None and options.generate is not None:
        raise click.UsageError("--mutate and --generate exclude each other.")
    if options.generate is not None:
        return generate_unit_test(options.generate, options)
    if options.mutate is not None:
        return mutate_model(options.mutate, options)

    return run_nodes("test", *chosen_nodes("test", options))
