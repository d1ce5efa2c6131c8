"""How the rows of a source are pinned, so that they are the same for every query before the MERGE reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.merge.syntax.sql import tokenize
from merge_runner.pruning.runtime_filter.source_determinism import Scan, SourceReading, rest_reads_clock, source_reading
from merge_runner.pruning.runtime_filter.target_reads import Mark, target_marks
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.merge.statement import MergeStatement, Source, Target
    from merge_runner.pruning.query.source import Lookup


_HIDDEN = frozenset(
    {
        "_metadata",
        *("_deleted", "_file", "_last_updated_sequence_number", "_partition", "_pos", "_row_id", "_spec_id"),
    }
)
"""Columns that a table has and `SELECT *` does not give: Spark's of files, and Iceberg's MetadataColumns."""
_ANY_HIDDEN = re.compile("|".join(sorted(_HIDDEN)))


@dataclass(frozen=True)
class SourcePin:
    """How a source is fixed.

    `scan` is the table whose filtered rows the source is: it is read as of one version. None: the source is more than
    that, or has no versions, and is computed once. `marks` are what it reads of the target: their values are computed
    before, and the MERGE checks that they are still the same. `no_views` are names that must not turn out to be views,
    whose queries are not known. `left_out` says in words why it is not fixed.
    """

    scan: Scan | None = None
    no_views: tuple[tuple[str, ...], ...] = ()
    left_out: str | None = None
    marks: tuple[Mark, ...] = ()
    at: Span | None = None
    """The token of the statement that `left_out` is about, where it is about one."""


def pin_source(statement: MergeStatement, lookup: Lookup) -> SourcePin:
    """How the source of a MERGE is fixed so that the MERGE does what it would do without."""
    reading = source_reading(statement, lookup)
    if not reading.readable:
        return SourcePin(left_out=f"{reading.unread}, so it is not known which tables it reads", at=reading.at)
    marks: tuple[Mark, ...] = ()
    if reads_target(statement, reading):
        marks = target_marks(statement)
        reading = source_reading(statement, lookup, marks)
        if not marks or reads_target(statement, reading):
            return SourcePin(left_out="the source reads rows of the target, which another writer may change in between")
    if reading.reads_clock and rest_reads_clock(statement):
        return SourcePin(left_out="source and clauses read the clock, and would read it at two times")
    if named_through_schema(statement, statement.source):
        return SourcePin(left_out="columns are qualified by the schema of the source: give the source an alias")
    if statement.source.query is None and _uses_hidden_columns(statement):
        return SourcePin(left_out="hidden columns of the source are used")
    return SourcePin(None if reading.reads_clock else reading.scan, reading.unknown, marks=marks)


def bounds_left_out(statement: MergeStatement, pin: SourcePin) -> str | None:
    """Why the runner derives no bounds from a source that is fixed so, whatever ON says; None: it does."""
    if statement.target.qualifier is None:
        return "the target has neither a plain name nor an alias"
    return pin.left_out


def reads_target(statement: MergeStatement, reading: SourceReading) -> bool:
    """Whether the source names a table that may be the target."""
    return any(is_named_alike(name, statement.target.parts) for name in reading.tables)


def is_named_alike(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two names may mean one table: a schema or catalog may be left out."""
    length = min(len(left), len(right))
    return not length or [part.casefold() for part in left[-length:]] == [part.casefold() for part in right[-length:]]


def named_through_schema(statement: MergeStatement, table: Source | Target) -> bool:
    """Whether a column of a table without an alias is called `schema.table.column`: no other text can be so named."""
    if table.alias is not None or not table.parts:
        return False
    sql = tokenize(statement.text)
    name = table.parts[-1].casefold()
    for i in range(len(sql.tokens) - 3):
        inside = table.relation.start <= sql.tokens[i].start < table.relation.end
        if sql.word(i + 2).strip("`").casefold() == name and sql.key(i + 1) == sql.key(i + 3) == "." and not inside:
            return True
    return False


def _uses_hidden_columns(statement: MergeStatement) -> bool:
    if _ANY_HIDDEN.search(statement.text.casefold()) is None:
        return False
    sql = tokenize(statement.text)
    return any(sql.word(i).strip("`").casefold() in _HIDDEN for i in range(len(sql.tokens)))
