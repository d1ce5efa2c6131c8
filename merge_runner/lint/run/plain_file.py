"""A file outside of a project, or the file of a dbt model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from merge_runner.errors import Problem, Problems
from merge_runner.lint.containers.registry import SUFFIXES, may_hold_merge
from merge_runner.lint.dbt.model import DbtModel
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project_file import Boundary
from merge_runner.text import SourceText


@dataclass(frozen=True)
class PlainFile:
    """A file as it is to be shown (`path`), and its text; None where it could not be read, and `problem` says why.

    `model` is the dbt model that the file is of. `boundary` is what the file has to be inside of.
    """

    path: str
    file: Path
    source: SourceText | None
    problem: Problem | None = None
    model: DbtModel | None = None
    boundary: Boundary | None = None


def with_text(file: PlainFile, text: str) -> PlainFile:
    """Return a file as if `text` was written in it."""
    source = SourceText(file.path, text)
    if file.model is None:
        return replace(file, source=source, problem=None)
    return replace(file, source=source, model=replace(file.model, config=replace(file.model.config, source=source)))


def sql_files(folder: Path) -> list[Path]:
    """Return all .sql files below a folder, hidden ones left out."""
    inside = (file for file in sorted(folder.rglob("*.sql")) if not _is_hidden(file.relative_to(folder)))
    return [file for file in inside if not file.is_dir()]


def files_below(folder: Path) -> Iterator[Path]:
    """Give the files below a folder that can hold a MERGE, but for those of tools and of installed packages.

    Synapse keeps its notebooks as JSON in a folder of the name `notebook`.
    """
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LEFT_OUT and not name.startswith(".")]
        for name in names:
            may_hold = name.endswith(SUFFIXES) or (name.endswith(".json") and Path(place).name == "notebook")
            if may_hold and not name.startswith("."):
                yield Path(place, name)


def holds_no_sql(file: str) -> bool:
    """Return whether the name of a file says that it holds something else than SQL or code."""
    return file.lower().endswith((".yml", ".yaml", ".toml", ".json", ".csv", ".md"))


def is_data_without_merge(file: PlainFile) -> bool:
    """Return whether a file is one of data or documentation by its name, and holds no MERGE that is to be spoken of."""
    if not holds_no_sql(file.path):
        return False
    return file.source is None or file.path.lower().endswith((".csv", ".md")) or not may_hold_merge(file.source)


def read_plain(file: Path, path: str, boundary: Boundary | None) -> PlainFile:
    """Return a file with its text, shown as `path`. It is inside of the boundary; None: the user has named it."""
    problems = Problems()
    source = read_text(file, path, problems, boundary)
    return PlainFile(path, file, source, next(iter(problems), None), boundary=boundary)


def display_path(file: Path, root: Path) -> str:
    """Return the path of a file relative to `root`; as a whole where it is elsewhere."""
    absolute = Path(os.path.abspath(file))  # noqa: PTH100 -- `..` ends, links stay
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else absolute.as_posix()


_LEFT_OUT = frozenset({"venv", "node_modules", "target", "site-packages", "__pycache__"})


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
