"""`merge-runner init`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from merge_runner.cli.command import command as make
from merge_runner.options.declaration import argument, option
from merge_runner.options.output import OutputOptions
from merge_runner.project.scaffold import Pattern


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `init`."""

    name: str = argument()
    pattern: Pattern | None = option("--pattern", help="The pattern that the project's MERGE is made by.")


@make("init", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Make a new project in the folder NAME: one seed, one view, one MERGE, and it builds."""
    from merge_runner.cli.display.messages import say
    from merge_runner.project.scaffold import scaffold

    for path in scaffold(Path(options.name), options.pattern):
        click.echo(path)
    if not options.quiet:
        say(f"\nnext: cd {options.name} && merge-runner build")
    return 0
