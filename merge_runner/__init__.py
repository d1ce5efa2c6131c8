"""SQL MERGE models on Spark: what each MERGE will scan, built in parallel as a DAG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merge_runner.api import Project as Project
    from merge_runner.api import lint_paths as lint_paths

__all__ = ["Project", "lint_paths"]


def __getattr__(name: str) -> Any:
    # Importing the package is part of every start of the command line, which seldom needs all of it.
    if name in __all__:
        import merge_runner.api

        return getattr(merge_runner.api, name)
    if name == "__version__":
        from merge_runner.version import version

        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
