"""A MERGE over those partitions of its source that have changed since it ran last (`reuse: partitions`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.table_format.stored_version import Partition
from merge_runner.merge.parse import parse
from merge_runner.merge.splice import splice
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.runtime_filter import bounding
from merge_runner.plan.steps.skip_unchanged import SkipUnchanged, skipping
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.judge.partition_reuse import joined_columns
from merge_runner.relation import Relation, quote

if TYPE_CHECKING:
    from merge_runner.engine.context import NodeContext

MOST = 100
"""Partitions from which on the whole source is read."""

_MAPPING = "delta.columnMapping.mode"
_SAME_AS_TEXT = frozenset(("string", "date", "tinyint", "smallint", "int", "bigint"))
"""Types whose values Spark casts to the texts by which Delta names partitions."""


@dataclass(frozen=True)
class ChangedPartitions:
    """The only rows that a MERGE needs of its source: those with these values, by columns of the source table."""

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        first = ", ".join(f"{name}={value}" for name, value in zip(self.columns, self.values[0], strict=True))
        number = len(self.values)
        return f"{first}" + (f" and {number - 1} more" if number > 1 else "")


def changed_only(step: RunMerge, partitions: frozenset[Partition]) -> ChangedPartitions | str:
    """Return which rows a MERGE needs where these partitions of its source have changed; a text: why it needs all."""
    joined = joined_columns(step.judged)
    if isinstance(joined, str):
        return joined
    found = set()
    for partition in partitions:
        values = [(name, value) for name, value in partition if name.casefold() in joined]
        if not values:
            return "ON joins by no column by which its source is partitioned"
        if any(value is None for _, value in values):
            return "a partition of NULL has changed"
        found.add(tuple((name, str(value)) for name, value in values))
    if not found or len(found) > MOST:
        return f"{len(found):,} partitions have changed"
    ordered = sorted(found)
    names = tuple(name for name, _ in ordered[0])
    if any(tuple(name for name, _ in each) != names for each in ordered):
        return "its partitions have different columns"
    return ChangedPartitions(names, tuple(tuple(value for _, value in each) for each in ordered))


def over_partitions(
    step: RunMerge,
    changed: ChangedPartitions,
    context: NodeContext,
    bounds: Literal["auto", "off"] | Sequence[str],
    skip_unchanged: SkipUnchanged,
) -> RunMerge | str:
    """Return the MERGE over the partitions, which has the whole one with it; a text says why there is none.

    Raises EngineError.
    """
    statement, scan = step.judged.statement, step.judged.reading.scan
    if scan is None:
        return "its source is more than filtered rows of one table"
    name, table = scan.span.of(statement.text), Relation(scan.parts[-1], *reversed(scan.parts[:-1]))
    table_format = context.table_format(scan.format)
    layout = table_format.layout(context.session, table)
    if layout.properties.get(_MAPPING, "none") != "none" or not set(changed.columns) <= set(layout.partition_by):
        return "its partition columns have other names in its log"
    joined = joined_columns(step.judged)
    source, target = column_types(name, context), column_types(str(step.target), context)
    kinds = [source[column.casefold()] for column in changed.columns]
    for column, kind in zip(changed.columns, kinds, strict=True):
        if kind not in _SAME_AS_TEXT:
            return f"its partition column {column} has the type {kind}"
        if isinstance(joined, str) or target.get(joined[column.casefold()]) != kind:
            return f"ON compares its partition column {column} with a column of another type"
    conditions = (map(table_format.in_partition, changed.columns, kinds, values) for values in changed.values)
    rows = " OR ".join(f"({' AND '.join(each)})" for each in conditions)
    alias = "" if scan.aliased else f" AS {quote(scan.parts[-1])}"
    text = splice(step.sql, [(scan.span, f"(SELECT * FROM {name} WHERE {rows}){alias}")])
    return over_rows(step, text, bounds, skip_unchanged)


def over_rows(
    step: RunMerge, text: str, bounds: Literal["auto", "off"] | Sequence[str], skip_unchanged: SkipUnchanged
) -> RunMerge:
    """Return a MERGE as a text that reads some rows of its source alone; it has the whole one with it."""
    judged = judge_merge(parse(text), step.judged.layout, step.judged.lookup, bounds)
    return replace(
        step,
        sql=text,
        judged=judged,
        bounding=bounding(judged, bounds),
        skipping=skipping(judged, skip_unchanged),
        whole=step,
    )


def column_types(table: str, context: NodeContext) -> dict[str, str]:
    """Return the types of the columns of a table by their folded names; one that pads or limits texts has its own."""
    with engine_errors():
        fields = context.session.table(table).schema.fields
    limited = "__CHAR_VARCHAR_TYPE_STRING"
    return {field.name.casefold(): field.metadata.get(limited, field.dataType.simpleString()) for field in fields}
