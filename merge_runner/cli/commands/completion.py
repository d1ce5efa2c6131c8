"""`merge-runner completion`."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import get_completion_class

from merge_runner.cli.command import Command
from merge_runner.cli.completion import PROGRAM, VARIABLE
from merge_runner.cli.options import output_options_without

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(_SHELLS))
@output_options_without("log_format", "quiet", "debug", "no_use_colors", "warn_error")
@click.pass_context
def command(ctx: click.Context, /, shell: str, **_options: Any) -> int:
    """Print what makes a shell complete commands, options, models and targets with TAB.

    In bash, `eval "$(merge-runner completion bash)"` in ~/.bashrc; in zsh, `eval "$(merge-runner completion zsh)"` in
    ~/.zshrc; in fish, `merge-runner completion fish | source` in ~/.config/fish/config.fish. bash needs 4.4 or newer.
    """
    found = get_completion_class(shell)
    if found is not None:
        group = (ctx.parent or ctx).command
        # Not source(): it runs the bash on PATH to read its version, and another shell may load this.
        click.echo(found.source_template % found(group, {}, PROGRAM, VARIABLE).source_vars())
        if shell == "bash":
            # `tag:daily` is one word of a selection, and bash would take three.
            click.echo("COMP_WORDBREAKS=${COMP_WORDBREAKS//:/}")
    return 0
