"""The MERGE that dbt-spark generates for an incremental model, from the model's config.

`spark__get_merge_sql` (dbt-spark 1.3 to 1.11, incremental/strategies.sql) fixes its form: each of
incremental_predicates and then each unique_key, joined by AND as they are written; `FALSE` without a unique_key; UPDATE
of all columns or of merge_update_columns; INSERT of all. The source is a temporary view over the model's query, without
a schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merge_runner.lint.dbt.manifest import DbtNode

_FORMATS = ("delta", "iceberg", "hudi")
DECIDING = frozenset(
    {
        *(
            "get_merge_sql",
            "spark__get_merge_sql",
            "dbt_spark_get_incremental_sql",
            "materialization_incremental_spark",
        ),
        *("get_merge_update_columns", "spark__get_merge_update_columns", "create_table_as", "spark__create_table_as"),
        *("create_temporary_view", "spark__create_temporary_view"),
    }
)
"""Macros of dbt-spark that decide what is merged."""


@dataclass(frozen=True)
class Unknown:
    """`why` the MERGE of a model, or its query, is not known; empty where there is no special reason."""

    why: str = ""
    needs_query: bool = False
    """Whether the MERGE is known as soon as the columns of the model's query are."""


def next_merge(
    node: DbtNode, adapter: str | None, overriding: frozenset[str], columns: Callable[[], tuple[str, ...] | None]
) -> str | Unknown:
    """Return the MERGE of an incremental model with the strategy merge, or why it is not known.

    `overriding` are the names of the macros that are not dbt's own; `columns` gives those of the table, None where they
    are not all known.
    """
    config = node.config
    predicates = config.get("predicates") or config.get("incremental_predicates") or []
    updated = config.get("merge_update_columns") or []
    keys = unique_keys(config)
    if not node.merges or node.materialized != "incremental" or adapter != "spark" or not node.relation:
        return Unknown()
    if node.language != "sql":
        return Unknown("not a SQL model")
    if config.get("file_format") not in _FORMATS:
        return Unknown("dbt-spark merges into delta, iceberg and hudi")
    if overridden := sorted(DECIDING & overriding):
        return Unknown(f"the project overrides {overridden[0]}")
    if not _texts(predicates):
        return Unknown("incremental_predicates must be a list of strings")
    if keys is None or not _texts(updated):
        return Unknown("unique_key and merge_update_columns must be columns")
    if excluded := config.get("merge_exclude_columns"):
        if updated or not _texts(excluded):
            return Unknown("merge_exclude_columns must be a list of columns, without merge_update_columns")
        existing = columns()
        if existing is None:
            return Unknown("merge_exclude_columns depends on the columns of the table", needs_query=True)
        left_out = {name.lower() for name in excluded}
        updated = [f"`{name}`" for name in existing if name.lower() not in left_out]
    joined = [f"DBT_INTERNAL_SOURCE.{key} = DBT_INTERNAL_DEST.{key}" for key in keys]
    on = " and ".join([*predicates, *(joined or ["FALSE"])])
    setting = ", ".join(f"{name} = DBT_INTERNAL_SOURCE.{name}" for name in updated) or "*"
    identifier = node.relation.rpartition(".")[2]
    return (
        f"merge into {node.relation} as DBT_INTERNAL_DEST\n"
        f"    using {identifier}__dbt_tmp as DBT_INTERNAL_SOURCE\n"
        f"    on {on}\n"
        f"    when matched then update set {setting}\n"
        "    when not matched then insert *\n"
    )


def unique_keys(config: Mapping[str, Any]) -> list[str] | None:
    """Return the unique_key of a model's config as a list, empty without one; None where it is something else."""
    unique_key = config.get("unique_key") or []
    keys = [unique_key] if isinstance(unique_key, str) else unique_key
    return keys if _texts(keys) else None


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
