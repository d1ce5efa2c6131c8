"""The partitions of an Iceberg table that were changed between two snapshots, read from its metadata without an engine.

Iceberg's table specification: a snapshot has a list of manifests, and names in those that it has added itself each file
that it has added (status 1) or removed (status 2), with its partition. Files with deletes count as files with rows do:
they are in the partition of the rows that they delete.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

from merge_runner.engine.table_format.stored_version import Partition
from merge_runner.location import local_path
from merge_runner.object_path import StoredText
from merge_runner.pruning.runtime_filter.bound_literal import text_literal
from merge_runner.relation import quote

_NONE = -1
"""The id of the snapshot of a table without rows (stored_version.py)."""
_ADDED, _REMOVED = 1, 2
_COUNTS = {_ADDED: ("added-data-files", "added-delete-files"), _REMOVED: ("deleted-data-files", "removed-delete-files")}
"""What the summary of a snapshot says of its files, by their status; what is not there is 0."""
_MOST_BYTES = 64 << 20
"""Of manifests, above which none is read."""
_UNREADABLE = (OSError, EOFError, ValueError, OverflowError, LookupError, TypeError, AttributeError, zlib.error)
"""What reading raises for a file that is gone, cut off, or has other contents than expected."""


def changed_partitions(metadata: StoredText, since: str) -> frozenset[Partition] | str:
    """Return the partitions with files that were added or removed since a snapshot; a text says why that is not known.

    `metadata` is the metadata file of the table, `since` the identity of the snapshot. Columns count by which the table
    is partitioned as they are; a table that has other partition fields as well has fewer, larger partitions here.
    """
    try:
        table = json.loads(metadata.read_text(encoding="utf-8"))
        uuid, schema, snapshot = since.split("/")
        if (uuid, schema) != (table["table-uuid"], str(table["current-schema-id"])):
            return "its columns have changed, or it is another table"
        return _changed(table, int(snapshot))
    except ImportError:
        return "the package fastavro is not installed, which reads its manifests"
    except _UNREADABLE:
        return "the manifests of its snapshots cannot be read"


def in_partition(column: str, kind: str, value: str) -> str:
    """Return the condition that a column is a value of the manifests, by which Iceberg leaves out files."""
    return f"{quote(column)} = cast({text_literal(value)} AS {kind})"


def _changed(table: Mapping[str, Any], since: int) -> frozenset[Partition] | str:
    """Return the partitions. Raises what a file raises that cannot be read, or has not what is expected."""
    snapshots = {each["snapshot-id"]: each for each in table["snapshots"]}
    fields, found, read = _Fields(table), set[Partition](), 0
    current = table["current-snapshot-id"]
    while (_NONE if current is None else current) != since:
        if current not in snapshots:
            return "its metadata does not have the snapshot that was read before"
        snapshot = snapshots[current]
        if snapshot["summary"]["operation"] != "replace":
            manifests = list(_own_manifests(snapshot))
            read += sum(manifest["manifest_length"] for manifest in manifests)
            if read > _MOST_BYTES:
                return f"its manifests have more than {_MOST_BYTES >> 20} MiB"
            statuses = Counter[int]()
            for manifest in manifests:
                for entry, partition in fields.partitions(manifest, current):
                    if not partition:
                        return "it is partitioned by no column as it is"
                    statuses[entry["status"]] += 1
                    found.add(partition)
            if statuses != _counted(snapshot["summary"]):
                return "the manifests of a snapshot have other files than its summary counts"
        current = snapshot.get("parent-snapshot-id")
    return frozenset(found)


def _counted(summary: Mapping[str, str]) -> Counter[int]:
    """Return how many files a snapshot has of each status, as its summary says."""
    return Counter({status: sum(int(summary.get(name, 0)) for name in names) for status, names in _COUNTS.items()})


def _own_manifests(snapshot: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the manifests that a snapshot has added, which alone have its changes."""
    _, manifests = _read_avro(snapshot["manifest-list"])
    for manifest in manifests:
        if manifest["added_snapshot_id"] == snapshot["snapshot-id"]:
            yield manifest


def _read_avro(place: str) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """Return the schema and the records of a file. Raises ImportError without the package, else one of _UNREADABLE."""
    from fastavro import reader

    with local_path(place).open("rb") as file:
        opened = reader(file)
        return json.loads(opened.metadata["avro.schema"]), [cast("dict[str, Any]", each) for each in opened]


class _Fields:
    """The columns by which a table is partitioned as they are, for each of its specs."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        (schema,) = (each for each in table["schemas"] if each["schema-id"] == table["current-schema-id"])
        self._columns = {field["id"]: (field["name"], field["type"]) for field in schema["fields"]}
        self._of_spec = {
            spec["spec-id"]: {
                field["field-id"]: self._columns[field["source-id"]]
                for field in spec["fields"]
                if field["transform"] == "identity"
            }
            for spec in table["partition-specs"]
        }

    def partitions(self, manifest: Mapping[str, Any], snapshot: int) -> Iterator[tuple[Mapping[str, Any], Partition]]:
        """Yield the files that a snapshot has added or removed, as a manifest has them, with their partitions."""
        columns = self._of_spec[manifest["partition_spec_id"]]
        schema, entries = _read_avro(manifest["manifest_path"])
        names = _names_of_fields(schema)
        for entry in entries:
            of = entry["snapshot_id"] if entry["snapshot_id"] is not None else manifest["added_snapshot_id"]
            if entry["status"] not in (_ADDED, _REMOVED) or of != snapshot:
                continue
            values = entry["data_file"]["partition"]
            texts = ((name, _text(values[names[field]], kind)) for field, (name, kind) in columns.items())
            yield entry, tuple(sorted(texts))


def _names_of_fields(schema: Mapping[str, Any]) -> Mapping[int, str]:
    """Return the names that partition fields have in the records of a manifest, by their ids."""
    (file,) = (field["type"] for field in schema["fields"] if field["name"] == "data_file")
    (partition,) = (field["type"] for field in file["fields"] if field["name"] == "partition")
    return {field["field-id"]: field["name"] for field in partition["fields"]}


def _text(value: Any, kind: Any) -> str | None:
    """Return a value of a partition as Spark casts it to text. Raises ValueError where that is not known."""
    if value is None:
        return None
    if kind not in ("date", "int", "long", "string"):
        raise ValueError(f"a partition column of the type {kind}")
    return str(value)
