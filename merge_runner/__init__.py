"""SQL MERGE models on Spark: what each MERGE will scan, built in parallel as a DAG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merge_runner.api import Project as Project

__all__ = ["Project"]


def __getattr__(name: str) -> Any:
    # Importing the package is part of every start of the command line, which seldom needs all of it.
    if name == "Project":
        from merge_runner.api import Project

        return Project
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
