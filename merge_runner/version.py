"""The version of this package."""

from __future__ import annotations


def version() -> str:
    """The installed version, as in pyproject.toml."""
    from importlib.metadata import version as of

    return of("merge-runner")
