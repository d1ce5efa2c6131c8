"""What each config key of dbt becomes: a key of merge-runner, a part of the MERGE, or a decision of the author."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from merge_runner.conversion.dbt.config_call import Value
from merge_runner.formats.registry import table_format_of
from merge_runner.project.schema.config import ALL_KEYS
from merge_runner.project.schema.config_layers import config_key
from merge_runner.project.schema.dbt_keys import CONFIG as HINTS

INCREMENTAL_KEYS = frozenset(
    {
        *("incremental_strategy", "incremental_predicates", "predicates", "on_schema_change"),
        *("merge_update_columns", "merge_exclude_columns", "merge_with_schema_evolution"),
        *("matched_condition", "not_matched_condition", "skip_matched_step", "skip_not_matched_step"),
        *("not_matched_by_source_action", "not_matched_by_source_condition", "source_alias", "target_alias"),
        *("batch_size", "lookback", "begin", "concurrent_batches"),
    }
)
"""Keys that the MERGE of an incremental model is made of; they mean nothing for another model."""
SNAPSHOT_KEYS = frozenset(
    {
        *("strategy", "updated_at", "check_cols", "hard_deletes", "invalidate_hard_deletes"),
        *("dbt_valid_to_current", "snapshot_meta_column_names", "target_schema", "target_database"),
    }
)
_CONSUMED = INCREMENTAL_KEYS | SNAPSHOT_KEYS
_WITHOUT_EFFECT = frozenset(
    {
        *("persist_docs", "quoting", "quote_columns", "on_configuration_change", "static_analysis"),
        *("unique_tmp_table_suffix", "incremental_apply_config_changes", "skip_optimize"),
        *("view_update_via_alter", "use_safer_relation_operations"),
    }
)
"""Keys that need no counterpart: what they ask for is always so, or there is nothing that it could apply to."""
MAPPINGS = frozenset(
    {
        *("tblproperties", "persist_docs", "grants", "contract", "docs", "databricks_tags", "quoting", "freshness"),
        *("column_types", "options", "query_tags", "snapshot_meta_column_names"),
    }
)
"""Keys of dbt's whose values are mappings: below `models:` of dbt_project.yml they are no folders."""
DATABRICKS_KEYS = frozenset(
    {
        *("liquid_clustered_by", "auto_liquid_cluster", "zorder", "databricks_tags", "databricks_compute"),
        *("matched_condition", "not_matched_condition", "skip_matched_step", "skip_not_matched_step"),
        *("not_matched_by_source_action", "not_matched_by_source_condition", "source_alias", "target_alias"),
        *("merge_with_schema_evolution", "unique_tmp_table_suffix", "incremental_apply_config_changes"),
    }
)
"""Keys that dbt-databricks has and dbt-spark has not."""
_OF_TABLES = frozenset(
    {"partition_by", "cluster_by", "liquid_clustered_by", "auto_liquid_cluster", "zorder", "buckets", "clustered_by"}
)
"""Keys that dbt takes for tables alone."""
_RENAMED = {"tblproperties": "properties", "liquid_clustered_by": "cluster_by", "sql_header": "pre_hook"}


@dataclass(frozen=True)
class KeyTodo:
    """What the author has to decide about a key of dbt's."""

    key: str
    message: str
    hint: str | None


@dataclass(frozen=True)
class ConfigTranslation:
    """A config as merge-runner has it, and what is left to decide."""

    values: Mapping[str, Value]
    todos: tuple[KeyTodo, ...] = ()


def dbt_key(key: str) -> str:
    """Return a key of dbt's without the `+` of folders, and with underscores."""
    return key.removeprefix("+").replace("-", "_")


def translate_config(config: Mapping[str, Value], kind: str = "table") -> ConfigTranslation:
    """Return what the config of one layer becomes: a call, a YAML mapping, or a folder of dbt_project.yml.

    `kind` is that of the model: for a view and an ephemeral model dbt ignores how a table is laid out.
    """
    values: dict[str, Value] = {}
    todos: list[KeyTodo] = []
    meta: dict[str, tuple[str, object]] = {}
    for spelling, value in config.items():
        key = dbt_key(spelling)
        if kind != "table" and key in (_OF_TABLES | {"contract"} if kind == "ephemeral" else _OF_TABLES):
            continue
        if key in _CONSUMED or key in _WITHOUT_EFFECT or _add_special(key, spelling, value, values, todos):
            continue
        if config_key(spelling) in ALL_KEYS:
            values[config_key(spelling)] = value
        elif key in HINTS:
            todos.append(KeyTodo(spelling, f"`{key}: {value.expression}` is left out", HINTS[key]))
        elif value.is_known:
            meta[key] = spelling, value.value
        else:
            todos.append(KeyTodo(spelling, f"`{key}: {value.expression}` is left out", "write it below `meta`"))
    if meta:
        _add_meta(meta, values, todos)
    return ConfigTranslation(values, tuple(todos))


def _add_special(key: str, spelling: str, value: Value, values: dict[str, Value], todos: list[KeyTodo]) -> bool:
    """Add what a key becomes that is another one here, or has other values; return whether it is such a key."""
    content = value.value
    if key == "materialized":
        if content in ("table", "view", "ephemeral"):
            values[key] = Value.of(content)
    elif key == "partition_by" and isinstance(content, dict) and isinstance(content.get("field"), str):
        values[key] = Value.of([content["field"]])
        todos.append(
            KeyTodo(spelling, f"`partition_by: {value.expression}` becomes its column", "it is BigQuery's form")
        )
    elif key in ("file_format", "table_format"):
        _add_format(key, value, values, todos)
    elif key in _RENAMED:
        values[_RENAMED[key]] = value
    elif key == "zorder":
        values["optimize"] = Value(f"{{'zorder_by': {value.expression}}}", {"zorder_by": content})
        hint = "`merge-runner optimize` does it; add `after: N` to do it with every N-th MERGE"
        todos.append(KeyTodo(spelling, "dbt-databricks compacted the table after each run", hint))
    elif key == "freshness" and isinstance(content, dict) and "build_after" in content:
        values["build_after"] = Value.of(content["build_after"])
    elif key == "meta" and isinstance(content, dict) and isinstance(content.get("merge_runner"), dict):
        # Where a dbt project declares to lint that a full scan is meant: here there is a key for it.
        values |= {name: Value.of(item) for name, item in content["merge_runner"].items()}
        if rest := {name: item for name, item in content.items() if name != "merge_runner"}:
            values[key] = Value.of(rest)
    else:
        return False
    return True


def _add_format(key: str, value: Value, values: dict[str, Value], todos: list[KeyTodo]) -> None:
    if value.value == "default":
        return
    format = table_format_of(value.value) if isinstance(value.value, str) else None
    if format is not None:
        values["format"] = Value.of(format)
    elif value.value is not None:
        hint = "MERGE needs one of the two; a table in another format can be declared as a source"
        todos.append(KeyTodo(key, f"`{key}: {value.expression}` becomes Delta, or the format of its folder", hint))


def _add_meta(own: Mapping[str, tuple[str, object]], values: dict[str, Value], todos: list[KeyTodo]) -> None:
    """Put the values of keys of the project's own below `meta`, next to each the key as it is written."""
    meta = values.get("meta", Value.of({}))
    first = next(spelling for spelling, _ in own.values())
    names = ", ".join(f"`{name}`" for name in own)
    if isinstance(meta.value, dict):
        values["meta"] = Value.of({**meta.value, **{name: value for name, (_, value) in own.items()}})
        hint = f"a macro reads {names} by config.get('meta')"
    else:
        hint = f"add {names} to `meta`, which is an expression here"
    todos.append(KeyTodo(first, f"{names}: no config of merge-runner, kept below `meta`", hint))
