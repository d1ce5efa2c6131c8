"""Where the paths given to lint lie: in which project, or below which settings of lint alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from merge_runner.errors import Problem, ProblemsError
from merge_runner.lint.request import ArgumentsError
from merge_runner.project.load.find_project import find_lint_root, find_root
from merge_runner.project.load.not_read import DBT_PROJECT


def project_of(project_dir: Path | None, paths: Sequence[Path]) -> Path | None:
    """Return the project that is meant: that of --project-dir, else the one of the paths, else the one here.

    None where that is no project: paths outside of any, a dbt project, a folder whose settings are of lint alone.
    Raises ProblemsError where there is nothing of these, and ArgumentsError where the paths are in several projects.
    """
    if not paths or project_dir is not None:
        start = project_dir if project_dir is not None else Path.cwd()
        if project_dir is None and find_lint_root(start) is not None:
            return None
        try:
            return find_root(start, upwards=project_dir is None)
        except ProblemsError:
            folders = (start,) if project_dir is not None else (start, *start.parents)
            if any((folder / DBT_PROJECT).is_file() for folder in folders):
                return None
            if find_lint_root(start) == start.absolute():
                return None
            raise
    # A hook names thousands of files in a handful of folders; a link may lead into another project than its folder.
    starts = dict.fromkeys(path if path.is_dir() or path.is_symlink() else path.parent for path in paths)
    roots = list({root.resolve(): root for start in starts if (root := root_of(start)) is not None}.values())
    if len(roots) > 1:
        names = ", ".join(str(root) for root in roots)
        raise ArgumentsError(f"The paths lie in several projects: {names}. Lint one at a time, with --project-dir.")
    return roots[0] if roots else None


def lint_root_of(paths: Sequence[Path]) -> Path | None:
    """Return the folder whose pyproject.toml configures lint of these paths alone; None where there is none.

    Raises ArgumentsError where several do.
    """
    starts = dict.fromkeys(path if path.is_dir() else path.parent for path in paths or [Path()])
    roots = {root for start in starts if (root := find_lint_root(Path(os.path.abspath(start)))) is not None}  # noqa: PTH100 -- links stay
    if len(roots) > 1:
        names = ", ".join(str(root) for root in sorted(roots))
        raise ArgumentsError(f"The paths have several [tool.merge-runner.lint]: {names}. Lint one folder at a time.")
    return next(iter(roots), None)


def check_paths(paths: Iterable[Path]) -> None:
    """Raises ProblemsError with every path that does not exist."""
    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:
        raise ProblemsError(Problem("no-such-file", f"there is no file or folder {path}") for path in missing)


def within(root: Path, path: Path) -> str | None:
    """The path of a file in the project, with forward slashes; None where it lies elsewhere.

    A link in the project is a file of it, wherever it leads.
    """
    for real in (False, True):
        file, folder = _absolute(path, real), _absolute(root, real)
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return None


def root_of(path: Path) -> Path | None:
    """Return the project that a path lies in; None where it lies in none."""
    for real in (False, True):
        place = _absolute(path, real)
        folder = place if place.is_dir() else place.parent
        if find_lint_root(folder) is not None:
            continue
        try:
            return find_root(folder)
        except ProblemsError:
            continue
    return None


def _absolute(path: Path, real: bool) -> Path:
    """The path without `..`: `real` with every link followed, unlike Path.resolve without an error in a circle."""
    return Path(os.path.realpath(path) if real else os.path.abspath(path))  # noqa: PTH100
