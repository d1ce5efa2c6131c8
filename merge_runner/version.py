"""The version of this package."""

from __future__ import annotations


def version() -> str:
    """The installed version, as in pyproject.toml."""
    return package_version("merge-runner") or "unknown"


def package_version(package: str) -> str | None:
    """The installed version of a package; None where it is not installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as of

    try:
        return of(package)
    except PackageNotFoundError:
        return None
