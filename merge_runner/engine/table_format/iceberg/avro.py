"""Reads the records of an Avro file, in the forms that Iceberg's manifests have, without a library or an engine.

Avro's specification: a file has its schema as JSON, and blocks of records, each record the values of its fields after
each other. `null` and `deflate` are all the codecs that are read; Iceberg writes `deflate`, which it calls gzip.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

_MAGIC = b"Obj\x01"
_SYNC = 16

_Decode = Callable[["_Bytes"], Any]


def read_avro(path: Path) -> tuple[Mapping[str, bytes], Iterator[dict[str, Any]]]:
    """Return the metadata of a file by key, and its records. Raises OSError, and ValueError for what cannot be read."""
    data = _Bytes(path.read_bytes())
    if data.take(len(_MAGIC)) != _MAGIC:
        raise ValueError(f"{path} is no Avro file")
    metadata: dict[str, bytes] = {}
    for _ in _items(data):
        key = data.text()
        metadata[key] = data.take(data.long())
    codec = metadata.get("avro.codec", b"null").decode()
    if codec not in ("null", "deflate"):
        raise ValueError(f"{path} is compressed by {codec}")
    data.take(_SYNC)
    return metadata, _records(data, _decoder(json.loads(metadata["avro.schema"]), {}), codec)


def _records(data: _Bytes, decode: _Decode, codec: str) -> Iterator[dict[str, Any]]:
    while not data.is_at_end:
        number, size = data.long(), data.long()
        block = data.take(size)
        rows = _Bytes(zlib.decompress(block, -zlib.MAX_WBITS) if codec == "deflate" else block)
        for _ in range(number):
            yield decode(rows)
        data.take(_SYNC)


class _Bytes:
    """Bytes that are read from the beginning to the end. Raises ValueError after the end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._data)

    def take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if size < 0 or len(taken) != size:
            raise ValueError("an Avro file ends in the middle of a value")
        self._at += size
        return taken

    def long(self) -> int:
        """A number of seven bits in each byte, the lowest first; the lowest bit of all is the sign."""
        shift = number = 0
        while True:
            (byte,) = self.take(1)
            number |= (byte & 0x7F) << shift
            if byte < 0x80:  # the highest bit: more bytes follow
                return (number >> 1) ^ -(number & 1)
            shift += 7

    def text(self) -> str:
        return self.take(self.long()).decode()


def _items(data: _Bytes) -> Iterator[None]:
    """Yield once for each item of an array or a map, which are in blocks; a negative number is followed by a size."""
    while (number := data.long()) != 0:
        if number < 0:
            data.long()
        for _ in range(abs(number)):
            yield


def _float(data: _Bytes) -> float:
    return float(struct.unpack("<f", data.take(4))[0])


def _double(data: _Bytes) -> float:
    return float(struct.unpack("<d", data.take(8))[0])


_PRIMITIVE: Mapping[str, _Decode] = {
    "null": lambda _: None,
    "boolean": lambda data: data.take(1) != b"\x00",
    "int": _Bytes.long,
    "long": _Bytes.long,
    "float": _float,
    "double": _double,
    "bytes": lambda data: data.take(data.long()),
    "string": _Bytes.text,
}


def _decoder(schema: Any, named: dict[str, _Decode]) -> _Decode:
    """Return what reads a value of a schema; `named` are the types that were defined before. Raises ValueError."""
    if isinstance(schema, list):
        return _of_union([_decoder(each, named) for each in schema])
    if isinstance(schema, str):
        known = _PRIMITIVE.get(schema) or named.get(schema)
        if known is None:
            raise ValueError(f"an Avro file has the type {schema}, which it does not define")
        return known
    kind = schema["type"]
    if kind == "record":
        return _of_record(schema, named)
    if kind == "array":
        item = _decoder(schema["items"], named)
        return lambda data: [item(data) for _ in _items(data)]
    if kind == "map":
        value = _decoder(schema["values"], named)
        return lambda data: {data.text(): value(data) for _ in _items(data)}
    if kind == "fixed":
        size = int(schema["size"])
        named[schema["name"]] = lambda data: data.take(size)
        return named[schema["name"]]
    return _decoder(kind, named)


def _of_union(options: list[_Decode]) -> _Decode:
    def decode(data: _Bytes) -> Any:
        at = data.long()
        if not 0 <= at < len(options):
            raise ValueError("an Avro file has a value of a type that it does not define")
        return options[at](data)

    return decode


def _of_record(schema: Mapping[str, Any], named: dict[str, _Decode]) -> _Decode:
    fields: list[tuple[str, _Decode]] = []

    def decode(data: _Bytes) -> dict[str, Any]:
        return {name: field(data) for name, field in fields}

    named[schema["name"]] = decode  # before its fields, which may have this type
    fields += [(field["name"], _decoder(field["type"], named)) for field in schema["fields"]]
    return decode
