"""What a scan of the whole target costs, where known without the table, and how it is avoided.

P001, P002, P006 and K001 report the same scan: they agree on its severity, and name columns of the statement at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from merge_runner.pruning.layout.layout import partition_field

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.pruning.layout.layout import TableLayout

SMALL = 128 * 1024 * 1024
"""Bytes up to which a table is small: a single task of Spark reads them (`spark.sql.files.maxPartitionBytes`)."""

_LITERALS = {"date": "date'…'", "timestamp": "timestamp'…'", "timestamp_ntz": "timestamp_ntz'…'", "string": "'…'"}
_RANGES = frozenset({"date", "timestamp", "timestamp_ntz", "smallint", "int", "bigint", "decimal", "float", "double"})
"""Types whose columns are usually restricted to a range."""

_TRIED = 4
"""Join columns of which a layout is tried: each trial judges the statement, and a key has few columns."""
_MOST_CONDITIONS = 100
"""Conditions of ON up to which a layout is tried: thousands, as generators write them, cost seconds for each trial."""

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def full_scan_severity(merge: LintedMerge) -> Severity:
    """Return how severe a scan of the whole target is.

    `info` where the table's recorded size is small. `error` where it is large, and for a table that is partitioned or
    clustered: it is meant to be large, and there is a column to restrict. Else `warning`: the layout shows nothing that
    the author has missed, be it that the table has none or that it is not known, as in most plain files.
    """
    size = merge.layout.bytes
    if size is not None:
        return "info" if size <= SMALL else "error"
    return "error" if merge.layout.partition_by or merge.layout.cluster_by else "warning"


def full_scan_help(merge: LintedMerge) -> str:
    """Return what to write in this statement and its config so that it does not scan the whole target; some lines."""
    in_project = merge.file.node is not None
    if merge.scans_by_source:
        apart = "no other condition helps: move what that clause does into a separate MERGE"
        return "\n".join(_small_or_growing(merge, apart)) if in_project else apart
    if not in_project or _layout_columns(merge.layout):
        help = constant_filter(merge)
        help += "; config(scan='full') says that scanning everything is meant" if in_project else ""
        return "\n".join(filter(None, (help, _unread(merge), _size(merge))))
    return "\n".join(_small_or_growing(merge, _laid_out_so(merge) or constant_filter(merge)))


def _small_or_growing(merge: LintedMerge, growing: str) -> Iterator[str]:
    yield "where the table stays small: write scan='full' in its config"
    yield f"where it grows: {growing}"
    if (size := _size(merge)) is not None:
        yield size
    elif full_scan_severity(merge) == "warning":
        yield _UNKNOWN


_UNKNOWN = (
    "a warning while nothing says that the table is large: an error for one that is partitioned, clustered or recorded "
    "with more than 128 MiB (`debug --write-catalog`)"
)


def constant_filter(merge: LintedMerge, column: str | None = None) -> str:
    """Return which condition of ON would prune; `column` is the one to restrict, where a rule is about one."""
    names = (column,) if column is not None else _layout_columns(merge.layout)
    how = "by which the table is partitioned" if merge.layout.partition_by else "by which the table is clustered"
    also = ", and the source in USING by the same" if merge.inserts else ""
    if not names and (shared := _shared_times(merge)):
        example = _example(merge, shared[0])
        columns = " or ".join(f"`{name}`" for name in shared)
        return f"where a row never changes {columns}, restrict it by a constant in ON ({example}){also}"
    if not names:
        return f"restrict a column that has file statistics by a constant in ON{also}"
    columns = " or ".join(f"`{name}`" for name in names)
    if column is None:
        columns += f", {how},"
    return f"restrict {columns} by a constant in ON ({_example(merge, names[0])}){also}"


def _shared_times(merge: LintedMerge) -> tuple[str, ...]:
    """The dates and timestamps of the target that the source is known to have, too: rows of one time lie together."""
    times = (
        column.name
        for column in merge.layout.columns or ()
        if column.data_type is not None and column.data_type.name in _LITERALS and column.data_type.name != "string"
    )
    return tuple(islice((name for name in times if merge.source.has_column(name)), 2))


def _example(merge: LintedMerge, name: str) -> str:
    """A condition on the column, in the words of the statement: `t.dt >= date'…'`."""
    column = merge.layout.column(name)
    data_type = column.data_type.name if column is not None and column.data_type is not None else ""
    field = merge.layout.partition_field(name)
    operator = ">=" if data_type in _RANGES and (field is None or field.transform != "bucket") else "="
    named = ".".join(filter(None, (merge.statement.target.qualifier, name)))
    return f"`{named} {operator} {_LITERALS.get(data_type, '…')}`"


def _layout_columns(layout: TableLayout) -> tuple[str, ...]:
    """The columns by which the table is partitioned, else those by which it is clustered."""
    fields = [field.column for field in layout.partition_by or ()]
    return tuple(dict.fromkeys(fields or layout.cluster_by or ()))


def _laid_out_so(merge: LintedMerge) -> str | None:
    """A layout with which this very statement is bounded when it runs; None where none of those tried does it."""
    from merge_runner.pruning.judge.merge_analysis import judge_merge

    format = merge.layout.capabilities
    if format is None or len(merge.judgement.on) > _MOST_CONDITIONS:
        return None
    joined = [condition.columns[0] for condition in merge.judgement.on if condition.cause == "join"]
    for column in islice(dict.fromkeys(joined), _TRIED):
        if format.liquid_clustering:
            layout, config = replace(merge.layout, cluster_by=(column,)), f"cluster_by=['{column}']"
        elif format.partition_transforms:
            field = f"bucket(16, {column})"
            layout, config = replace(merge.layout, partition_by=(partition_field(field),)), f"partition_by=['{field}']"
        else:
            continue
        if judge_merge(merge.statement, layout, merge.lookup, "auto").judgement.verdict == "runtime":
            return f"{config} in its config, and each run is bounded by the values of `{column}` that the source holds"
    return None


def _unread(merge: LintedMerge) -> str | None:
    """Where reading the source stops, where that keeps bounds from being derived."""
    at, file = merge.fixing.at if merge.judgement.left_out is not None else None, merge.file
    if at is None or file.rendered is None:
        return None
    token = at.of(merge.statement.text)
    return (
        f"lint stops reading the source at `{token}`, {file.rendered.place(at.start, at.end)}: write it in another way"
    )


def _size(merge: LintedMerge) -> str | None:
    size, files = merge.layout.bytes, merge.layout.files
    if size is None:
        return None
    held = f"{counted_bytes(size)} in {files} file{'s' * (files != 1)}" if files is not None else counted_bytes(size)
    if size <= SMALL:
        return f"no error yet: the recorded table has {held}, and one task of Spark reads 128 MiB"
    return f"the recorded table has {held}"


def counted_bytes(size: int) -> str:
    """Return a number of bytes for people: `1.2 MiB`."""
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.1f} {_UNITS[unit]}" if unit else f"{size} bytes"
