"""The columns and sizes of an Iceberg table, read from its metadata file without an engine.

Iceberg's table specification: `schemas` with that of `current-schema-id`, and totals in the summary of a snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merge_runner.engine.table_format.stored_metadata import StoredColumn, StoredMetadata

_TYPES = {"long": "bigint", "timestamp": "timestamp_ntz", "timestamptz": "timestamp", "uuid": "string"}


def stored_metadata(metadata: Path) -> StoredMetadata | None:
    """Return the table with this metadata file; None where it cannot be read."""
    try:
        table = json.loads(metadata.read_text(encoding="utf-8"))
        schema = next(
            schema_entry for schema_entry in table["schemas"] if schema_entry["schema-id"] == table["current-schema-id"]
        )
        columns = tuple(
            StoredColumn(field["name"], _type(field["type"]), field.get("doc")) for field in schema["fields"]
        )
        current = table.get("current-snapshot-id")
        snapshots: dict[int, dict[str, str]] = {
            snapshot["snapshot-id"]: snapshot["summary"] for snapshot in table.get("snapshots") or ()
        }
        summary = snapshots.get(current, {})
        comment = (table.get("properties") or {}).get("comment")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return None  # compressed, or no metadata of Iceberg's
    totals = (_number(summary, name) for name in ("total-data-files", "total-files-size", "total-records"))
    return StoredMetadata(columns, comment, *totals)


def _number(summary: Mapping[str, str], name: str) -> int | None:
    return int(summary[name]) if str(summary.get(name, "")).isdecimal() else None


def _type(type_json: Any) -> str:
    """A type of Iceberg's as Spark SQL writes it."""
    if isinstance(type_json, str):
        return "binary" if type_json.startswith("fixed") else _TYPES.get(type_json, type_json.replace(" ", ""))
    kind = type_json["type"]
    if kind == "list":
        return f"array<{_type(type_json['element'])}>"
    if kind == "map":
        return f"map<{_type(type_json['key'])},{_type(type_json['value'])}>"
    fields = (f"{field['name']}:{_type(field['type'])}" for field in type_json["fields"])
    return f"struct<{','.join(fields)}>"
