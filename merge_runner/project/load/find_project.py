"""Finds the folder of a project, or of settings of lint, and reads what pyproject.toml says there."""

from __future__ import annotations

import os
from pathlib import Path

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.project.schema.settings import (
    LintSettings,
    Settings,
    has_settings,
    lint_settings,
    settings,
    settings_kind,
)
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.toml_tree import TomlTree
from merge_runner.project_file import Boundary
from merge_runner.text import SourceText

PYPROJECT = "pyproject.toml"


def find_root(start: Path, *, upwards: bool = True) -> Path:
    """The folder of the project that holds `start`: the nearest one whose pyproject.toml has [tool.merge-runner].

    Without `upwards` it is `start` itself. Raises ProblemsError where there is none, or where a nearer pyproject.toml
    cannot be read.
    """
    start = start.absolute()
    for folder in (start, *start.parents) if upwards else (start,):
        source = _pyproject(folder)
        if source is not None and has_settings(source):
            return folder
    if not upwards:
        raise _no_project(f"{start} is not a merge-runner project" if start.is_dir() else f"there is no folder {start}")
    raise _no_project(f"neither {start} nor a folder above it is a merge-runner project")


def find_lint_root(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, whose pyproject.toml has [tool.merge-runner.lint] alone.

    None where there is none, or where a project is nearer. Raises ProblemsError where a nearer pyproject.toml cannot
    be read.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        source = _pyproject(folder)
        if source is not None and (kind := settings_kind(source)) is not None:
            return folder if kind == "lint" else None
    return None


def read_lint_settings(root: Path) -> tuple[LintSettings, TomlTree]:
    """Return the lint settings of a folder that `find_lint_root` found. Raises ProblemsError."""
    problems = Problems()
    source = _pyproject(root)
    lint_table = lint_settings(source, problems) if source is not None else None
    problems.check()
    if lint_table is None:
        raise _no_project(f"{root / PYPROJECT} has no [tool.merge-runner.lint]")
    return lint_table


def read_settings(root: Path, problems: Problems, text: str | None = None) -> Settings:
    """The settings of `root`; without them nothing else can be found, so their problems are raised alone.

    `text` is read instead of pyproject.toml.
    """
    problems.check()
    source = SourceText(PYPROJECT, text) if text is not None else _pyproject(root)
    if source is None or not has_settings(source):
        raise _no_project(f"{root} is not a merge-runner project")
    own_settings = settings(source, problems)
    if own_settings is None:
        raise ProblemsError(problems)
    return own_settings


def _pyproject(folder: Path) -> SourceText | None:
    """Return the text of a folder's pyproject.toml; None where it has none. Raises ProblemsError."""
    file = folder / PYPROJECT
    if not os.path.lexists(file):
        return None
    problems = Problems()
    source = read_text(file, os.fspath(file), problems, Boundary(folder))
    problems.check()
    return SourceText(PYPROJECT, source.text) if source is not None else None


def _no_project(message: str) -> ProblemsError:
    hint = "run `merge-runner init NAME` for a new project, or say where it is with --project-dir"
    return ProblemsError([Problem("no-project", message, None, hint)])
