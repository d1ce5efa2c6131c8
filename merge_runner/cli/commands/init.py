"""`merge-runner init`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import output_options_without


@click.command("init", cls=Command)
@click.argument("name")
@output_options_without("warn_error")
def command(name: str, quiet: bool, **_options: Any) -> int:
    """Make a new project in the folder NAME: one seed, one view, one MERGE, and it builds."""
    from merge_runner.cli.display.messages import say
    from merge_runner.project.scaffold import scaffold

    for path in scaffold(Path(name)):
        click.echo(path)
    if not quiet:
        say(f"\nnext: cd {name} && merge-runner build")
    return 0
