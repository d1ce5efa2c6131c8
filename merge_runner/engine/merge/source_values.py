"""The values that a source holds for columns of the target: queried in Spark, returned as literals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.sql import run_statement
from merge_runner.pruning.runtime_filter.bound_literal import LiteralType, OutOfRangeError
from merge_runner.pruning.runtime_filter.bound_predicate import (
    BoundValues,
    KeyedLiteral,
    ValueRange,
    length_in_common,
    merge_ranges,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_COLLECTED = 10_000
"""Distinct values that come to the driver; of more than these, only the ends of ranges do."""

_BUCKETS = 1000
_PART_OF_HEX = 4
"""The first two bytes in which texts differ: 256 parts of UUIDs, some thousand of any letters and digits."""


@dataclass(frozen=True)
class AskedValues:
    """What is asked: `value` is an expression of the source's row; `null`: whether NULL counts as a value.

    `by_statistics`: files are left out by their statistics, which need not have the values themselves.
    """

    value: str
    kind: LiteralType
    null: bool
    by_statistics: bool

    def range(self, low: Any, high: Any) -> ValueRange | None:
        """Return the range of two keys as literals; None where the column cannot hold one. Raises OutOfRangeError."""
        if self.by_statistics:
            low, high = self.kind.ends(low)[0], self.kind.ends(high)[1]
        first = self.kind.literal(low)
        last = first if low == high else self.kind.literal(high)
        if first is None or last is None:
            return None
        return ValueRange(KeyedLiteral(low, first), KeyedLiteral(high, last))


def source_values(
    session: SparkSession, prefix: str, source: str, items: Sequence[AskedValues]
) -> list[BoundValues | None]:
    """Return the values of each expression in the rows of `source`, a FROM item; `prefix` are CTEs in front.

    None where no literal can represent them. Raises EngineError.
    """
    keys = [item.kind.key.format(value=f"({item.value})") for item in items]
    rows = _distinct(session, prefix, source, keys)
    if rows is not None:
        return [_single(item, {row[place] for row in rows}) for place, item in enumerate(items)]
    values = []
    for key, item in zip(keys, items, strict=True):
        rows = _distinct(session, prefix, source, [key]) if len(items) > 1 else None
        values.append(_single(item, {row[0] for row in rows}) if rows else _ranges(session, prefix, source, key, item))
    return values


def _distinct(session: SparkSession, prefix: str, source: str, keys: Sequence[str]) -> list[Any] | None:
    """The distinct rows of keys; None where they are too many."""
    columns = ", ".join(f"{key} AS k{place}" for place, key in enumerate(keys))
    limit = MOST_COLLECTED + 1
    rows = run_statement(session, f"{prefix}SELECT DISTINCT {columns} FROM {source} LIMIT {limit}")
    return rows if len(rows) < limit else None


def _single(item: AskedValues, keys: set[Any]) -> BoundValues | None:
    null = item.null and None in keys
    try:
        ranges = [range_ for key in keys - {None} if (range_ := item.range(key, key)) is not None]
    except OutOfRangeError:
        return None
    return BoundValues(merge_ranges(ranges), item.kind.step, null)


def _ranges(session: SparkSession, prefix: str, source: str, key: str, item: AskedValues) -> BoundValues | None:
    """The smallest and largest key of many parts of the line."""
    aggregates = f"min({key}) AS low, max({key}) AS high, count_if({key} IS NULL) > 0 AS nulls"
    ends = run_statement(session, f"{prefix}SELECT {aggregates} FROM {source}")[0]
    # Which part a key falls into may be inexact: each part is described by the keys that it really holds.
    if item.kind.step is not None:
        part = f"floor((cast({key} AS double) - {float(ends['low'])!r}D) / {_width(ends)!r}D)"
    else:
        part = f"left({key}, {length_in_common(ends['low'], ends['high']) // 2 * 2 + _PART_OF_HEX})"
    rows = run_statement(
        session,
        f"{prefix}SELECT min(k) AS low, max(k) AS high FROM (SELECT {key} AS k, {part} AS part FROM {source}) "
        "WHERE k IS NOT NULL GROUP BY part",
    )
    ranges = []
    for row in rows:
        try:
            range_ = item.range(row["low"], row["high"])
        except OutOfRangeError:
            return None
        if range_ is None:
            return None  # an end that the column cannot hold, as a bigint beyond all ints
        ranges.append(range_)
    return BoundValues(merge_ranges(ranges), item.kind.step, item.null and ends["nulls"])


def _width(ends: Any) -> float:
    return max((float(ends["high"]) - float(ends["low"])) / _BUCKETS, 1e-9)
