"""The snapshots of an Iceberg table with other rows than the one before, read from its metadata file.

Iceberg's table specification: the file has all snapshots that are kept, and that of main as `current-snapshot-id`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from merge_runner.engine.table_format.stored_version import StoredVersion
from merge_runner.formats.iceberg.capabilities import SUMMARY_KEY
from merge_runner.object_path import StoredText

_NONE = -1


def stored_versions(metadata: StoredText) -> Iterator[StoredVersion]:
    """Yield the snapshots of main of the table with this metadata file, newest first, and that without rows at last."""
    try:
        table = json.loads(metadata.read_text(encoding="utf-8"))
        snapshots = {each["snapshot-id"]: each for each in table.get("snapshots") or ()}
        schema = f"{table['table-uuid']}/{table['current-schema-id']}"
        current = table.get("current-snapshot-id")
        while current is not None and current != _NONE:
            summary: dict[str, Any] = snapshots[current]["summary"]
            if summary["operation"] != "replace":
                yield StoredVersion(current, f"{schema}/{current}", summary.get(SUMMARY_KEY))
            current = snapshots[current].get("parent-snapshot-id")
        yield StoredVersion(_NONE, f"{schema}/{_NONE}", None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # compressed, expired, or no metadata of Iceberg's
