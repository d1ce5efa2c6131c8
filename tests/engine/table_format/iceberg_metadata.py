"""Metadata of an Iceberg table with manifests in Avro, as Iceberg 1.12.0 writes them, as far as it is read here."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_SYNC = b"0123456789abcdef"
_LIST = [
    *(("manifest_path", "string"), ("manifest_length", "long"), ("partition_spec_id", "int")),
    ("added_snapshot_id", "long"),
]
_AVRO = {
    "date": {"type": "int", "logicalType": "date"},
    "int": "int",
    "long": "long",
    "string": "string",
    "timestamp": "long",
}


def write_metadata(
    folder: Path,
    columns: Mapping[str, str],
    specs: Sequence[Sequence[tuple[str, str]]],
    snapshots: Sequence[Mapping[str, Any]],
    **more: Any,
) -> Path:
    """Write the metadata of a table with these snapshots, of which the last one is the current one; return its file.

    `specs` have the columns and transforms of each partition spec. A snapshot has an `operation` and `files`: of each its
    status, the values of its partition, and its spec. `counted` are the files of its summary where these are others.
    """
    ids = {name: number for number, name in enumerate(columns, start=1)}
    fields = [{"id": ids[name], "name": name, "type": kind} for name, kind in columns.items()]
    document: dict[str, Any] = {
        **{"table-uuid": "u", "current-schema-id": 0, "current-snapshot-id": len(snapshots) or -1},
        "schemas": [{"schema-id": 0, "fields": fields}],
        "partition-specs": [
            {
                "spec-id": spec,
                "fields": [
                    {"field-id": 1000 + at, "name": f"p {name}", "source-id": ids[name], "transform": transform}
                    for at, (name, transform) in enumerate(each)
                ],
            }
            for spec, each in enumerate(specs)
        ],
        "snapshots": [_snapshot(folder, at, each, columns, specs) for at, each in enumerate(snapshots, start=1)],
    }
    path = folder / "v.metadata.json"
    path.write_text(json.dumps(document | more))
    return path


def _snapshot(
    folder: Path,
    at: int,
    snapshot: Mapping[str, Any],
    columns: Mapping[str, str],
    specs: Sequence[Sequence[tuple[str, str]]],
) -> dict[str, Any]:
    files, manifests = snapshot.get("files", ()), []
    for spec, fields in enumerate(specs):
        own = [(status, values) for status, values, *of in files if (of or [0])[0] == spec]
        if own:
            path = folder / f"{at}-{spec}.avro"
            _write_manifest(path, at, own, [(name, columns[name]) for name, _ in fields])
            manifests.append((f"file:{path}", path.stat().st_size, spec, at))
    manifests.append((str(folder / "lost.avro"), 1, 0, at - 1))  # that of an earlier snapshot is not read
    schema = {"type": "record", "name": "manifest_file", "fields": [{"name": n, "type": kind} for n, kind in _LIST]}
    rows = [b"".join((_text(path), _long(size), _long(spec), _long(added))) for path, size, spec, added in manifests]
    _write(folder / f"snap-{at}.avro", schema, rows, "deflate")
    statuses = snapshot.get("counted", [status for status, *_ in files])
    summary = {"operation": snapshot.get("operation", "overwrite")}
    summary |= {"added-data-files": str(statuses.count(1)), "removed-delete-files": str(statuses.count(2))}
    parent = {"parent-snapshot-id": at - 1} if at > 1 else {}
    return {"snapshot-id": at, "summary": summary, "manifest-list": str(folder / f"snap-{at}.avro"), **parent}


def _write_manifest(
    path: Path, snapshot: int, files: Iterable[tuple[int, Sequence[Any]]], columns: Sequence[tuple[str, str]]
) -> None:
    """Write the files of a snapshot, and one that an earlier snapshot has added."""
    partition = {
        "type": "record",
        "name": "r102",
        "fields": [
            {"name": f"p_x20{name}", "type": ["null", _AVRO[kind]], "default": None, "field-id": 1000 + at}
            for at, (name, kind) in enumerate(columns)
        ],
    }
    bounds = {"type": "array", "items": {"type": "record", "name": "k126_v127", "fields": _PAIR}, "logicalType": "map"}
    file = [
        *({"name": "file_path", "type": "string"}, {"name": "partition", "type": partition}),
        *({"name": "lower_bounds", "type": ["null", bounds]}, {"name": "sort", "type": ["null", "double"]}),
    ]
    fields = [
        *({"name": "status", "type": "int"}, {"name": "snapshot_id", "type": ["null", "long"]}),
        {"name": "data_file", "type": {"type": "record", "name": "r2", "fields": file}},
    ]
    rows = []
    kept = (0, [None for _ in columns])
    for status, values in (*files, kept):
        of = {1: b"\x00", 2: b"\x02" + _long(snapshot)}.get(status, b"\x02" + _long(snapshot - 1))
        texts = (_value(value, kind) for value, (_, kind) in zip(values, columns, strict=True))
        lower = b"\x02" + _long(-1) + _long(4) + _long(7) + _long(2) + b"\x01\x02" + _long(0)
        rows.append(_long(status) + of + _text("a.parquet") + b"".join(texts) + lower + b"\x00")
    _write(path, {"type": "record", "name": "manifest_entry", "fields": fields}, rows, "null")


_PAIR = [{"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}]


def _value(value: Any, kind: str) -> bytes:
    if value is None:
        return b"\x00"
    return b"\x02" + (_text(value) if kind == "string" else _long(value))


def _write(path: Path, schema: Mapping[str, Any], rows: Sequence[bytes], codec: str) -> None:
    """Write an Avro file, each of whose blocks has one record."""
    metadata = {"avro.schema": json.dumps(schema), "avro.codec": codec}
    head = _long(len(metadata)) + b"".join(_text(key) + _text(value) for key, value in metadata.items()) + _long(0)
    blocks = []
    for row in rows:
        packed = zlib.compress(row)[2:-4] if codec == "deflate" else row
        blocks.append(_long(1) + _long(len(packed)) + packed + _SYNC)
    path.write_bytes(b"Obj\x01" + head + _SYNC + b"".join(blocks))


def _text(text: str) -> bytes:
    return _long(len(text.encode())) + text.encode()


def _long(number: int) -> bytes:
    left, found = (number << 1) ^ (number >> 63), b""
    while left > 0x7F:
        found += bytes([left & 0x7F | 0x80])
        left >>= 7
    return found + bytes([left])
