"""The versions of this package and of others, found without importing them."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as of
from pathlib import Path

_PYSPARK = re.compile(r"""__version__[^=]*=\s*['"]([^'"]+)['"]""")


def version() -> str:
    """The installed version, as in pyproject.toml."""
    return package_version("merge-runner") or "unknown"


def package_version(package: str) -> str | None:
    """The installed version of a package; None where it is not installed."""
    suffix = ".dist-info"
    normal_name = _normal(package)
    for folder in _metadata_folders() or ():
        name, _, version = os.path.basename(folder).removesuffix(suffix).partition("-")  # noqa: PTH119 -- of hundreds
        if folder.endswith(suffix) and version and _normal(name) == normal_name:
            return version

    try:
        return of(package)
    except PackageNotFoundError:
        return None


def may_provide(group: str) -> bool:
    """Return whether an installed package may have entry points of a group. Where it cannot be said, it may."""
    folders = _metadata_folders()
    if folders is None:
        return True
    for folder in folders:
        try:
            with open(f"{folder}/entry_points.txt", "rb") as stream:  # noqa: PTH123 -- of hundreds
                if group.encode() in stream.read():
                    return True
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False


@cache
def _metadata_folders() -> tuple[str, ...] | None:
    """Return the folders with the metadata of the installed packages, in the order of sys.path.

    They are what importlib.metadata looks into, whose import takes longer than a command whose answer is kept. None
    where there may be metadata elsewhere: in an archive or an egg, or where another finder looks.
    """
    if sum(hasattr(finder, "find_distributions") for finder in sys.meta_path) > 1:
        return None
    folders = []
    for path in sys.path:
        try:
            with os.scandir(path or ".") as entries:
                names = sorted(entry.name for entry in entries)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if any(name.endswith(".egg") for name in names):
            return None
        folders += [f"{path or '.'}/{name}" for name in names if name.endswith((".dist-info", ".egg-info"))]
    return tuple(folders)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def pyspark_folder() -> Path | None:
    """The folder of the package `pyspark`; None where there is none."""
    spec = importlib.util.find_spec("pyspark")
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def pyspark_version() -> str | None:
    """The version of PySpark, wherever it comes from; None without one, and where its files do not say it."""
    folder = pyspark_folder()
    try:
        match = _PYSPARK.search((folder / "version.py").read_text(encoding="utf-8")) if folder is not None else None
    except OSError:
        return None
    return match[1] if match is not None else None
