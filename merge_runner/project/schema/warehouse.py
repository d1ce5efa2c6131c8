"""Where the tables of an output are: in folders of its warehouse, or in the catalog that its `conf` names.

A folder is one of this machine, or of an object store or HDFS (`s3a://bucket/path`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path

from merge_runner.location import scheme

DIR = "spark.sql.warehouse.dir"
IMPLEMENTATION = "spark.sql.catalogImplementation"
SESSION_CATALOG = "spark.sql.catalog.spark_catalog"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
DEFAULT = "warehouse"
"""The folder of a local output that says nothing of its tables."""

Fault = Callable[[str, str, str], None]
"""Reports a conf that cannot be: its key, what is wrong, and what to do."""


@dataclass(frozen=True)
class Warehouse:
    """`folder` is a path or URI, None where a catalog keeps the tables; `is_assumed`: output and conf do not say it."""

    folder: str | None
    is_assumed: bool = False


def warehouse(own_folder: str | None, conf: Mapping[str, str], root: Path, fault: Fault, *, local: bool) -> Warehouse:
    """Return where the tables of a classic driver are: `own_folder` is the output's own `warehouse`.

    A folder needs a catalog in memory, and a catalog in memory needs a folder: the next run knows the tables by it.
    """
    directory, catalog = conf.get(DIR), keeping_catalog(conf)
    if own_folder is not None:
        if catalog == IMPLEMENTATION:
            message = (
                f"{IMPLEMENTATION}: {conf[IMPLEMENTATION]} keeps tables in a metastore, and `warehouse` in folders"
            )
            fault(IMPLEMENTATION, message, "keep one of the two")
        elif directory is not None and not _same(directory, own_folder, root):
            fault(DIR, f"{DIR} is {directory}, and `warehouse` is {own_folder}", "keep one of the two")
        return Warehouse(own_folder)
    if not local or catalog is not None:
        return Warehouse(None)
    if directory is None:
        return Warehouse(DEFAULT, is_assumed=True)
    folder = local_path(directory)
    if folder is None:
        hint = (
            f"name the catalog that keeps them ({IMPLEMENTATION}: hive with its metastore, or {SESSION_CATALOG}), "
            f"or write `warehouse: {directory}` to have them known by their folders"
        )
        fault(DIR, f"{DIR} is {directory}, and no catalog would know its tables in the next run", hint)
        return Warehouse(None)
    return Warehouse(folder)


def keeping_catalog(conf: Mapping[str, str]) -> str | None:
    """Return the conf by which a separate catalog keeps the tables of `spark_catalog`; None where none does."""
    if conf.get(IMPLEMENTATION, "in-memory").strip() != "in-memory":
        return IMPLEMENTATION
    return SESSION_CATALOG if conf.get(SESSION_CATALOG, DELTA_CATALOG).strip() != DELTA_CATALOG else None


def local_path(directory: str) -> str | None:
    """Return the path of a directory that Spark is given as a path or `file:` URI; None for any other file system."""
    scheme, colon, path = directory.strip().partition(":")
    if not colon or "/" in scheme:
        return directory.strip()
    if scheme.lower() != "file":
        return None
    return "/" + path.lstrip("/") if path.startswith("/") else path  # Spark takes %20 as it is written


def _same(directory: str, folder: str, root: Path) -> bool:
    if scheme(folder) is not None:
        return directory.strip().rstrip("/") == folder.rstrip("/")
    path = local_path(directory)
    return path is not None and normpath(root / path) == normpath(root / folder)
