"""Bounds a MERGE by the values that its source holds, without changing what it does.

The values come from the very rows that the MERGE sees: its source is read as of one version, or materialized. Where
that is not possible, the author's statement runs as it is, and the reason is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from merge_runner.engine.merge.pinned_source import FixedSource, is_view
from merge_runner.engine.merge.source_values import AskedValues, source_values
from merge_runner.engine.merge.statement import RewrittenMerge
from merge_runner.engine.spark.declared_type import declared_type
from merge_runner.engine.spark.errors import EngineError, Kind, engine_errors
from merge_runner.engine.spark.sql import analyse, files_read
from merge_runner.engine.table_format.protocol import TableFormats, TableState
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.runtime_filter import FilterPlan
from merge_runner.pruning.runtime_filter.bound_literal import LiteralType, exact_type, literal_type
from merge_runner.pruning.runtime_filter.bound_predicate import MOST_LISTED, BoundPredicate, bound_predicate
from merge_runner.pruning.runtime_filter.source_pinning import SourcePin
from merge_runner.pruning.verdict import Bound
from merge_runner.relation import quote
from merge_runner.text import Span

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

SMALL = 32 << 20
"""Bytes of a target below which asking for bounds costs more than it spares (measured: equal at 400,000 rows)."""

NEARLY_ALL = 0.9
"""The share of files that bounds would keep, from which on they are left out."""


class _LeaveOutError(Exception):
    """There will be no bounds; the message says why. `usual`: it will be so in the next run too, or lint reports it."""

    def __init__(self, reason: str, *, usual: bool = False) -> None:
        super().__init__(reason)
        self.usual = usual


@contextmanager
def prepared_statement(
    step: RunMerge,
    session: SparkSession,
    table_format: TableFormats,
    fixing: SourcePin | None = None,
) -> Iterator[RewrittenMerge]:
    """The statement of a step with its source pinned and its runtime filter; inside the block it can be run.

    `fixing`: its source is fixed, bounds or not, where that changes nothing of what the MERGE does.

    Raises EngineError where the engine is lost or the run is stopped, and nothing else: what else goes wrong costs the
    bounds.
    """
    maker = _Maker(step, session, table_format)
    try:
        yield maker.rewrite(step.bounding, fixing)
    finally:
        maker.source.release()


class _Maker:
    """Makes one bounded statement."""

    def __init__(self, step: RunMerge, session: SparkSession, table_format: TableFormats) -> None:
        self.step = step
        self.session = session
        self.statement = step.judged.statement
        self.format = table_format(step.judged.layout.format)
        self.rewritten = RewrittenMerge(step.sql)
        self.source = FixedSource(self.statement, self.rewritten, session, table_format)

    def rewrite(self, plan: FilterPlan | None, fixing: SourcePin | None) -> RewrittenMerge:
        if plan is not None and (reason := self._attempt(lambda: self._derive(plan))) is not None:
            self._leave_out(reason)
        if fixing is not None and not self.rewritten.edits:
            failed = self._attempt(lambda: self._fix(fixing))
            self.rewritten.not_fixed = str(failed) if failed is not None else None
        return self.rewritten

    def _attempt(self, work: Callable[[], None]) -> _LeaveOutError | None:
        """Do some work; return why it could not be done."""
        try:
            work()
        except _LeaveOutError as reason:
            return reason
        except EngineError as error:
            if error.kind is not Kind.USER:
                raise
            # The statement itself will say what is wrong with its source, and where.
            return _LeaveOutError(f"reading the source's values failed: {error.message}")
        return None

    def _fix(self, fixing: SourcePin) -> None:
        if fixing.left_out is not None:
            raise _LeaveOutError(fixing.left_out)
        self._check_no_views(fixing.no_views)
        self.source.fix(fixing.scan, fixing.marks)

    def _note(self, reason: str) -> None:
        self.rewritten.left_out.append(reason)
        self.rewritten.news.append(reason)

    def _leave_out(self, reason: _LeaveOutError) -> None:
        """The author's text, but for a source that is computed already."""
        if reason.usual:
            self.rewritten.left_out.append(str(reason))
        else:
            self._note(str(reason))
        self.rewritten.bounds.clear()
        if not self.rewritten.staged:
            self.rewritten.edits.clear()
            self.rewritten.pins.clear()

    def _derive(self, plan: FilterPlan) -> None:
        if plan.left_out is not None:
            raise _LeaveOutError(plan.left_out, usual=True)
        state = self.format.state(self.session, self.step.target)
        if not plan.always:
            self._check_size(state)
        self._check_no_views(plan.pin.no_views)
        questions = self._questions(plan.bounds)
        self.source.fix(plan.pin.scan, plan.pin.marks)
        source = self.rewritten.piece(self.statement.source.span)
        values = source_values(self.session, self.statement.with_text, source, [item for _, item in questions])
        predicates: list[tuple[Bound, BoundPredicate]] = []
        for (bound, item), bound_values in zip(questions, values, strict=True):
            if bound_values is None:
                self._note(f"`{bound.column}`: the source holds values that no literal can express")
            else:
                column, nothing = self._column(bound), self._nothing(bound, item)
                predicates.append(
                    (
                        bound,
                        bound_predicate(column, bound_values, most_values=self._list_length(bound), nothing=nothing),
                    )
                )
        if not predicates:
            raise _LeaveOutError("no column is left to bound")
        text = " AND ".join(predicate.text for _, predicate in predicates)
        if not plan.always:
            self._check_share(text, state)
        end = self.statement.on_span.end
        self.rewritten.edits.append((Span(end, end), f" AND {text}"))
        self.rewritten.condition = text
        self.rewritten.bounds.update({bound.column: predicate.words for bound, predicate in predicates})

    def _check_size(self, state: TableState) -> None:
        if state.files == 0:
            raise _LeaveOutError("the target is empty", usual=True)
        if state.bytes < SMALL:
            size = f"{state.bytes / (1 << 20):.1f} MiB in {state.files} file{'s' if state.files > 1 else ''}"
            raise _LeaveOutError(f"the target is small ({size})", usual=True)

    def _check_no_views(self, names: Sequence[Sequence[str]]) -> None:
        for parts in names:
            if is_view(self.session, parts):
                raise _LeaveOutError(f"what the view {'.'.join(parts)} reads is not known")

    def _check_share(self, condition: str, state: TableState) -> None:
        if not self.format.capabilities.counts_files_by_query:
            return
        qualifier = quote(str(self.statement.target.qualifier))
        scanned = files_read(self.session, f"SELECT 1 FROM {self.step.target} AS {qualifier} WHERE {condition}")
        if scanned >= NEARLY_ALL * state.files:
            raise _LeaveOutError(f"the source touches {scanned:,} of {state.files:,} files")

    def _questions(self, bounds: Sequence[Bound]) -> list[tuple[Bound, AskedValues]]:
        """The bounds whose column and value have types that are compared as the values themselves."""
        with engine_errors():
            columns = {field.name.casefold(): field for field in self.session.table(str(self.step.target)).schema}
        texts = [bound.source.of(self.statement.text) for bound in bounds]
        selection = ", ".join(f"({text}) AS b{place}" for place, text in enumerate(texts))
        source = self.statement.source.span.of(self.statement.text)
        types = analyse(self.session, f"{self.statement.with_text}SELECT {selection} FROM {source}").fields
        questions = []
        for bound, text, value in zip(bounds, texts, types, strict=True):
            own = columns.get(bound.column.casefold())
            kind = _literal_type(own, value.dataType.simpleString()) if own is not None else None
            if own is not None and kind is None:
                types_of_both = f"{own.dataType.simpleString()}, its value {value.dataType.simpleString()}"
                self._note(f"`{bound.column}` is {types_of_both}: cast the value to the column's type")
            elif kind is not None:
                by_statistics = self.step.judged.layout.is_partition(bound.column) is not True
                questions.append((bound, AskedValues(text, kind, bound.null_safe, by_statistics)))
        if not questions:
            raise _LeaveOutError("no column is left to bound")
        return questions

    def _column(self, bound: Bound) -> str:
        return f"{quote(str(self.statement.target.qualifier))}.{quote(bound.column)}"

    def _nothing(self, bound: Bound, item: AskedValues) -> str:
        """A condition that no row passes, and that keeps every partition and file from being read."""
        if self.format.capabilities.plans_false:
            return "false"
        # `false` makes Spark 4.1.4 fail to plan a copy-on-write MERGE (None.get in RewritePredicateSubquery).
        value = item.kind.literal("" if item.kind.step is None else 0)
        return f"({self._column(bound)} < {value} AND {self._column(bound)} > {value})"

    def _list_length(self, bound: Bound) -> int:
        """Up to how many values a list makes the engine skip more than ranges do."""
        layout = self.step.judged.layout
        if layout.is_partition(bound.column):
            return MOST_LISTED
        return self.format.capabilities.most_listed


def _literal_type(column: StructField, value: str) -> LiteralType | None:
    """How values of a type are compared with a column of a table."""
    column_type, value_type = exact_type(column.dataType.simpleString()), exact_type(value)
    if column_type is None or value_type is None or declared_type(column).startswith("char"):
        return None  # Spark pads what it compares with a char(n)
    return literal_type(column_type, value_type)
