"""A batch is not restricted to its window.

## What it does
It looks at models with `batch_size`, whose MERGE runs once for each window of time, and asks of each table in USING
that has an `event_time` of its own, through CTEs and subqueries, whether `batch.start` and `batch.end` restrict its
rows: in WHERE, in ON of a join, in a query around it, or by an equality with a column that is restricted. It reports

- a table that is not restricted, or only on one side: an error, and a warning where another one is restricted
- USING without the window, where no table in it has an `event_time`
- `<= {{ batch.end }}`, `between` and `> {{ batch.start }}`: a window has its start, and ends before its end
- ON without the window on the `event_time` of the model, as an info. Where the whole target is scanned P001 says so.

A window that is used in another way, such as `>= {{ batch.start }} - interval 3 days`, is not judged, and so is a
filter by `batch.id`. Rows are never filtered silently. The fix writes the filter where a `ref` or `source` stands alone
in FROM.

## Why it matters
Each batch reads the whole table and merges rows that belong to other batches: a backfill of a year reads it 365 times.
Where ON is restricted to the window, the rows outside of it match nothing and are inserted again by each batch. Where
it is not, a batch may change rows of others, so that no two run at once.

## Bad
```sql
{{ config(partition_by=['dt'], event_time='dt', batch_size='day', begin='2024-01-01') }}

merge into {{ this }} as t
using {{ source('raw', 's') }} as s
    on t.id = s.id and t.dt = s.dt and t.dt >= {{ batch.start }} and t.dt < {{ batch.end }}
when matched then update set *
when not matched then insert *
```

## Good
```sql
{{ config(partition_by=['dt'], event_time='dt', batch_size='day', begin='2024-01-01') }}

merge into {{ this }} as t
using (
    select * from {{ source('raw', 's') }}
    where dt >= {{ batch.start }} and dt < {{ batch.end }}
) as s
    on t.id = s.id and t.dt = s.dt and t.dt >= {{ batch.start }} and t.dt < {{ batch.end }}
when matched then update set *
when not matched then insert *
```

## When to ignore it
Where all rows of a table are meant, as of a small one that the others are joined with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from merge_runner.lint.finding import Edit, Fix
from merge_runner.lint.full_scan import window_filter
from merge_runner.lint.rule import Hit
from merge_runner.plan.batches.batch_values import time_type
from merge_runner.pruning.judge.batch_inputs import BatchInput, BatchInputs
from merge_runner.text import Place, Span

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.pruning.query.source import KnownTable

SEVERITY: Severity = "error"

_TAG = re.compile(r"\{\{-?\s*(ref|source)\((\s*(\"[^\"]*\"|'[^']*')\s*,?){1,2}\)\s*-?\}\}")
_ALIAS = re.compile(
    r"(\s+(as\s+)?(?!(where|group|order|having|limit|union|qualify|window|lateral)\b)(?P<name>\w+))?", re.IGNORECASE
)
_WHERE = re.compile(r"\s+where\s+", re.IGNORECASE)
_END = re.compile(r"\s*(\)|\Z|(group|order|having|limit|union|qualify)\b)", re.IGNORECASE)


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """A hit for each input that the window of a batch does not restrict, or that it restricts in a wrong way."""
    if merge.file.batch is None:
        return
    hits = list(_source_hits(merge, BatchInputs(merge, merge.file.batch)))
    yield from hits or _on_hits(merge)


def _source_hits(merge: LintedMerge, inputs: BatchInputs) -> Iterator[Hit]:
    source = merge.statement.source
    table = merge.lookup(source.parts) if inputs.is_bare else None
    if not inputs.is_readable or (table is not None and table.fixed):
        return
    for border in inputs.borders:
        yield _border_hit(border.side, border.span or source.relation)
    open_inputs = [item for item in inputs.inputs if len(item.sides) < 2]
    is_any_restricted = len(open_inputs) < len(inputs.inputs)
    for item in open_inputs:
        severity: Severity = "warning" if is_any_restricted and not item.sides else "error"
        span = item.span or source.relation
        fix = _filter(merge, item) if not item.sides else None
        yield _input_hit(merge, span, item.known, item.name, item.sides, severity, fix)
    if inputs.inputs or len(inputs.sides) == 2:
        return
    if table is not None and table.event_time is not None:
        fix = _query_with_filter(merge, table, table.event_time)
        yield _input_hit(merge, source.relation, table, ".".join(source.parts), inputs.sides, "error", fix)
    elif inputs.sides:
        yield _input_hit(merge, source.relation, None, "USING", inputs.sides, "error", None)
    else:
        yield Hit(
            source.relation,
            "each batch merges the same rows: USING is not restricted to the window",
            "filter the rows by their time: `where … >= {{ batch.start }} and … < {{ batch.end }}`",
            replaces=("C001 batch",),
        )


def _input_hit(
    merge: LintedMerge,
    span: Span,
    known: KnownTable | None,
    name: str,
    sides: frozenset[str],
    severity: Severity,
    fix: Fix | None,
) -> Hit:
    time = known.event_time if known is not None and known.event_time is not None else "…"
    parts = {"start": f"{time} >= {{{{ batch.start }}}}", "end": f"{time} < {{{{ batch.end }}}}"}
    wanted = " and ".join(part for side, part in parts.items() if side not in sides)
    if not sides:
        message = f"each batch reads all rows of `{name}`, whose event_time is `{time}`"
    else:
        others = "later" if "start" in sides else "earlier"
        of = f" of `{name}`" if known is not None else ""
        message = f"each batch reads the rows{of} of all {others} ones, too"
    types = _other_type(merge, known) if known is not None else None
    hint = f"filter them: `where {wanted}`"
    if types is not None:
        hint += f"; `{time}` is a {types[0]}, the window is one of type {types[1]}: compare them in UTC"
    return Hit(span, message, hint, severity, fix, replaces=("C001 batch",))


def _border_hit(side: str, span: Span) -> Hit:
    if side == "end":
        message, hint = "the rows at `batch.end` are in two batches, in this one and in the next", "< {{ batch.end }}"
    else:
        message, hint = "the rows at `batch.start` are in no batch", ">= {{ batch.start }}"
    return Hit(
        span, message, f"write `{hint}`: a window has its start, and ends before its end", replaces=("C001 batch",)
    )


def _on_hits(merge: LintedMerge) -> Iterator[Hit]:
    """A hit where ON does not name the time of the rows; P001 and its like speak of a scan of the whole target."""
    node, target = merge.file.node, merge.statement.target.qualifier
    time = (node.config.event_time or "").strip("`") if node is not None else ""
    if merge.judgement.verdict == "none" or merge.scans_all_on_purpose:
        return
    trees = [conjunct.expression for conjunct in merge.statement.on]
    named = {ref.column.casefold() for tree in trees if tree is not None for ref in merge.scope.columns(tree)}
    if None in trees or time.casefold() in named:
        return
    yield Hit(
        merge.statement.on_span,
        f"ON does not restrict `{target}.{time}` to the window: a batch may change rows of others, so that batches run "
        "one after another",
        f"where a row never changes `{time}`, add `{window_filter(merge)}` to ON",
        "info",
    )


def _other_type(merge: LintedMerge, known: KnownTable) -> tuple[str, str] | None:
    """Return the types of an input's time and of the window, where the first is known to be another one."""
    column, node = known.layout.column((known.event_time or "").strip("`")), merge.file.node
    if column is None or column.data_type is None or node is None or column.data_type.name == time_type(node):
        return None
    return str(column.data_type), time_type(node)


def _condition(time: str, alias: str | None) -> str:
    column = f"{alias}.{time}" if alias is not None and re.fullmatch(r"`[^`]+`|\w+", time) else time
    return f"{column} >= {{{{ batch.start }}}} and {column} < {{{{ batch.end }}}}"


def _filter(merge: LintedMerge, item: BatchInput) -> Fix | None:
    """Return the fix that filters a table which stands alone in FROM; None where that is not obviously right."""
    span, time = item.span, item.known.event_time
    if span is None or time is None or not item.is_alone or _other_type(merge, item.known) is not None:
        return None
    after = _after_tag(merge, span)
    text, rendered = merge.statement.text, merge.file.rendered
    alias = _ALIAS.match(text, span.end)
    if after is None or alias is None or rendered is None:
        return None
    condition = _condition(time, alias["name"])
    where = _WHERE.match(text, alias.end())
    if where is not None:
        if item.where_is_or or merge.written_at(Span(span.end, where.end())) is None:
            return None
        return Fix(f"filter by `{condition}`", (Edit(rendered.place(where.end(), where.end()), f"{condition} and "),))
    if _END.match(text, alias.end()) is None:
        return None
    if alias.end() > span.end:
        if merge.written_at(Span(span.end, alias.end())) is None:
            return None
        after = rendered.place(alias.end(), alias.end())
    return Fix(f"filter by `{condition}`", (Edit(after, f" where {condition}"),))


def _query_with_filter(merge: LintedMerge, known: KnownTable, time: str) -> Fix | None:
    """Return the fix that makes a filtered query of a table in USING."""
    span = merge.statement.source.relation
    after = _after_tag(merge, span)
    if after is None or merge.file.rendered is None or _other_type(merge, known) is not None:
        return None
    start = merge.file.rendered.place(span.start, span.end)
    before = Place(start.path, start.line, start.column, start.line, start.column)
    condition = _condition(time, None)
    edits = (Edit(before, "(select * from "), Edit(after, f" where {condition})"))
    return Fix(f"filter by `{condition}`", edits)


def _after_tag(merge: LintedMerge, span: Span) -> Place | None:
    """Return the place after the tag of a `ref` or `source` that gives just this name; None where there is none."""
    rendered, text = merge.file.rendered, merge.source_text(span)
    if rendered is None or text is None or _TAG.fullmatch(text) is None:
        return None
    place = rendered.place(span.start, span.end)
    if place.end_line is None or place.end_column is None:
        return None
    return Place(place.path, place.end_line, place.end_column, place.end_line, place.end_column)
