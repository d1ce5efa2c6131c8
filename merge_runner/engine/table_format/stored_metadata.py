"""The columns and sizes of a table as its files on a local disk have them: what catalog.json says without an engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StoredColumn:
    """A column of a table: its type as Spark SQL writes it, and its comment."""

    name: str
    data_type: str
    comment: str | None = None


@dataclass(frozen=True)
class StoredMetadata:
    """The newest version of a table: its columns in their order, files of data, their bytes, and rows.

    None: the files that were read do not say it.
    """

    columns: tuple[StoredColumn, ...]
    comment: str | None = None
    files: int | None = None
    bytes: int | None = None
    rows: int | None = None
