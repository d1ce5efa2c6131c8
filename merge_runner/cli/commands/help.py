"""`merge-runner help`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.completion import command_names
from merge_runner.options.declaration import argument
from merge_runner.options.output import ALL_OUTPUT, OutputOptions


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `help`."""

    name: str | None = argument(metavar="[COMMAND]", required=False, complete=command_names)


@make("help", Options, ignores=ALL_OUTPUT)
def command(options: Options) -> int:
    """Show the help of merge-runner, or of a command."""
    name = options.name
    ctx = click.get_current_context()
    outer = ctx.parent or ctx
    group = outer.command
    if name is None or not isinstance(group, click.Group):
        click.echo(outer.get_help())
        return 0
    _, subcommand, _ = group.resolve_command(outer, [name])
    if subcommand is not None:
        with subcommand.context_class(subcommand, info_name=name, parent=outer) as inner:
            click.echo(subcommand.get_help(inner))
    return 0
