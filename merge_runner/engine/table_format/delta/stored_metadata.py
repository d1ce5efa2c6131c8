"""The columns and sizes of a Delta table, read from its log without an engine.

The checksum file of a commit has the metadata of the table, and the number and bytes of its files (Delta's protocol,
"Version Checksum File"). Where there is none, the newest commit with metadata has the columns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from merge_runner.engine.spark.declared_type import DECLARED_TYPE
from merge_runner.engine.table_format.delta.catalog_managed import is_catalog_managed
from merge_runner.engine.table_format.stored_metadata import StoredColumn, StoredMetadata

_TYPES = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}


def stored_metadata(folder: Path) -> StoredMetadata | None:
    """Return the table in a folder; None where there is none, its columns are in a checkpoint alone, or a catalog has
    its newest commits.
    """
    log = folder / "_delta_log"
    if is_catalog_managed(log):
        return None
    try:
        names = (path.stem for path in log.glob("[0-9]*.json"))
        versions = sorted((name for name in names if name.isdecimal()), reverse=True)
        for number, version in enumerate(versions):
            commit = log / f"{version}.json"
            checksum = _json(commit.with_suffix(".crc"))
            if checksum.get("metadata"):
                newest = number == 0
                files, size = (checksum.get("numFiles"), checksum.get("tableSizeBytes")) if newest else (None, None)
                return _table(checksum["metadata"], files, size)
            for line in commit.read_text(encoding="utf-8").splitlines():
                action = json.loads(line) if line.strip() else {}
                if "metaData" in action:
                    return _table(action["metaData"], None, None)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass  # cleaned up meanwhile, or no log of Delta's
    return None


def _json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _table(metadata: dict[str, Any], files: int | None, size: int | None) -> StoredMetadata:
    fields = json.loads(metadata["schemaString"])["fields"]
    columns = tuple(
        StoredColumn(
            field["name"],
            (field.get("metadata") or {}).get(DECLARED_TYPE) or _type(field["type"]),
            (field.get("metadata") or {}).get("comment"),
        )
        for field in fields
    )
    return StoredMetadata(columns, metadata.get("description"), files, size)


def _type(type_json: Any) -> str:
    """A type of Spark's JSON as SQL writes it."""
    if isinstance(type_json, str):
        return _TYPES.get(type_json, type_json)
    kind = type_json["type"]
    if kind == "array":
        return f"array<{_type(type_json['elementType'])}>"
    if kind == "map":
        return f"map<{_type(type_json['keyType'])},{_type(type_json['valueType'])}>"
    fields = (f"{field['name']}:{_type(field['type'])}" for field in type_json["fields"])
    return f"struct<{','.join(fields)}>"
