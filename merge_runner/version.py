"""The versions of this package and of others, found without importing them."""

from __future__ import annotations

import re
from pathlib import Path

_PYSPARK = re.compile(r"""__version__[^=]*=\s*['"]([^'"]+)['"]""")


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


def pyspark_folder() -> Path | None:
    """The folder of the package `pyspark`; None where there is none."""
    import importlib.util

    spec = importlib.util.find_spec("pyspark")
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def pyspark_version() -> str | None:
    """The version of PySpark, wherever it comes from; None without one, and where its files do not say it."""
    folder = pyspark_folder()
    try:
        found = _PYSPARK.search((folder / "version.py").read_text(encoding="utf-8")) if folder is not None else None
    except OSError:
        return None
    return found[1] if found is not None else None
