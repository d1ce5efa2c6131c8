"""How a MERGE will be bounded when it runs: by which columns, and where their values are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from merge_runner.merge.sql import tokenize
from merge_runner.pruning.source_reading import Scan, rest_reads_clock, source_reading

if TYPE_CHECKING:
    from merge_runner.merge.statement import MergeStatement
    from merge_runner.pruning.judged import JudgedMerge
    from merge_runner.pruning.judgement import Bound


_HIDDEN = frozenset(
    {
        "_metadata",
        *("_deleted", "_file", "_last_updated_sequence_number", "_partition", "_pos", "_row_id", "_spec_id"),
    }
)
"""Columns that a table has and `SELECT *` does not give: Spark's of files, and Iceberg's MetadataColumns."""


@dataclass(frozen=True)
class Bounding:
    """The bounds that the runner derives. The rows that they come from are the rows that the MERGE sees.

    `scan` is the table whose filtered rows the source is: it is read as of one version, by the question for the values
    and by the MERGE. None: the source is more than that, or has no versions, and is computed once. `always`: the author
    named the columns, so that it is not asked whether bounds pay. `no_views` are names that must not turn out to be
    views, whose queries are not known. `left_out` says in words why there will be no bounds.
    """

    bounds: tuple[Bound, ...]
    scan: Scan | None = None
    always: bool = False
    no_views: tuple[tuple[str, ...], ...] = ()
    left_out: str | None = None

    def __str__(self) -> str:
        columns = ", ".join(bound.column for bound in self.bounds)
        if self.left_out is not None:
            return f"no bounds on {columns}: {self.left_out}"
        where = "the source is computed once"
        if self.scan is not None:
            where = f"{'.'.join(self.scan.parts)} is read as of one version"
        return f"bounds on {columns} by the values of the source: {where}"


def bounding(merge: JudgedMerge, wanted: Literal["auto", "off"] | Sequence[str]) -> Bounding | None:
    """The bounds of a MERGE; None where none can be derived, or its text alone bounds it and none are asked for."""
    bounds = merge.judgement.bounds
    always = wanted not in ("auto", "off")
    if not bounds or (merge.judgement.verdict != "runtime" and not always):
        return None
    statement = merge.statement
    reading = source_reading(statement, merge.lookup)
    if statement.target.qualifier is None:
        return Bounding(bounds, left_out="the target has neither a plain name nor an alias")
    if not reading.readable:
        return Bounding(bounds, left_out="its source cannot be read, so that it is not known what it depends on")
    if any(_same(name, statement.target.parts) for name in reading.tables):
        return Bounding(bounds, left_out="the source reads the target, which another writer may change in between")
    if reading.reads_clock and rest_reads_clock(statement):
        reason = "source and clauses read the clock, and would read it at two times"
        return Bounding(bounds, left_out=reason)
    if _named_through_schema(statement):
        return Bounding(bounds, left_out="columns are qualified by the schema of the source: give the source an alias")
    if statement.source.query is None and _uses_hidden_columns(statement):
        return Bounding(bounds, left_out="hidden columns of the source are used")
    scan = None if reading.reads_clock else reading.scan
    return Bounding(bounds, scan, always, reading.unknown)


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names may mean one table: a schema or catalog may be left out."""
    length = min(len(one), len(other))
    return not length or [part.casefold() for part in one[-length:]] == [part.casefold() for part in other[-length:]]


def _named_through_schema(statement: MergeStatement) -> bool:
    """Whether a column of a source without an alias is called `schema.table.column`: no other text can be so named."""
    source = statement.source
    if source.alias is not None or len(source.parts) < 2:
        return False
    sql = tokenize(statement.text)
    wanted = [part.casefold() for part in source.parts[-2:]]
    for i in range(len(sql.tokens) - 3):
        names = [sql.word(i).strip("`").casefold(), sql.word(i + 2).strip("`").casefold()]
        inside = source.relation.start <= sql.tokens[i].start < source.relation.end
        if names == wanted and sql.key(i + 1) == sql.key(i + 3) == "." and not inside:
            return True
    return False


def _uses_hidden_columns(statement: MergeStatement) -> bool:
    sql = tokenize(statement.text)
    return any(sql.word(i).strip("`").casefold() in _HIDDEN for i in range(len(sql.tokens)))
