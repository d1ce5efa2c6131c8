"""`merge-runner init`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import say
from merge_runner.cli.loading import project_root
from merge_runner.options.declaration import argument, flag, option
from merge_runner.options.output import OutputOptions
from merge_runner.project.scaffold import PATTERNS, Pattern, scaffold, write_agents_file

_OWN = "none"


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `init`."""

    name: str | None = argument(metavar="[NAME]", required=False)
    pattern: Pattern | None = option("--pattern", help="The pattern that the project's MERGE is made by.")
    interactive: bool = flag("--interactive", help="Ask for what the command line does not name.")
    agents: bool = flag(
        "--agents", help="Also write AGENTS.md, by which agents work; without NAME: into the project that is here."
    )


@make("init", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Make a new project in the folder NAME: one seed, one view, one MERGE, and it builds."""
    name, pattern = options.name, options.pattern
    if options.agents and name is None and not options.interactive:
        click.echo(os.path.relpath(write_agents_file(project_root(None))))
        return 0
    if options.interactive:
        name = name or click.prompt("Name of the project", err=True)
        pattern = pattern or _ask_for_pattern()
    if name is None:
        raise click.UsageError("name the project: `merge-runner init shop`, or give --interactive.")
    for path in scaffold(Path(name), pattern):
        click.echo(path)
    if options.agents:
        click.echo(write_agents_file(Path(name)))
    if not options.quiet:
        say(f"\nnext: cd {name} && merge-runner build")
    return 0


def _ask_for_pattern() -> Pattern | None:
    """Ask for a pattern of merge_patterns; None: the project writes its MERGE itself."""
    choice = click.Choice([_OWN, *PATTERNS])
    answer = click.prompt("Pattern of its MERGE", type=choice, default=_OWN, err=True)
    return None if answer == _OWN else cast("Pattern", answer)
