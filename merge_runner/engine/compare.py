"""Compares the rows of two relations in the engine: nothing but counts and examples comes to the driver."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.comparison.columns import ColumnPair, Columns, match_columns
from merge_runner.comparison.queries import counts, difference, examples, row_count
from merge_runner.comparison.report import Example, FilesRead, Kind, RowCounts
from merge_runner.engine.spark.comparable_value import typed_columns
from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.jvm_util import plain_value
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.protocol import TableFormat, TableVersion
from merge_runner.errors import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_UNEQUAL = "merge_runner_unequal_rows"
_VIEWS = ("merge_runner_left_rows", "merge_runner_right_rows")
SENSITIVE = "(sensitive)"
"""What is shown of a value that must not be seen."""


@dataclass(frozen=True)
class Criteria:
    """How rows are compared.

    `key` identifies a row; empty: rows are compared as a whole. `sensitive` are columns whose values are not shown.
    """

    key: Sequence[str] = ()
    where: str | None = None
    limit: int = 5
    tolerance: float = 0.0
    excluded: Collection[str] = ()
    sensitive: Collection[str] = ()


@dataclass(frozen=True)
class Outcome:
    """What the comparison of two relations has found."""

    columns: Columns
    rows: RowCounts
    changed: Mapping[str, int]
    """The columns with different values, and in how many rows."""
    examples: tuple[Example, ...]
    files: FilesRead | None


def compare_tables(
    session: SparkSession,
    left: TableVersion,
    right: TableVersion,
    format: TableFormat | None,
    criteria: Criteria,
) -> Outcome:
    """Compare two tables; `format` is that of both, None: they have none in common, or one is a view.

    Files that both have are not read. Raises EngineError.
    """
    columns = match_columns(typed_columns(session, str(left)), typed_columns(session, str(right)), criteria.excluded)
    key = _places(columns.pairs, criteria.key)
    if criteria.tolerance and not key:
        message = "without a key rows are equal or not: a tolerance has no meaning"
        raise EngineError("no-key", message, hint="name by --key what identifies a row, or leave --tolerance out")
    left_rows = _row_count(session, left, criteria)
    if not columns.pairs:
        right_rows = _row_count(session, right, criteria)
        return Outcome(columns, RowCounts(left_rows, right_rows, left_rows, right_rows), {}, (), None)
    with _relations_to_read(session, left, right, format) as (relations, files):
        if files is not None and files.left == files.right == 0:
            return Outcome(columns, RowCounts(left_rows, left_rows, 0, 0), {}, (), files)
        with _cached(session, difference(*relations, columns.pairs, key, criteria.where, criteria.tolerance)):
            rows, changed = _counts(session, columns.pairs, left_rows)
            rows_shown = tuple(_examples(session, columns.pairs, key, rows, criteria))
    return Outcome(columns, rows, changed, rows_shown, files)


def _places(pairs: Sequence[ColumnPair], key: Sequence[str]) -> list[int]:
    """Return where the columns of the key are among the pairs. Raises EngineError for one that is not compared."""
    places = {pair.name.casefold(): at for at, pair in enumerate(pairs)}
    for name in key:
        if name.casefold() not in places:
            raise EngineError(
                "unknown-column",
                f'the key column "{name}" is not in both tables, with one type',
                hint=did_you_mean(name, [pair.name for pair in pairs]) or "name the key by --key",
            )
    return [places[name.casefold()] for name in key]


@contextmanager
def _relations_to_read(
    session: SparkSession, left: TableVersion, right: TableVersion, format: TableFormat | None
) -> Iterator[tuple[tuple[str, str], FilesRead | None]]:
    """What is read of the two tables, as relations."""
    whole = str(left), str(right)
    if format is None:
        yield whole, None
        return
    with format.unshared_files(session, left, right, _VIEWS) as files:
        yield (whole if files is None else _VIEWS), files


@contextmanager
def _cached(session: SparkSession, query: str) -> Iterator[None]:
    """The rows of a query are the view _UNEQUAL inside the block: Spark computes them once."""
    with engine_errors(query):
        rows = session.sql(query).persist()
        rows.createOrReplaceTempView(_UNEQUAL)
    try:
        yield
    finally:
        with suppress(Exception):  # a driver that is lost keeps nothing
            rows.unpersist()


def _row_count(session: SparkSession, side: TableVersion, criteria: Criteria) -> int:
    return int(run_statement(session, row_count(str(side), criteria.where))[0][0])


def _counts(session: SparkSession, pairs: Sequence[ColumnPair], left_rows: int) -> tuple[RowCounts, Mapping[str, int]]:
    """Return how many rows differ, and the columns of changed rows with how many rows each.

    The right side has the rows of the left one but for those that one side has more often: it need not be counted.
    """
    row = run_statement(session, counts(_UNEQUAL, len(pairs)))[0]
    only_left, only_right, changed, *by_column = map(int, row)
    columns = {pair.name: count for pair, count in zip(pairs, by_column, strict=True) if count}
    right_rows = left_rows - only_left + only_right
    return RowCounts(left_rows, right_rows, only_left, only_right, changed), columns


def _examples(
    session: SparkSession, pairs: Sequence[ColumnPair], key: Sequence[int], rows: RowCounts, criteria: Criteria
) -> Iterator[Example]:
    """Yield some rows of each kind of difference, in the order of the key."""
    kinds: Sequence[tuple[Kind, int]] = (
        ("changed", rows.changed),
        ("only_left", rows.only_left),
        ("only_right", rows.only_right),
    )
    for kind, count in kinds:
        if count and criteria.limit:
            for row in run_statement(session, examples(_UNEQUAL, kind, len(pairs), key, criteria.limit)):
                yield _example(kind, row, pairs, key, criteria)


def _example(kind: Kind, row: Row, pairs: Sequence[ColumnPair], key: Sequence[int], criteria: Criteria) -> Example:
    left, right, *differing = row
    hidden = {name.casefold() for name in criteria.sensitive}
    numbers = range(len(pairs))
    shown = [at for at in numbers if (differing[at] if kind == "changed" else at not in key)]

    def values(struct: Row, places: Sequence[int]) -> dict[str, Any]:
        return {
            pairs[at].name: SENSITIVE if pairs[at].name.casefold() in hidden else plain_value(struct[at])
            for at in places
        }

    return Example(
        kind,
        values(right if kind == "only_right" else left, key),
        values(left, shown) if kind != "only_right" else {},
        values(right, shown) if kind != "only_left" else {},
    )
