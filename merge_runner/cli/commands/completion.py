"""`merge-runner completion`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click
from click.shell_completion import get_completion_class

from merge_runner.cli.command import command as make
from merge_runner.cli.completion import PROGRAM, VARIABLE
from merge_runner.options.declaration import argument
from merge_runner.options.output import ALL_OUTPUT, OutputOptions


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `completion`."""

    shell: Literal["bash", "zsh", "fish"] = argument()


@make("completion", Options, ignores=ALL_OUTPUT)
def command(options: Options) -> int:
    """Print what makes a shell complete commands, options, models and targets with TAB.

    In bash, `eval "$(merge-runner completion bash)"` in ~/.bashrc; in zsh, `eval "$(merge-runner completion zsh)"` in
    ~/.zshrc; in fish, `merge-runner completion fish | source` in ~/.config/fish/config.fish. bash needs 4.4 or newer.
    """
    completion_class = get_completion_class(options.shell)
    if completion_class is not None:
        ctx = click.get_current_context()
        group = (ctx.parent or ctx).command
        # Not source(): it runs the bash on PATH to read its version, and another shell may load this.
        click.echo(completion_class.source_template % completion_class(group, {}, PROGRAM, VARIABLE).source_vars())
        if options.shell == "bash":
            # `tag:daily` is one word of a selection, and bash would take three.
            click.echo("COMP_WORDBREAKS=${COMP_WORDBREAKS//:/}")
    return 0
