"""Leaves rows out of the source of a MERGE that match the target without a change.

The rows that are left are an anti join of the source with the keys of those that change nothing. It reads the target
as the MERGE reads it. On Delta it is in USING: the MERGE reads it in its transaction, and conflicts with what another
writer commits to what it has read. On Iceberg, whose MERGE would not notice that, its rows are computed before: where
no other process writes the table, or on a branch that becomes main if main has not moved.

What is left out has met every condition of the matched clauses without an error, as in the author's MERGE; where the
MERGE fails, the author's runs and fails in its own way. Delta computes conditions of clauses for all rows of the files
that it rewrites, also for those that a clause is not about: an error in one of these need not come up with fewer files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from merge_runner.engine.merge.pinned_source import MATERIALIZE
from merge_runner.engine.merge.statement import Bounded
from merge_runner.engine.response import LeftOut, MergeFigures
from merge_runner.engine.spark.declared_type import declared_type, is_exact
from merge_runner.engine.spark.errors import EngineError, Kind, engine_errors
from merge_runner.engine.spark.sql import analyse, run_statement, temporary_confs
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

    from merge_runner.engine.context import NodeContext
    from merge_runner.plan.steps.merge import RunMerge
    from merge_runner.pruning.judge.unchanged_rows import Change, EqualSides, UnchangedRows

CHANGED = "merge_runner_changed_rows"
"""The view of the rows that are left, where they are computed before the MERGE."""


class _NotReducedError(Exception):
    """No row is left out; the message says why."""


@dataclass
class Reduced:
    """A MERGE without the rows that change nothing.

    `rows_source` are the rows of the source, `rows_merged` those that are left, where these were counted before. Both
    are None where nothing was left out: then `statement` is the one that was given.
    """

    statement: Bounded
    rows_source: int | None = None
    rows_merged: int | None = None

    def figures(self, ran: MergeFigures, context: NodeContext) -> MergeFigures:
        """Return the figures of the MERGE that has run, of the whole source, and note how many rows were left out."""
        if self.rows_source is None:
            return ran
        merged = ran.rows_source if self.rows_merged is None else self.rows_merged
        left_out = self.rows_source - merged if merged is not None else None
        context.output.response.skip_unchanged = LeftOut(left_out)
        return ran if ran.rows_source is None else replace(ran, rows_source=self.rows_source)


@contextmanager
def without_unchanged_rows(
    rows: UnchangedRows, step: RunMerge, made: Bounded, context: NodeContext
) -> Iterator[Reduced]:
    """The statement without the rows that change nothing, inside the block.

    What keeps rows from being left out is noted in the response. Raises EngineError where the engine is lost or the run
    is stopped, and nothing else.
    """
    table_format = context.table_format(step.judged.layout.format)
    reduction = _Reduction(step, rows, made, context.session)
    try:
        if table_format.capabilities.conflicts_with_source_reads:
            reduced = reduction.in_statement()
        else:
            reduced = reduction.computed()
    except _NotReducedError as reason:
        reduced = _as_it_is(made, str(reason), context)
    except EngineError as error:
        if error.kind is not Kind.USER:
            raise
        # The author's statement will say what is wrong, and where.
        reduced = _as_it_is(made, f"asking for changes failed: {error.message}", context)
    try:
        # Else the engine would do the anti join in each of its passes over the source.
        confs = {}
        if reduced.rows_source is not None:
            confs = {MATERIALIZE: "all"}
            context.output.response.skip_unchanged = LeftOut(None)
        with temporary_confs(context.session, confs):
            yield reduced
    finally:
        reduction.release()


def with_whole_source(step: RunMerge, error: EngineError, context: NodeContext) -> RunMerge:
    """Return a MERGE that failed without some rows of its source as its author wrote it, which says why and where.

    Raises the error where no rows were left out, or where it is not about the text.
    """
    if context.output.response.skip_unchanged != LeftOut(None) or error.kind is not Kind.USER:
        raise error
    context.output.response.skip_unchanged = LeftOut(0, f"the MERGE failed without them: {error.message}")
    return replace(step, skipping=None)


def _as_it_is(made: Bounded, reason: str, context: NodeContext) -> Reduced:
    context.output.response.skip_unchanged = LeftOut(0, reason)
    return Reduced(made)


class _Reduction:
    """Makes one reduced statement."""

    def __init__(self, step: RunMerge, rows: UnchangedRows, made: Bounded, session: SparkSession) -> None:
        self.step = step
        self.statement = step.judged.statement
        self.rows = rows
        self.made = made
        self.session = session
        self._frame: object = None

    def in_statement(self) -> Reduced:
        """The rows that are left are found by the MERGE itself. Raises EngineError and _NotReducedError."""
        query, total = self._query()
        return Reduced(self._with_source(f"({query})"), total)

    def computed(self) -> Reduced:
        """The rows that are left are computed now. Raises EngineError and _NotReducedError."""
        query, total = self._query()
        with engine_errors():
            frame = self.session.sql(f"{self._ctes}{query}").localCheckpoint()
            frame.createOrReplaceTempView(CHANGED)
            self._frame = frame
            merged = frame.count()
        return Reduced(self._with_source(CHANGED), total, merged)

    def release(self) -> None:
        """Drop what was computed."""
        if self._frame is None:
            return
        with suppress(Exception):  # the driver may be gone, and with it what it held
            self.session.catalog.dropTempView(CHANGED)
            if hasattr(self._frame, "_jdf"):
                self._frame._jdf.queryExecution().logical().rdd().unpersist(False)

    def _with_source(self, text: str) -> Bounded:
        source = self.statement.source
        alias = f" AS {quote(source.parts[-1])}" if source.alias is None and source.parts else ""
        inside = {span for span, _ in self.made.edits if source.relation.start <= span.start < source.relation.end}
        edits = [(span, edit) for span, edit in self.made.edits if span not in inside and span != source.relation]
        # What ends where the source ends is an edit of it: VERSION AS OF after its name.
        edits = [(span, edit) for span, edit in edits if span.start != source.relation.end]
        return replace(self.made, edits=[*edits, (source.relation, f"{text}{alias}")])

    @property
    def _ctes(self) -> str:
        span = self.statement.with_span
        return f"{self.made.piece(span)}\n" if span is not None else ""

    @property
    def _source(self) -> str:
        return self.made.piece(self.statement.source.span)

    @property
    def _joined(self) -> str:
        target, on = self.made.piece(self.statement.target.span), self.made.piece(self.statement.on_span)
        return f"FROM {self._source}\nJOIN {target}\nON {on}\n"

    def _query(self) -> tuple[str, int]:
        """The query for the rows that are left, and how many rows the source has."""
        if self.made.not_fixed is not None:
            raise _NotReducedError(f"the source may give other rows each time: {self.made.not_fixed}")
        keys, changed = self._typed()
        total = self._unique(keys)
        return self._left(keys, changed), total

    def _typed(self) -> tuple[list[EqualSides], str]:
        """The keys whose values are the same on both sides where they are equal, and the condition of a change."""
        text = self.statement.text
        columns = self._columns() if any(change.compares for change in self.rows.changes) else {}
        sets = [self._set(change, columns) for change in self.rows.changes]
        sides = [span.of(text) for key in self.rows.keys for span in (key.source, key.target)]
        values = [value for each in sets for _, value in each or ()]
        given = ", ".join(f"({piece}\n) AS c{number}" for number, piece in enumerate([*sides, *values]))
        types = [_exact(field) for field in analyse(self.session, f"{self._ctes}SELECT {given} {self._joined}").fields]
        pairs = zip(types[: len(sides) : 2], types[1 : len(sides) : 2], strict=True)
        keys = [key for key, (one, other) in zip(self.rows.keys, pairs, strict=True) if one == other is not None]
        if not keys:
            raise _NotReducedError("no key of ON has one type on both sides whose equal values are the same")
        cases, at = "", len(sides)
        for change, each in zip(self.rows.changes, sets, strict=True):
            condition = f"({change.condition.of(text)}\n) IS TRUE" if change.condition is not None else "true"
            own = types[at : at + len(each or ())]
            at += len(own)
            cases += f" WHEN {condition} THEN {self._differs(each, own, columns)}"
        return keys, f"CASE{cases} ELSE false END"

    def _columns(self) -> dict[str, StructField]:
        with engine_errors():
            return {field.name.casefold(): field for field in self.session.table(str(self.step.target)).schema}

    def _set(self, change: Change, columns: dict[str, StructField]) -> list[tuple[str, str]] | None:
        """The columns that an UPDATE sets, with the texts of their values; None: each pair counts as changed."""
        if change.star:
            source = self.statement.source.qualifier
            if source is None or self.statement.schema_evolution:
                return None
            return [(name, f"{quote(source)}.{quote(field.name)}") for name, field in columns.items()]
        if change.sets is None or any(name not in columns for name, _ in change.sets):
            return None
        return [(name, value.of(self.statement.text)) for name, value in change.sets]

    def _differs(
        self, sets: Sequence[tuple[str, str]] | None, types: Sequence[str | None], columns: dict[str, StructField]
    ) -> str:
        if sets is None or any(
            own is None or own != _exact(columns[name]) for (name, _), own in zip(sets, types, strict=True)
        ):
            return "true"
        target = quote(str(self.statement.target.qualifier))
        same = [f"{target}.{quote(columns[name].name)} <=> ({value}\n)" for name, value in sets]
        return f"NOT ({' AND '.join(same)})"

    def _unique(self, keys: Sequence[EqualSides]) -> int:
        """How many rows the source has. Raises _NotReducedError where several of them have one key."""
        text = self.statement.text
        given = ", ".join(f"({key.source.of(text)}\n) AS k{number}" for number, key in enumerate(keys))
        names = ", ".join(f"k{number}" for number in range(len(keys)))
        strict = [f"k{number} IS NOT NULL" for number, key in enumerate(keys) if not key.null_safe]
        row = run_statement(
            self.session,
            f"{self._ctes}SELECT coalesce(sum(n), 0) AS total, max(IF({' AND '.join(strict) or 'true'}, n, 0)) AS most "
            f"FROM (SELECT {names}, count(*) AS n FROM (SELECT {given} FROM {self._source}\n) GROUP BY {names})",
        )[0]
        if (row["most"] or 0) > 1:
            # Several of them may match one target row, which is an error of the MERGE, or not all match.
            raise _NotReducedError(f"up to {row['most']:,} rows of the source have one key")
        return int(row["total"])

    def _left(self, keys: Sequence[EqualSides], changed: str) -> str:
        text, names = self.statement.text, [f"merge_runner_key_{number}" for number in range(len(keys))]
        values = [f"({key.source.of(text)}\n)" for key in keys]
        given = ", ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
        equal = " AND ".join(
            f"{value} {'<=>' if key.null_safe else '='} merge_runner_unchanged.{name}"
            for key, value, name in zip(keys, values, names, strict=True)
        )
        listed = ", ".join(names)
        return (
            f"SELECT * FROM {self._source}\n"
            f"LEFT ANTI JOIN (SELECT {listed} FROM (SELECT {given}, {changed} AS merge_runner_changed\n{self._joined}) "
            f"GROUP BY {listed} HAVING NOT bool_or(merge_runner_changed)) AS merge_runner_unchanged\nON {equal}"
        )


def _exact(field: StructField) -> str | None:
    """Spark's name of a type two values of which are equal only where they are the same; None for others."""
    name = field.dataType.simpleString()
    return name if is_exact(name) and not declared_type(field).startswith("char") else None
