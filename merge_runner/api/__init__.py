"""The Python interface, on which the command line is built: the results of each command, as objects."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merge_runner.api.lint import lint_paths as lint_paths
    from merge_runner.api.project import Project as Project

__all__ = ["Project", "lint_paths"]

logging.getLogger("merge_runner").addHandler(logging.NullHandler())  # the application decides what is shown


def __getattr__(name: str) -> Any:
    # A report that is kept needs none of what a project is made of.
    if name == "Project":
        from merge_runner.api.project import Project

        return Project
    if name == "lint_paths":
        from merge_runner.api.lint import lint_paths

        return lint_paths
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
