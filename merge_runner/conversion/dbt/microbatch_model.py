"""The MERGE with batches that a microbatch model of dbt becomes: what dbt filters by itself is in its text.

dbt filters each `ref` and `source` that has an `event_time` by the window of a batch, and then replaces the window in
the table: dbt-spark 1.11 by INSERT OVERWRITE of partitions, dbt-databricks 1.12 by REPLACE WHERE. Neither looks at a
`unique_key`.
"""

from __future__ import annotations

import re

from merge_runner.conversion.dbt.merge_model import Columns, Merge, MergeMaker
from merge_runner.conversion.dbt.model_text import indented
from merge_runner.conversion.dbt.project import DbtModelFile, EventTimes
from merge_runner.conversion.dbt.todo import LeftOutError

_KEYS = ("event_time", "batch_size", "begin", "lookback", "concurrent_batches")
_NEEDED = ("event_time", "batch_size", "begin")
_BOUNDS = (">= {{ batch.start }}", "< {{ batch.end }}")
_TEXT = r"(?:'(\w+)'|\"(\w+)\")"
_READ = re.compile(rf"\{{\{{-?\s*(ref|source)\(\s*{_TEXT}(?:\s*,\s*{_TEXT})?\s*\)(\.render\(\))?\s*-?\}}\}}")
_BOUND = re.compile(r"(['\"])\{\{-?\s*model\.batch\.event_time_(start|end)\s*-?\}\}\1")
_ID = re.compile(r"\{\{-?\s*model\.batch\.id\s*-?\}\}")
_OF_DBT = re.compile(r"model\.batch\b[.\w]*|\w*__dbt_internal_microbatch\w*|model\[['\"]batch['\"]\][.\w]*")


def microbatch_merge(
    model: DbtModelFile, query: str, adapter: str | None, columns: Columns, event_times: EventTimes, *, is_typed: bool
) -> Merge:
    """Return the MERGE of a microbatch model. `is_typed`: YAML has the type of its time. Raises LeftOutError."""
    for key in _NEEDED:
        if model.setting(key) is None:
            reason = f"{model.name} has the strategy microbatch, and no {key}"
            raise LeftOutError(reason, f"dbt needs {key}, too", model.place_of("incremental_strategy", "materialized"))
    maker = MergeMaker(model, adapter, columns)
    query = _with_windows(model, _with_batch_values(model, query), event_times, maker)
    time = str(model.setting("event_time"))
    if not is_typed:
        maker.note(
            f"declare the type of {time} in YAML: batch.start and batch.end are timestamps without it", "event_time"
        )
    window = [f"{maker.target}.{time} {bound}" for bound in _BOUNDS]
    keys = model.setting_texts("unique_key")
    text = _upsert(maker, query, keys, window) if keys else _replacement(maker, query, window, time)
    config = {key: model.config[key] for key in _KEYS if model.setting(key) is not None}
    change = model.setting("on_schema_change")
    if change not in (None, "ignore"):
        maker.note("columns are as declared: declare new ones in YAML, with on_schema_change", "on_schema_change")
    return Merge(text, config, maker.result.notes)


def _upsert(maker: MergeMaker, query: str, keys: list[str], window: list[str]) -> str:
    note = (
        "dbt replaces the window, and this merges it by the key: rows of the window that the query no longer has stay; "
        "WHEN NOT MATCHED BY SOURCE, limited to the window, deletes them, and reads the whole table"
    )
    maker.note(note, "unique_key")
    on = [maker.on(keys), *window]
    return f"""merge into {{{{ this }}}} as {maker.target}
using (
{indented(query)}
) as {maker.source}
    on {_joined(on)}
when matched then update set *
when not matched then insert *
"""


def _replacement(maker: MergeMaker, query: str, window: list[str], time: str) -> str:
    """The MERGE that replaces a window: one row of the source matches all that the table has of it.

    WHEN NOT MATCHED BY SOURCE would do so, too, and make both formats read and write the whole table for each batch.
    The equality of ON is there for the engine, which joins by it.
    """
    own = f"{maker.source}.{time}"
    on = [*maker.predicates(), *window, f"({window[0]}) = ({own} is null)"]
    inserted = f"{own} {_BOUNDS[0]} and {own} {_BOUNDS[1]}"
    return f"""merge into {{{{ this }}}} as {maker.target}
using (  -- noqa: C003 -- one row of it matches: that without values
    with batch_rows as (
{indented(query, 8)}
    )
    -- the rows of the batch, and one without values, which matches what the table has of the window
    select batch_rows.*
    from batch_rows
    full outer join (select 1) as replaced on false
) as {maker.source}
    on {_joined(on)}
when matched then delete
when not matched and {inserted} then insert *
"""


def _joined(conditions: list[str]) -> str:
    return "\n    and ".join(conditions)


def _with_windows(model: DbtModelFile, query: str, event_times: EventTimes, maker: MergeMaker) -> str:
    """Return a query whose inputs with an `event_time` are filtered, as dbt does it, but for those with `.render()`."""
    count = 0

    def filtered(tag: re.Match[str]) -> str:
        nonlocal count
        names = [name for name in tag.groups()[1:5] if name is not None]
        if tag[6] is not None:
            return tag[0].replace(".render()", "")
        time = event_times.get((names[-1],) if tag[1] == "ref" else tuple(names))
        if time is None:
            return tag[0]
        count += 1
        return f"(select * from {tag[0]} where {time} >= {{{{ batch.start }}}} and {time} < {{{{ batch.end }}}})"

    text = _READ.sub(filtered, query)
    if not count and "batch." not in text:
        note = "no input of its query has an event_time, as in dbt: each batch reads all rows"
        maker.note(note, "event_time")
    return text


def _with_batch_values(model: DbtModelFile, query: str) -> str:
    """Return a query with the batch as it is called here. Raises LeftOutError for what has no such name."""
    text = _BOUND.sub(lambda bound: f"{{{{ batch.{bound[2]} }}}}", query)
    text = _ID.sub("{{ batch.id }}", text)
    if (own := _OF_DBT.search(text)) is not None:
        at = model.source.text.find(own[0])
        reason = f"{model.name} reads {own[0]}, which has another form here"
        hint = "write {{ batch.start }} and {{ batch.end }}, which are literals of SQL, or {{ batch.id }}"
        raise LeftOutError(reason, hint, model.source.place(max(at, 0)))
    return text
