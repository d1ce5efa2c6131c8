"""The newest snapshot of an Iceberg table with other rows than the one before, read from its metadata file.

Iceberg's table specification: the file has all snapshots that are kept, and that of main as `current-snapshot-id`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from merge_runner.engine.table_format.stored_version import StoredVersion
from merge_runner.formats.iceberg.capabilities import SUMMARY_KEY

_NONE = -1


def stored_version(metadata: Path) -> StoredVersion | None:
    """Return the snapshot of the table with this metadata file; None where it, or a snapshot, cannot be read."""
    try:
        table = json.loads(metadata.read_text(encoding="utf-8"))
        snapshots = {each["snapshot-id"]: each for each in table.get("snapshots") or ()}
        current = table.get("current-snapshot-id")
        current = _NONE if current is None else current
        while current != _NONE and snapshots[current]["summary"]["operation"] == "replace":
            current = snapshots[current].get("parent-snapshot-id", _NONE)
        summary: dict[str, Any] = snapshots[current]["summary"] if current != _NONE else {}
        identity = f"{table['table-uuid']}/{table['current-schema-id']}/{current}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # compressed, expired, or no metadata of Iceberg's
    return StoredVersion(current, identity, summary.get(SUMMARY_KEY))


def changed_partitions(_metadata: Path, _since: str) -> str:
    """Return that they are not known: the files of a snapshot are in Avro manifests, which an engine reads."""
    return "the partitions of files of an Iceberg table are not read without an engine"
