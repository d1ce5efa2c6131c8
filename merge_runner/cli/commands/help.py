"""`merge-runner help`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.completion import command_names
from merge_runner.cli.options import output_options_without


@click.command("help", cls=Command)
@click.argument("name", metavar="[COMMAND]", required=False, shell_complete=command_names)
@output_options_without("log_format", "quiet", "debug", "no_use_colors", "warn_error")
@click.pass_context
def command(ctx: click.Context, /, name: str | None, **_options: Any) -> int:
    """Show the help of merge-runner, or of a command."""
    outer = ctx.parent or ctx
    group = outer.command
    if name is None or not isinstance(group, click.Group):
        click.echo(outer.get_help())
        return 0
    _, found, _ = group.resolve_command(outer, [name])
    if found is not None:
        with found.context_class(found, info_name=name, parent=outer) as inner:
            click.echo(found.get_help(inner))
    return 0
