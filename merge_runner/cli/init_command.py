"""`merge-runner init`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("init")
@click.argument("name")
def command(name: str) -> int:
    """Make a new project in the folder NAME: one seed, one view, one MERGE, and it builds."""
    from merge_runner.cli.messages import say
    from merge_runner.project.scaffold import scaffold

    for path in scaffold(Path(name)):
        click.echo(path)
    say(f"\nnext: cd {name} && merge-runner build")
    return 0
