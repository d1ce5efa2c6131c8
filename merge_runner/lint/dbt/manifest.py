"""Read the nodes of dbt's manifest.json: the tables that they create, and what their statements are made of.

Read as plain data, whatever its version: the keys that are read have the same meaning from v7 (dbt 1.3) to v12
(1.8 and later). What is absent, or of another shape, is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from merge_runner.formats.registry import table_format_of
from merge_runner.formats.types import parse_type
from merge_runner.merge.expression import name_parts
from merge_runner.plan.layout.layout_file import Namespace, TableKey
from merge_runner.pruning.layout.layout import PartitionField, TableColumn, TableLayout, partition_field
from merge_runner.pruning.layout.table_properties import with_properties

_DELTA_BY_DEFAULT = frozenset({"databricks", "fabricspark"})
"""Adapters that create Delta tables where `file_format` is not set; dbt-spark leaves it to the session."""
_ENFORCING = frozenset({"merge", "delete+insert"})
"""Strategies of an incremental model that keep its unique_key unique."""
_DEFAULT_STRATEGY = {"spark": "append", "fabricspark": "append", "databricks": "merge"}
"""By adapter, the strategy of an incremental model whose config has none."""
_COLUMN = re.compile(r"`(?:[^`]|``)+`|\w+")
_NAMES = Namespace()


@dataclass(frozen=True)
class DbtNode:
    """A model, seed, snapshot or source of a dbt project.

    `file` is the path of its text below run/ and compiled/, `path` that of its own file in its package, `patch` that of
    the YAML file that describes it. `raw_code` and `compiled_code` are empty where the manifest has none. `macros` are
    the ids of those that it calls.
    """

    name: str
    key: TableKey
    layout: TableLayout
    file: str | None = None
    kind: str = "model"
    package: str = ""
    path: str | None = None
    patch: str | None = None
    relation: str = ""
    language: str = "sql"
    raw_code: str = ""
    compiled_code: str = ""
    macros: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    strategy: str | None = None
    """Of an incremental model."""
    inputs: tuple[str, ...] = ()
    """The ids of the nodes that it reads."""

    @property
    def materialized(self) -> str | None:
        """How dbt creates it."""
        materialization = self.config.get("materialized")
        return materialization if isinstance(materialization, str) else None

    @property
    def merges(self) -> bool:
        """Whether dbt runs a MERGE for it, once its table exists."""
        return self.kind == "snapshot" or (self.materialized == "incremental" and self.strategy == "merge")

    @property
    def appends_by_default(self) -> bool:
        """Whether merge is only the adapter's default here, which its documentation calls an append without a key."""
        keys = ("incremental_strategy", "unique_key", "merge_update_columns", "merge_exclude_columns")
        return self.strategy == "merge" and not any(self.config.get(key) for key in keys)


class ManifestReader:
    """Reads the nodes of a manifest, with the adapter and the macros by their ids."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._entries = {**_mapping(manifest.get("nodes")), **_mapping(manifest.get("sources"))}
        self.adapter: str | None = _text(_mapping(manifest.get("metadata")).get("adapter_type")) or None
        self.macros: Mapping[str, Mapping[str, Any]] = {
            key: macro for key, macro in _mapping(manifest.get("macros")).items() if isinstance(macro, Mapping)
        }
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
            kind, package = entry["resource_type"], str(entry.get("package_name"))
            path = _path(entry.get("original_file_path"))
            yield (
                unique_id,
                DbtNode(
                    str(entry.get("name")),
                    key,
                    layout,
                    f"{package}/{path}" if path is not None and kind in ("model", "snapshot") else None,
                    kind,
                    package,
                    path,
                    _path(entry.get("patch_path")),
                    _text(entry.get("relation_name")),
                    _text(entry.get("language")) or "sql",
                    _text(entry.get("raw_code")),
                    _text(entry.get("compiled_code")),
                    _texts_of(_mapping(entry.get("depends_on")).get("macros")) or (),
                    config,
                    self._strategy(config),
                    _texts_of(_mapping(entry.get("depends_on")).get("nodes")) or (),
                ),
            )

    def _strategy(self, config: Mapping[str, Any]) -> str | None:
        if config.get("materialized") != "incremental":
            return None
        strategy = config.get("incremental_strategy")
        return strategy if isinstance(strategy, str) else _DEFAULT_STRATEGY.get(self.adapter or "")

    def model(self, unique_id: str, entry: Mapping[str, Any], config: Mapping[str, Any]) -> TableLayout:
        """A model: a table as its config creates it, or a view."""
        enforced = _mapping(config.get("contract")).get("enforced") is True
        kind = config.get("materialized")
        is_table = kind in ("table", "incremental")
        # dbt creates tables by CREATE TABLE AS, whose columns take NULL; constraints are added under a contract only.
        columns = self._columns(unique_id, entry, enforced, True if is_table else None)
        strategy = config.get("incremental_strategy")
        keyed = kind != "incremental" or strategy in _ENFORCING or (strategy is None and self.adapter != "spark")
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
        format_name = config.get("file_format") or ("delta" if self.adapter in _DELTA_BY_DEFAULT else None)
        if config.get("table_format") not in (None, "default", "delta"):
            format_name = None  # Databricks' managed Iceberg: neither of the two as it is
        # dbt-spark knows no liquid clustering; its `clustered_by` makes buckets, which skip nothing.
        clustered = () if self.adapter == "spark" else _texts_of(config.get("liquid_clustered_by"))
        properties = {
            str(key): str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in _mapping(config.get("tblproperties")).items()
        }
        partitions = _texts_of(config.get("partition_by"))
        layout = TableLayout(
            format=table_format_of(format_name),
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
            for names in _constraint_columns(entry, ("not_null", "primary_key")):
                not_null |= names
        columns = []
        for name, column in _mapping(entry.get("columns")).items():
            data_type = _mapping(column).get("data_type")
            nullable = False if name.casefold() in not_null else otherwise
            columns.append(TableColumn(name, parse_type(data_type) if isinstance(data_type, str) else None, nullable))
        return tuple(columns)

    def _keys(self, unique_id: str, entry: Mapping[str, Any], unique_key: Any) -> tuple[frozenset[str], ...]:
        own = _column_set(_texts_of(unique_key) or ())
        keys = [own, *_constraint_columns(entry, ("unique", "primary_key")), *self._unique.get(unique_id, ())]
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
            key = _column_set(_texts_of(arguments.get("combination_of_columns")) or ())
            self._unique.setdefault(owner, []).append(key)
        elif name in ("unique", "not_null") and isinstance(column, str) and (key := _column_set([column])):
            if name == "unique":
                self._unique.setdefault(owner, []).append(key)
            else:
                self._not_null.setdefault(owner, set()).update(key)


_LAYOUTS: Mapping[str, Callable[[ManifestReader, str, Mapping[str, Any], Mapping[str, Any]], TableLayout]] = {
    "model": ManifestReader.model,
    "seed": ManifestReader.seed,
    "snapshot": ManifestReader.snapshot,
    "source": ManifestReader.source,
}


def _key(entry: Mapping[str, Any]) -> TableKey:
    relation = entry.get("relation_name")
    parts = name_parts(relation) if isinstance(relation, str) else ()
    if not parts:
        identifier = entry.get("alias") or entry.get("identifier") or entry.get("name")
        database_names = (entry.get("database"), entry.get("schema"), identifier)
        parts = tuple(part for part in database_names if isinstance(part, str) and part)
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


def _constraint_columns(entry: Mapping[str, Any], kinds: tuple[str, ...]) -> Iterator[frozenset[str]]:
    """The columns of each constraint of these kinds, on a column and on the table."""
    for name, column in _mapping(entry.get("columns")).items():
        for constraint in _listed_mappings(_mapping(column).get("constraints")):
            if constraint.get("type") in kinds:
                yield frozenset({name.casefold()})
    for constraint in _listed_mappings(entry.get("constraints")):
        if constraint.get("type") in kinds:
            yield _column_set(_texts_of(constraint.get("columns")) or ())


def _column_set(names: Iterable[str]) -> frozenset[str]:
    """Names as they compare; empty where one of them is an expression."""
    stripped = [name.strip() for name in names]
    if not all(_COLUMN.fullmatch(name) for name in stripped):
        return frozenset()
    return frozenset(name.strip("`").replace("``", "`").casefold() for name in stripped)


def _partition_fields(texts: Iterable[str]) -> Iterator[PartitionField]:
    for text in texts:
        yield partition_field(text)


def _texts_of(value: Any) -> tuple[str, ...] | None:
    """A text or a list of texts as a tuple, absence as an empty one; None where it is something else."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    whole = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return tuple(value) if whole else None


def _listed_mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def _path(value: Any) -> str | None:
    """Return a path with forward slashes, without the `package://` that patch_path begins with."""
    return value.rpartition("://")[2].replace("\\", "/") if isinstance(value, str) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
