"""What dbt's manifest.json tells of the tables that its generated statements in target/run name.

Read as plain data, whatever its version: the keys that are looked at have the same meaning from v7 (dbt 1.3) to v12
(1.8 and later). What is absent, or of another shape, is unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from merge_runner.errors import Problems
from merge_runner.formats.fact import Format
from merge_runner.formats.types import parse_type
from merge_runner.merge.expression import name_parts
from merge_runner.plan.layout_file import Namespace, TableKey
from merge_runner.pruning.layout import PartitionField, TableColumn, TableLayout, partition_field
from merge_runner.pruning.source import KnownTable, Lookup
from merge_runner.pruning.table_properties import with_properties
from merge_runner.text import Place

MANIFEST = "manifest.json"

_DELTA_BY_DEFAULT = frozenset({"databricks", "fabricspark"})
"""Adapters that create Delta tables where `file_format` is not set; dbt-spark leaves it to the session."""
_ENFORCING = frozenset({"merge", "delete+insert"})
"""Strategies of an incremental model that keep its unique_key unique."""
_COLUMN = re.compile(r"`(?:[^`]|``)+`|\w+")
_NAMES = Namespace()


@dataclass(frozen=True)
class DbtNode:
    """A model, seed, snapshot or source of a dbt project. `file` is where its text stands below run/ and compiled/."""

    name: str
    key: TableKey
    layout: TableLayout
    file: str | None = None
    materialized: str | None = None


@dataclass(frozen=True)
class DbtProject:
    """A dbt project as its target folder shows it."""

    target: Path
    nodes: Mapping[TableKey, DbtNode] = field(default_factory=dict)
    files: Mapping[str, DbtNode] = field(default_factory=dict)

    def node(self, file: Path) -> DbtNode | None:
        """The model or snapshot that a file of target/run was made for."""
        try:
            path = file.absolute().relative_to((self.target / "run").absolute()).as_posix()
        except ValueError:
            return None
        # Several snapshots of one file have a folder of its name.
        return self.files.get(path) or self.files.get(path.rpartition("/")[0])

    def lookup(self, file: Path) -> Lookup:
        """Finds what the statement of a file names: relations of the project, and dbt's temporary view of new rows."""
        own = self.node(file)

        def find(parts: tuple[str, ...]) -> KnownTable | None:
            if own is not None and len(parts) == 1 and _is_new_rows(parts[0], own):
                return KnownTable(TableLayout(), self._compiled(own))
            node = self.nodes.get(_NAMES.key(parts))
            if node is None:
                return None
            return KnownTable(node.layout, self._compiled(node) if node.materialized == "view" else None)

        return find

    def _compiled(self, node: DbtNode) -> str | None:
        """The compiled query of a node; None where there is none to read."""
        if node.file is None:
            return None
        try:
            return (self.target / "compiled" / node.file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None


def target_folder(file: Path) -> Path | None:
    """The dbt target folder whose run/ the file (or folder) belongs to; None where there is no manifest."""
    path = file.absolute()
    for folder in (path, *path.parents):
        if folder.name == "run" and (folder.parent / MANIFEST).is_file():
            return folder.parent
    return None


def read_dbt_project(target: Path, problems: Problems) -> DbtProject:
    """The project of a target folder; without tables, and a problem, where its manifest cannot be read."""
    file = target / MANIFEST
    try:
        manifest = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is no JSON"
        _bad_manifest(file, str(what), problems)
        return DbtProject(target)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("nodes"), dict):
        _bad_manifest(file, 'it has no "nodes"', problems)
        return DbtProject(target)
    nodes = dict(_Reader(manifest).nodes())
    tables: dict[TableKey, DbtNode] = {}
    for node in nodes.values():
        tables.setdefault(node.key, node)
    return DbtProject(target, tables, {node.file: node for node in nodes.values() if node.file is not None})


def _bad_manifest(file: Path, what: str, problems: Problems) -> None:
    hint = "make it anew with `dbt parse`; without it lint knows no layout of the project's tables"
    problems.add("unreadable", f"dbt's manifest cannot be read: {what}", Place(str(file), 1, 1), hint)


def _is_new_rows(name: str, node: DbtNode) -> bool:
    """Whether a name is that of the temporary view of a model's new rows: `<identifier>__dbt_tmp`, perhaps a suffix."""
    return bool(node.key) and name.casefold().startswith(f"{node.key[-1]}__dbt_tmp")


class _Reader:
    """Reads the nodes of a manifest."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._entries = {**_mapping(manifest.get("nodes")), **_mapping(manifest.get("sources"))}
        self._adapter = _mapping(manifest.get("metadata")).get("adapter_type")
        self._not_null: dict[str, set[str]] = {}
        self._unique: dict[str, list[frozenset[str]]] = {}
        for entry in self._entries.values():
            if isinstance(entry, dict) and entry.get("resource_type") == "test":
                self._read_test(entry)

    def nodes(self) -> Iterator[tuple[str, DbtNode]]:
        """Every node that is a relation, with its id."""
        for unique_id, entry in self._entries.items():
            if not isinstance(entry, dict) or entry.get("resource_type") not in _LAYOUTS:
                continue
            config = _mapping(entry.get("config"))
            materialized = config.get("materialized")
            key = _key(entry)
            if not key or materialized == "ephemeral":
                continue
            layout = _LAYOUTS[entry["resource_type"]](self, unique_id, entry, config)
            path = entry.get("original_file_path") if entry["resource_type"] in ("model", "snapshot") else None
            file = f"{entry.get('package_name')}/{path}".replace("\\", "/") if isinstance(path, str) else None
            yield unique_id, DbtNode(str(entry.get("name")), key, layout, file, materialized)

    def model(self, unique_id: str, entry: Mapping[str, Any], config: Mapping[str, Any]) -> TableLayout:
        """A model: a table as its config creates it, or a view."""
        enforced = _mapping(config.get("contract")).get("enforced") is True
        kind = config.get("materialized")
        is_table = kind in ("table", "incremental")
        # dbt creates tables by CREATE TABLE AS, whose columns take NULL; constraints are added under a contract only.
        columns = self._columns(unique_id, entry, enforced, True if is_table else None)
        strategy = config.get("incremental_strategy")
        keyed = kind != "incremental" or strategy in _ENFORCING or (strategy is None and self._adapter != "spark")
        layout = TableLayout(
            columns=columns or None,
            complete=bool(columns) and enforced,
            unique=self._keys(unique_id, entry, config.get("unique_key") if keyed else None),
        )
        return self._with_table(layout, config) if is_table else layout

    def seed(self, unique_id: str, entry: Mapping[str, Any], config: Mapping[str, Any]) -> TableLayout:
        """A seed: a small table."""
        layout = TableLayout(
            columns=self._columns(unique_id, entry, False, True) or None, unique=self._keys(unique_id, entry, None)
        )
        return self._with_table(layout, config)

    def snapshot(self, unique_id: str, entry: Mapping[str, Any], config: Mapping[str, Any]) -> TableLayout:
        """A snapshot, which holds several rows of one unique_key."""
        return self.seed(unique_id, entry, config)

    def source(self, unique_id: str, entry: Mapping[str, Any], _config: Mapping[str, Any]) -> TableLayout:
        """A source: nothing is known of how it was created."""
        columns = self._columns(unique_id, entry, False, None)
        return TableLayout(columns=columns or None, unique=self._keys(unique_id, entry, None))

    def _with_table(self, layout: TableLayout, config: Mapping[str, Any]) -> TableLayout:
        written = config.get("file_format") or ("delta" if self._adapter in _DELTA_BY_DEFAULT else None)
        if config.get("table_format") not in (None, "default", "delta"):
            written = None  # Databricks' managed Iceberg: neither of the two as it stands
        # dbt-spark knows no liquid clustering; its `clustered_by` makes buckets, which skip nothing.
        clustered = () if self._adapter == "spark" else _listed(config.get("liquid_clustered_by"))
        properties = {
            str(key): str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in _mapping(config.get("tblproperties")).items()
        }
        partitions = _listed(config.get("partition_by"))
        layout = TableLayout(
            format=cast(Format, written) if written in ("delta", "iceberg") else None,
            columns=layout.columns,
            complete=layout.complete,
            partition_by=None if partitions is None else tuple(_partition_fields(partitions)),
            cluster_by=None if config.get("auto_liquid_cluster") else clustered,
            unique=layout.unique,
        )
        return with_properties(layout, properties)

    def _columns(
        self, unique_id: str, entry: Mapping[str, Any], enforced: bool, otherwise: bool | None
    ) -> tuple[TableColumn, ...]:
        not_null = set(self._not_null.get(unique_id, ()))
        if enforced:
            for names in _constrained(entry, ("not_null", "primary_key")):
                not_null |= names
        found = []
        for name, column in _mapping(entry.get("columns")).items():
            data_type = _mapping(column).get("data_type")
            nullable = False if name.casefold() in not_null else otherwise
            found.append(TableColumn(name, parse_type(data_type) if isinstance(data_type, str) else None, nullable))
        return tuple(found)

    def _keys(self, unique_id: str, entry: Mapping[str, Any], unique_key: Any) -> tuple[frozenset[str], ...]:
        own = _column_set(_listed(unique_key) or ())
        keys = [own, *_constrained(entry, ("unique", "primary_key")), *self._unique.get(unique_id, ())]
        return tuple(dict.fromkeys(key for key in keys if key))

    def _read_test(self, entry: Mapping[str, Any]) -> None:
        metadata = _mapping(entry.get("test_metadata"))
        arguments = _mapping(metadata.get("kwargs"))
        owner = _owner(entry)
        if owner is None or not _holds_always(_mapping(entry.get("config"))):
            return
        name = metadata.get("name")
        column = entry.get("column_name") or arguments.get("column_name")
        if name == "unique_combination_of_columns":
            key = _column_set(_listed(arguments.get("combination_of_columns")) or ())
            self._unique.setdefault(owner, []).append(key)
        elif name in ("unique", "not_null") and isinstance(column, str) and (key := _column_set([column])):
            if name == "unique":
                self._unique.setdefault(owner, []).append(key)
            else:
                self._not_null.setdefault(owner, set()).update(key)


_LAYOUTS: Mapping[str, Callable[[_Reader, str, Mapping[str, Any], Mapping[str, Any]], TableLayout]] = {
    "model": _Reader.model,
    "seed": _Reader.seed,
    "snapshot": _Reader.snapshot,
    "source": _Reader.source,
}


def _key(entry: Mapping[str, Any]) -> TableKey:
    written = entry.get("relation_name")
    parts = name_parts(written) if isinstance(written, str) else ()
    if not parts:
        identifier = entry.get("alias") or entry.get("identifier") or entry.get("name")
        given = (entry.get("database"), entry.get("schema"), identifier)
        parts = tuple(part for part in given if isinstance(part, str) and part)
    return _NAMES.key(parts)


def _owner(test: Mapping[str, Any]) -> str | None:
    """The id of what a test is attached to; manifests before v9 have the nodes that it depends on alone."""
    attached = test.get("attached_node")
    if isinstance(attached, str):
        return attached
    nodes = _mapping(test.get("depends_on")).get("nodes")
    return nodes[0] if isinstance(nodes, list) and len(nodes) == 1 and isinstance(nodes[0], str) else None


def _holds_always(config: Mapping[str, Any]) -> bool:
    """Whether the test is an error for each row that fails it, of all rows."""
    usual = {"fail_calc": "count(*)", "error_if": "!= 0", "where": None}
    severe = str(config.get("severity") or "error").lower() == "error"
    return severe and config.get("enabled", True) and all(config.get(key) in (None, usual[key]) for key in usual)


def _constrained(entry: Mapping[str, Any], kinds: tuple[str, ...]) -> Iterator[frozenset[str]]:
    """The columns of each constraint of these kinds, on a column and on the table."""
    for name, column in _mapping(entry.get("columns")).items():
        for constraint in _listed_mappings(_mapping(column).get("constraints")):
            if constraint.get("type") in kinds:
                yield frozenset({name.casefold()})
    for constraint in _listed_mappings(entry.get("constraints")):
        if constraint.get("type") in kinds:
            yield _column_set(_listed(constraint.get("columns")) or ())


def _column_set(names: Iterable[str]) -> frozenset[str]:
    """Names as they compare; empty where one of them is an expression."""
    found = [name.strip() for name in names]
    if not all(_COLUMN.fullmatch(name) for name in found):
        return frozenset()
    return frozenset(name.strip("`").replace("``", "`").casefold() for name in found)


def _partition_fields(texts: Iterable[str]) -> Iterator[PartitionField]:
    for text in texts:
        yield partition_field(text)


def _listed(value: Any) -> tuple[str, ...] | None:
    """A text or a list of texts as a tuple, absence as an empty one; None where it is something else."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    whole = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return tuple(value) if whole else None


def _listed_mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
