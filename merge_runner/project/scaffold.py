"""Makes a new project from the starter files of this package."""

from __future__ import annotations

import re
from pathlib import Path

from merge_runner.atomic import write_atomic
from merge_runner.errors import Problem, ProblemsError
from merge_runner.json_schemas import write_copies

_STARTER = Path(__file__).parent / "starter"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


def scaffold(folder: Path) -> list[Path]:
    """Writes the starter project into a new or empty folder; its last part names the project. Gives the files.

    The first lines of its YAML and TOML files name the schemas that are written with them.

    Raises ProblemsError `bad-name` or `folder-not-empty`; nothing is overwritten.
    """
    name = folder.resolve().name
    if not _NAME.match(name):
        hint = "a project's name has letters, digits and underscores, and begins with a letter"
        raise ProblemsError([Problem("bad-name", f'"{name}" cannot name a project', hint=hint)])
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        hint = "name a new folder, or an empty one"
        raise ProblemsError([Problem("folder-not-empty", f"{folder} is there already and not empty", hint=hint)])
    written = []
    for source in sorted(_STARTER.rglob("*")):
        if source.is_file():
            # The starter's own name has no dot in front: packaging tools leave hidden files out.
            target = folder / str(source.relative_to(_STARTER)).replace("gitignore", ".gitignore")
            write_atomic(target, source.read_text(encoding="utf-8").replace("__project__", name))
            written.append(target)
    return [*written, *write_copies(folder, ("properties", "profiles", "pyproject"))]
