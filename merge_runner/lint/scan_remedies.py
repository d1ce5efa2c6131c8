"""What would keep this very MERGE from scanning its whole target, in the order of its effect, or why nothing does.

A layout is not guessed to help: the statement is judged with it, and it is named where the verdict is `runtime`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from merge_runner.formats.merge_plans import marks
from merge_runner.lint.full_scan import (
    SMALL,
    constant_filter,
    full_scan_severity,
    layout_columns,
    photon_may_skip,
    shared_times,
    window_filter,
)
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import partition_field
from merge_runner.relation import quote

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.merge.statement import MergeStatement
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge
    from merge_runner.pruning.layout.layout import TableLayout

_TRIED = 4
"""Join columns of which a layout is tried: each trial judges the statement, and a key has few columns."""
_MOST_CONDITIONS = 100
"""Conditions of ON up to which a layout is tried: thousands, as generators write them, cost seconds for each trial."""

_UNKNOWN = (
    "a warning while nothing says that the table is large: an error for one that is partitioned, clustered or recorded "
    "with more than 128 MiB (`debug --write-catalog`)"
)


def scan_remedies(merge: LintedMerge, by_layout: str | None = None) -> str:
    """Return what to write in this statement and its config so that it does not scan the whole target; some lines.

    `by_layout` says what to write about the columns that the table is partitioned by, in place of a constant filter.
    """
    return "\n".join(_lines(merge, by_layout))


def _lines(merge: LintedMerge, by_layout: str | None) -> Iterator[str]:
    in_project, size = merge.file.node is not None, merge.layout.bytes
    if not in_project:
        yield _SEPARATE if merge.scans_by_source else by_layout or constant_filter(merge)
    elif layout_columns(merge.layout) and not merge.scans_by_source:
        yield f"{by_layout or constant_filter(merge)}; config(scan='full') says that scanning everything is meant"
        yield from _marking_remedies(merge)
    else:
        is_large = size is not None and size > SMALL
        if not is_large:
            yield "where the table stays small: write scan='full' in its config"
        first, *others = [_SEPARATE] if merge.scans_by_source else _growth_remedies(merge)
        yield first if is_large else f"where it grows: {first}"
        yield from (f"else: {other}" for other in others)
        if is_large:
            yield "where scanning everything is meant: write scan='full' in its config"
    yield from _flag_remedies(merge)
    yield from _unread(merge)
    if photon_may_skip(merge):
        yield _PHOTON
    if size is not None and size <= SMALL:
        yield "no error yet: one task of Spark reads 128 MiB"
    elif size is None and in_project and not photon_may_skip(merge) and full_scan_severity(merge) == "warning":
        yield _UNKNOWN


_PHOTON = (
    "no error on Databricks: with Photon this join skips files when it runs, of a table of 10 GB or more "
    "(`spark.databricks.optimizer.deltaTableSizeThreshold`); other compute reads them all"
)
_SEPARATE = "no other condition helps: move what that clause does into a separate MERGE"


def _growth_remedies(merge: LintedMerge) -> list[str]:
    """What helps a table without a layout as it grows, what leaves out most files first."""
    by_time = (_by_time(merge) or constant_filter(merge)) if shared_times(merge) else None
    remedies = [*filter(None, (by_time, _by_key(merge)))]
    if not remedies:
        remedies = ["; ".join(filter(None, (_unbounded_reason(merge), constant_filter(merge))))]
    return [*remedies, *_marking_remedies(merge)]


def _by_time(merge: LintedMerge) -> str | None:
    """A date or timestamp that both sides have, by which ON could join the table, too."""
    format = merge.layout.capabilities
    target, source = merge.statement.target.qualifier, merge.statement.source.qualifier
    if format is None or target is None or source is None or len(merge.judgement.on) > _MOST_CONDITIONS:
        return None
    if window_filter(merge) is not None:
        return None
    joined = {name.casefold() for condition in merge.judgement.on for name in condition.columns}
    for column in shared_times(merge):
        if column.casefold() in joined:
            continue
        declaration = merge.layout.column(column)
        is_date = declaration is not None and declaration.data_type is not None and declaration.data_type.name == "date"
        field = column if is_date else f"days({column})"
        if is_date or format.partition_transforms:
            layout = replace(merge.layout, partition_by=(partition_field(field),))
            config = f"partition_by=['{field}']"
        else:
            layout, config = replace(merge.layout, cluster_by=(column,)), f"cluster_by=['{column}']"
        condition = f"{quote(target)}.{quote(column)} = {quote(source)}.{quote(column)}"
        if _judge_with(merge, layout, _with_condition(merge.statement, condition)).judgement.verdict == "runtime":
            return (
                f"where a row never changes `{column}`, add `{condition}` to ON, with {config} in its config: each run "
                f"is bounded by the values of `{column}` that the source holds"
            )
    return None


def _with_condition(statement: MergeStatement, condition: str) -> MergeStatement:
    on, text = statement.on_span, statement.text
    return parse(f"{text[: on.start]}({on.of(text)}) and {condition}{text[on.end :]}")


def _by_key(merge: LintedMerge) -> str | None:
    """A layout by a joined column with which this very statement is bounded when it runs."""
    for column, config, layout in _layouts_by_key(merge):
        if _judge_with(merge, layout).judgement.verdict == "runtime":
            return (
                f"{config} in its config, and each run is bounded by the values of `{column}` that the source holds: "
                "few files where they are close to each other, nearly all where there are more random ones than files"
            )
    return None


def _layouts_by_key(merge: LintedMerge) -> Iterator[tuple[str, str, TableLayout]]:
    """Joined columns, each with the config of a layout by it."""
    format = merge.layout.capabilities
    if format is None or len(merge.judgement.on) > _MOST_CONDITIONS:
        return
    joined = [condition.columns[0] for condition in merge.judgement.on if condition.cause == "join"]
    for column in islice(dict.fromkeys(joined), _TRIED):
        if format.liquid_clustering:
            yield column, f"cluster_by=['{column}']", replace(merge.layout, cluster_by=(column,))
        elif format.sort_order:
            yield column, f"sort_by=['{column}']", replace(merge.layout, sort_by=(column,))


def _judge_with(merge: LintedMerge, layout: TableLayout, statement: MergeStatement | None = None) -> JudgedMerge:
    return judge_merge(statement or merge.statement, layout, merge.lookup, "auto", merge.scope.variables)


def _unbounded_reason(merge: LintedMerge) -> str | None:
    """Why no layout by a joined column bounds the statement; None where that is not known."""
    for column, _, layout in _layouts_by_key(merge):
        judgement = _judge_with(merge, layout).judgement
        reasons = [judgement.left_out, *(condition.unbounded for condition in judgement.on)]
        return next((f"no layout by `{column}` helps: {reason}" for reason in reasons if reason is not None), None)
    if merge.layout.capabilities is None or len(merge.judgement.on) > _MOST_CONDITIONS:
        return None
    return "no layout helps: ON joins no column of the target"


def _marking_remedies(merge: LintedMerge) -> Iterator[str]:
    """Marking old rows: every file is read still, and files with few changes are not written again."""
    format = merge.layout.format
    changes = any(clause.action != "insert" for clause in merge.statement.clauses)
    if format is None or not changes or merge.file.platform != "oss" or marks(format, merge.layout.properties):
        return
    yield (
        "low_shuffle=true in its config where a run changes few rows of each file: all files are read still, but "
        "unchanged rows are not written again"
    )


def _flag_remedies(merge: LintedMerge) -> Iterator[str]:
    """Filters by a boolean, which are there for the rows that they select: what could prune next to them."""
    for condition in merge.judgement.on:
        if condition.cause == "no-statistics" and condition.filters and condition.pattern == "boolean":
            yield (
                f"{condition.named} selects rows and skips no file, as Delta keeps no statistics of booleans: "
                f"{goes_with_a_flag(merge)}"
            )


def goes_with_a_flag(merge: LintedMerge) -> str:
    """Return what to restrict next to a flag, which is right as it is: a column that changes with it."""
    types = ("date", "timestamp", "timestamp_ntz")
    columns = (
        column.name for column in merge.layout.columns or () if column.data_type and column.data_type.name in types
    )
    last = " or ".join(f"`{name}`" for name in islice(columns, 2))
    goes = f", such as {last}" if last else ""
    return f"leave it, and restrict a column with statistics that goes with it as well{goes}; or partition by it"


def _unread(merge: LintedMerge) -> Iterator[str]:
    """Where reading the source stops, where that keeps bounds from being derived."""
    at, file = merge.source_pin.at if merge.judgement.left_out is not None else None, merge.file
    if at is not None and file.rendered is not None:
        token = at.of(merge.statement.text)
        place = file.rendered.place(at.start, at.end)
        yield f"lint stops reading the source at `{token}`, {place}: write it in another way"
