"""What a scan of the whole target costs, where known without the table, and which condition would avoid it.

P001 reports it, or the rules that take its place; they agree on its severity, and name columns of the statement.
`lint/scan_remedies.py` has what else would avoid it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from merge_runner.project.syntax.size import size_in_words
from merge_runner.pruning.layout.layout import base_columns
from merge_runner.pruning.query.restricted_days import restricted_days

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.pruning.layout.layout import TableLayout

SMALL = 128 * 1024 * 1024
"""Bytes up to which a table is small: a single task of Spark reads them (`spark.sql.files.maxPartitionBytes`)."""

_LITERALS = {"date": "date'…'", "timestamp": "timestamp'…'", "timestamp_ntz": "timestamp_ntz'…'", "string": "'…'"}
_RANGES = frozenset({"date", "timestamp", "timestamp_ntz", "smallint", "int", "bigint", "decimal", "float", "double"})
"""Types whose columns are usually restricted to a range."""


def full_scan_severity(merge: LintedMerge) -> Severity:
    """Return how severe a scan of the whole target is.

    `info` where the table's recorded size is small. `error` where it is large, and for a table that is partitioned or
    clustered: it is meant to be large, and there is a column to restrict. Else `warning`: the layout shows nothing that
    the author has missed, be it that the table has none or that it is not known, as in most plain files. It is no error
    where Photon may skip files.
    """
    size = merge.layout.bytes
    if size is not None and size <= SMALL:
        return "info"
    large = size is not None or merge.layout.partition_by or merge.layout.cluster_by
    return "error" if large and not photon_may_skip(merge) else "warning"


def photon_may_skip(merge: LintedMerge) -> bool:
    """Return whether Photon may skip files of the target by what ON joins, when the MERGE runs."""
    format = merge.layout.capabilities
    if format is None or merge.file.platform not in format.may_skip_by_join or merge.scans_by_source:
        return False
    return any(condition.cause == "join" for condition in merge.judgement.on)


def constant_filter(merge: LintedMerge, column: str | None = None) -> str:
    """Return which condition of ON would prune; `column` is the one to restrict, where a rule is about one."""
    names = (column,) if column is not None else layout_columns(merge.layout)
    also = ", and the source in USING by the same" if merge.inserts else ""
    window = window_filter(merge)
    if window is not None and (column is None or f".{column.casefold()} " in window.casefold()):
        return f"restrict the target to the window of the batch in ON (`{window}`){also}"
    how = "by which the table is partitioned" if merge.layout.partition_by else "by which the table is clustered"
    if not names and (shared := shared_times(merge)):
        example = _example(merge, shared[0])
        columns = " or ".join(f"`{name}`" for name in shared)
        return f"where a row never changes {columns}, restrict it by a constant in ON ({example}){also}"
    if not names:
        return f"restrict a column that has file statistics by a constant in ON{also}"
    columns = " or ".join(f"`{name}`" for name in names)
    if column is None:
        columns += f", {how},"
    return f"restrict {columns} by a constant in ON ({_example(merge, names[0])}){also}"


def window_filter(merge: LintedMerge) -> str | None:
    """Return the condition of ON that restricts the target to the window of a batch; None: it has none."""
    node, qualifier = merge.file.node, merge.statement.target.qualifier
    if merge.file.batch is None or node is None or node.config.event_time is None:
        return None
    column = ".".join(filter(None, (qualifier, node.config.event_time)))
    return f"{column} >= {{{{ batch.start }}}} and {column} < {{{{ batch.end }}}}"


def shared_times(merge: LintedMerge) -> tuple[str, ...]:
    """Return the dates and timestamps of the target that the source is known to have, too, two at most.

    Rows of one time lie together.
    """
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
    column_name = ".".join(filter(None, (merge.statement.target.qualifier, name)))
    return f"`{column_name} {operator} {_LITERALS.get(data_type, '…')}`"


def layout_columns(layout: TableLayout) -> tuple[str, ...]:
    """Return the columns by which the table is partitioned, else those by which it is clustered."""
    fields = [field.column for field in layout.partition_by or ()]
    return tuple(dict.fromkeys(fields or layout.cluster_by or ()))


def full_scan_size(merge: LintedMerge) -> str | None:
    """Return what is read, where a recorded catalog has the table: `365 files, 41.0 GiB, for a source of 2 days`."""
    size, files = merge.layout.bytes, merge.layout.files
    if size is None:
        return None
    scanned = f"{files} file{'s' * (files != 1)}, {size_in_words(size)}" if files is not None else size_in_words(size)
    extent = _source_extent(merge)
    return f"{scanned}, for a source of {extent}" if extent is not None else scanned


def scanned(merge: LintedMerge) -> str:
    """Return what ends a message that says why the whole target is scanned: how much that is; empty where not known."""
    size = full_scan_size(merge) if merge.judgement.verdict == "none" else None
    return f"; the whole target is scanned: {size}" if size is not None else ""


def uses_no_partitioning(merge: LintedMerge) -> bool:
    """Return whether the table is partitioned, and ON names no column of its partitioning, or of what it is made of."""
    fields = merge.layout.partition_by or ()
    condition_columns = {column.casefold() for condition in merge.judgement.on for column in condition.columns}
    in_conditions = (
        field.column.casefold() in condition_columns or base_columns(merge.layout, field.column) & condition_columns
        for field in fields
    )
    return bool(fields) and not any(in_conditions)


def _source_extent(merge: LintedMerge) -> str | None:
    """How much the source holds: the days to which it is restricted, or the recorded size of the table that it is."""
    days = restricted_days(merge.source)
    if days is not None:
        return days
    table = merge.lookup(merge.statement.source.parts) if merge.statement.source.parts else None
    return size_in_words(table.layout.bytes) if table is not None and table.layout.bytes is not None else None
