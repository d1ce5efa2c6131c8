"""A table of a source, with what its source says for all of its tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from merge_runner.errors import Problems
from merge_runner.project.load.files import SourceEntry
from merge_runner.project.schema.freshness import resolve_freshness
from merge_runner.project.schema.properties import Source, SourceTable
from merge_runner.project.schema.stream import Stream
from merge_runner.text import Place

_FORMATS = {".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet", ".orc": "orc"}
_COMPRESSIONS = frozenset({".gz", ".bz2", ".zst", ".lz4", ".snappy"})


def source_entry(source: Source, table: SourceTable, place: Place, problems: Problems) -> SourceEntry:
    """The table as it is used: path below the source's, schema, catalog, format, options and freshness of the source.

    As in dbt the schema is by default the source's name and the identifier the table's. The format of files is taken
    from their suffix where nothing says it; a path without either is a problem.
    """
    path = _path(source, table)
    format = table.format or source.format
    if path is not None and format is None:
        format = _format(path)
        if format is None:
            message = f'source {source.name}, table {table.name}: a "path" needs a "format"'
            problems.add("missing-key", message, place, "say format: csv, parquet, json, delta, …")
    options = {**source.options, **table.options}
    table_in_use = replace(
        table,
        path=path,
        format=format,
        identifier=table.identifier or table.name,
        schema=table.schema or source.schema or (source.name if path is None else None),
        catalog=table.catalog or source.catalog,
        options=options,
        stream=_stream(table.stream, path, format, options),
        freshness=resolve_freshness(table.freshness, table.config.freshness, source.freshness, source.config.freshness),
        loaded_at_field=_first(
            table.loaded_at_field, table.config.loaded_at_field, source.loaded_at_field, source.config.loaded_at_field
        ),
    )
    event_time = _first(table.config.event_time, source.config.event_time)
    table_in_use = replace(table_in_use, config=replace(table_in_use.config, event_time=event_time))
    levels = (source, source.config, table, table.config)
    meta = {key: value for level in levels for key, value in level.meta.items()}
    tags = tuple(dict.fromkeys(tag for level in levels for tag in level.tags))
    return SourceEntry(source.name, table_in_use, place, meta, tags)


def _path(source: Source, table: SourceTable) -> str | None:
    if source.path is None or (table.path is not None and re.match(r"/|[A-Za-z][A-Za-z0-9+.-]*:", table.path)):
        return table.path
    return f"{source.path.rstrip('/')}/{table.path or table.identifier or table.name}"


def _stream(stream: Stream | None, path: str | None, format: str | None, options: Mapping[str, str]) -> Stream | None:
    """The stream with what its table says where it says nothing itself."""
    if stream is None:
        return None
    own = stream.path is not None or stream.table is not None
    return replace(
        stream,
        format=stream.format or format or (_format(stream.path) if stream.path is not None else None),
        path=stream.path if own else path,
        options={**options, **stream.options},
    )


def _format(path: str) -> str | None:
    suffixes = PurePosixPath(path).suffixes
    if suffixes and suffixes[-1].lower() in _COMPRESSIONS:
        suffixes.pop()
    return _FORMATS.get(suffixes[-1].lower()) if suffixes else None


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
