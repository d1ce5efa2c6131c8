"""The snapshots of an Iceberg table with other rows than the one before, read from its metadata.

Iceberg's table specification: its JSON has all snapshots that are kept, and that of main as `current-snapshot-id`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.iceberg.log import metadata_text
from merge_runner.engine.table_format.stored_version import Rows, StoredVersion
from merge_runner.formats.iceberg.capabilities import SUMMARY_KEY
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NONE = -1
_CHANGED_FILES = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")
"""The counts of a summary: a MERGE that changes nothing leaves a snapshot without them (Iceberg 1.12.0)."""


def stored_versions(metadata: Path) -> Iterator[StoredVersion]:
    """Yield the snapshots of main of the table with this metadata file, newest first, and that without rows at last."""
    try:
        text = metadata.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return  # compressed
    yield from _versions(text)


def versions(session: SparkSession, table: Relation) -> Iterator[StoredVersion]:
    """Yield the same of a table as Spark has it; none where that does not say what rows it has."""
    try:
        text = metadata_text(session, table)
    except EngineError:
        return
    if text is not None:
        yield from _versions(text)


def _versions(metadata: str) -> Iterator[StoredVersion]:
    try:
        table = json.loads(metadata)
        snapshots = {snapshot["snapshot-id"]: snapshot for snapshot in table.get("snapshots") or ()}
        schema = f"{table['table-uuid']}/{table['current-schema-id']}"
        current = table.get("current-snapshot-id")
        while current is not None and current != _NONE:
            snapshot = snapshots.pop(current)  # one that names itself as its parent ends the search
            summary: dict[str, Any] = snapshot["summary"]
            if summary["operation"] != "replace":
                yield StoredVersion(current, f"{schema}/{current}", summary.get(SUMMARY_KEY), _rows(summary))
            current = snapshot.get("parent-snapshot-id")
        yield StoredVersion(_NONE, f"{schema}/{_NONE}", None)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # expired, or no metadata of Iceberg's


def _rows(summary: Mapping[str, Any]) -> Rows:
    """What a snapshot did to rows. The first snapshot of a table that is replaced has no parent."""
    if summary.get("total-records") == "0":
        return "emptied"
    return "changed" if any(key in summary for key in _CHANGED_FILES) else "kept"
