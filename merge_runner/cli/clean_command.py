"""`merge-runner clean`."""

from __future__ import annotations

import shutil
from typing import Any

import click

from merge_runner.cli.options import project_options


@click.command("clean")
@project_options
def command(**options: Any) -> int:
    """Remove the folder of generated files; tables and data stay."""
    from pathlib import Path

    from merge_runner.cli.messages import say
    from merge_runner.errors import Problem, Problems, ProblemsError
    from merge_runner.project.load import find_root, read_settings

    root = find_root(options["project_dir"] or Path.cwd())
    target = (root / (options["target_path"] or read_settings(root, Problems()).target_path)).resolve()
    if target == root.resolve() or root.resolve() not in target.parents:
        hint = "target-path must be a folder inside the project to be removed"
        raise ProblemsError([Problem("clean-outside", f"{target} is not below {root}: nothing was removed", hint=hint)])
    if target.is_dir():
        shutil.rmtree(target)
        say(f"removed {target}")
    else:
        say("nothing to remove")
    return 0
