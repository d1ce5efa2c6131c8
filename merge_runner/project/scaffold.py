"""Makes a new project from the starter files of this package."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from merge_runner.atomic import write_atomic
from merge_runner.errors import Problem, ProblemsError
from merge_runner.json_schemas import write_copies

_STARTERS = Path(__file__).parent / "starters"
_COMMON = "common"
"""What all projects have; the other folders have the models and seeds of one starter, and its vars."""
_VARS = "vars.toml"
_AGENTS = "AGENTS.md"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")

Pattern = Literal[
    "upsert",
    "scd1",
    "scd2",
    "cdc",
    "soft_delete",
    "insert_only",
    "snapshot_partition",
    "late_facts",
    "accumulating_snapshot",
    "history_by_source",
    "gdpr_delete",
]
"""A pattern of merge_patterns: the starter of this name has a model that calls it."""
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)


def scaffold(folder: Path, pattern: Pattern | None = None) -> list[Path]:
    """Writes the starter project into a new or empty folder; its last part names the project. Gives the files.

    `pattern`: its model calls this one of merge_patterns; None: it writes its MERGE itself. The first lines of its YAML
    and TOML files name the schemas that are written with them.

    Raises ProblemsError `bad-name` or `folder-not-empty`; nothing is overwritten.
    """
    name = folder.resolve().name
    if not _NAME.match(name):
        hint = "a project's name has letters, digits and underscores, and begins with a letter"
        raise ProblemsError([Problem("bad-name", f'"{name}" cannot name a project', hint=hint)])
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        hint = "name a new folder, or an empty one"
        raise ProblemsError([Problem("folder-not-empty", f"{folder} is there already and not empty", hint=hint)])
    paths = []
    for path, text in _starter_files(pattern):
        write_atomic(folder / path, text.replace("__project__", name))
        paths.append(folder / path)
    return [*paths, *write_copies(folder, ("properties", "profiles", "pyproject"))]


def write_agents_file(folder: Path) -> Path:
    """Write AGENTS.md into the folder of a project: how agents work in it. Return its path.

    Raises ProblemsError `file-exists` where it is there already: it stays as it is.
    """
    path = folder / _AGENTS
    if os.path.lexists(path):
        hint = "move it away, run this again, and take over what you need"
        raise ProblemsError([Problem("file-exists", f"{path} is there already, and stays as it is", hint=hint)])
    write_atomic(path, (_STARTERS / _AGENTS).read_text(encoding="utf-8"))
    return path


def _starter_files(pattern: Pattern | None) -> Iterator[tuple[str, str]]:
    own = _STARTERS / (pattern or "orders")
    for folder in (_STARTERS / _COMMON, own):
        for source in sorted(folder.rglob("*")):
            path = source.relative_to(folder).as_posix()
            if not source.is_file() or path == _VARS:
                continue
            text = source.read_text(encoding="utf-8")
            if path == "pyproject.toml" and (own / _VARS).exists():
                text += f"\n[tool.merge-runner.vars]\n{(own / _VARS).read_text(encoding='utf-8')}"
            # The starter's own name has no dot in front: packaging tools leave hidden files out.
            yield path.replace("gitignore", ".gitignore"), text
