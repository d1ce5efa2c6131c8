"""The MERGE that a snapshot of dbt becomes, with the columns that dbt's own table has.

dbt makes the changes in a view (`snapshot_staging_table` of dbt-adapters 1.24) and merges it on dbt_scd_id
(`spark__snapshot_merge_sql` of dbt-spark 1.11). Here both are one statement, in which a row that is to be inserted is
open, and one that ends a version is not. Its first run has the rows of `build_snapshot_table`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merge_runner.conversion.dbt.config_call import Value
from merge_runner.conversion.dbt.merge_model import Columns, Merge
from merge_runner.conversion.dbt.model_text import indented
from merge_runner.conversion.dbt.project import DbtModelFile
from merge_runner.conversion.dbt.todo import LeftOutError

_NAMES = ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to")
_COLUMN = re.compile(r"\w+|`[^`]+`")
_NOW = "current_timestamp()"


@dataclass(frozen=True)
class _Snapshot:
    """What the text is made of. `changed` compares `q`, the query, with `c`, the current rows of the table."""

    names: Mapping[str, str]
    keys: tuple[str, ...]
    updated_at: str
    changed: str
    closes_deleted: bool
    valid_to: str


def snapshot_merge(model: DbtModelFile, query: str, columns: Columns) -> Merge:
    """Return the MERGE of a snapshot. Raises LeftOutError."""
    snapshot = _snapshot(model, columns)
    names = snapshot.names
    merge = Merge(_text(query, snapshot))
    merge.config["unique_key"] = Value.of(names["dbt_scd_id"])
    merge.config["full_refresh"] = Value.of(False)
    note = "dbt adds new columns of the query to the table; here declare them, with on_schema_change"
    merge.notes.append((note, model.place))
    return merge


def _snapshot(model: DbtModelFile, columns: Columns) -> _Snapshot:
    renamings = model.setting("snapshot_meta_column_names")
    names = {**{name: name for name in _NAMES}, **(renamings if isinstance(renamings, dict) else {})}
    keys = model.setting_texts("unique_key")
    if not keys or not all(_COLUMN.fullmatch(key) for key in keys):
        reason, hint = f"unique_key of {model.name} is an expression, or missing", "compute it as a column of the query"
        raise LeftOutError(reason, hint, model.place_of("unique_key"))
    deletes = model.setting("hard_deletes") or ("invalidate" if model.setting("invalidate_hard_deletes") else "ignore")
    if deletes not in ("ignore", "invalidate"):
        hint = "write it as a MERGE: `merge_patterns.scd2` (docs/guides/patterns.md)"
        raise LeftOutError(f"hard_deletes of {model.name} is {deletes}", hint, model.place_of("hard_deletes"))
    strategy, updated_at = model.setting("strategy"), model.setting("updated_at")
    if strategy == "timestamp" and isinstance(updated_at, str):
        change = f"c.{names['dbt_valid_from']} < q.{updated_at}"
    elif strategy == "check":
        check_columns = _check_columns(model, columns, [*names.values()])
        change = f"not ({' and '.join(f'q.{name} <=> c.{name}' for name in check_columns)})"
    else:
        reason = f"{model.name} has the strategy {strategy}, which is neither timestamp nor check"
        raise LeftOutError(reason, "write it as a MERGE", model.place_of("strategy"))
    column = f"q.{updated_at}" if isinstance(updated_at, str) else _NOW
    return _Snapshot(
        names, tuple(keys), column, change, deletes == "invalidate", model.setting("dbt_valid_to_current") or "null"
    )


def _check_columns(model: DbtModelFile, columns: Columns, own: Sequence[str]) -> list[str]:
    """The columns that the strategy `check` compares."""
    if model.setting("check_cols") != "all":
        check_columns = model.setting_texts("check_cols")
        if not check_columns:
            raise LeftOutError(f"{model.name} has no check_cols", None, model.place_of("check_cols"))
        return check_columns
    query_columns = columns(model.name)
    if query_columns is None:
        hint = "name the columns in its SELECT, or as check_cols"
        reason = f"check_cols of {model.name} are all columns of its query, which are not known"
        raise LeftOutError(reason, hint, model.place_of("check_cols"))
    return [name for name in query_columns if name.casefold() not in own]


def _text(query: str, snapshot: _Snapshot) -> str:
    scd_id, updated, since, until = (snapshot.names[name] for name in _NAMES)
    now = snapshot.updated_at
    hashed = " || '|' || ".join(
        f"coalesce(cast({column} as string), '')" for column in (*(f"q.{key}" for key in snapshot.keys), now)
    )
    equal_keys = " and ".join(f"q.{key} = c.{key}" for key in snapshot.keys)
    open_until = f"coalesce(nullif({now}, {now}), {snapshot.valid_to})"
    is_open = f"({{}}{until} is null)"
    if snapshot.valid_to != "null":
        is_open = f"({{}}{until} = {snapshot.valid_to} or {{}}{until} is null)"
    new = f"""q.*,
        md5({hashed}) as {scd_id},
        {now} as {updated},
        {now} as {since},
        {open_until} as {until}
    from snapshot_query as q"""
    deleted = f"""
    union all
    -- versions of keys that the query no longer has
    select
        q.*, c.{scd_id}, {_NOW}, {_NOW}, {_NOW}
    from current_rows as c
    left join snapshot_query as q on {equal_keys}
    where q.{snapshot.keys[0]} is null"""
    return f"""merge into {{{{ this }}}} as t
using (
    with snapshot_query as (
{indented(query, 8)}
    )
    {{%- if is_incremental() %}},
    current_rows as (
        select * from {{{{ this }}}} where {is_open.replace("{}", "")}
    )
    {{%- endif %}}
    -- new keys, and new versions of known ones
    select
        {new}
    {{%- if is_incremental() %}}
    left join current_rows as c on {equal_keys}
    where c.{snapshot.keys[0]} is null or {snapshot.changed}
    union all
    -- the versions that end
    select
        q.*, c.{scd_id}, {now}, {now}, {now}
    from snapshot_query as q
    join current_rows as c on {equal_keys}
    where {snapshot.changed}{deleted if snapshot.closes_deleted else ""}
    {{%- endif %}}
) as s
    on s.{scd_id} = t.{scd_id}
when matched and {is_open.replace("{}", "t.")} and not {is_open.replace("{}", "s.")} then
    update set {until} = s.{until}
when not matched and {is_open.replace("{}", "s.")} then insert *
"""
