"""What Delta's MERGE does with a condition of ON.

Conditions on partition columns alone are evaluated on the log's metadata, whatever their form; all others are put to
the files' statistics, for which each leg must compare a bare column that has some with constants.
"""

from __future__ import annotations

from dataclasses import replace

from merge_runner.formats.facts.operators import OPERATORS
from merge_runner.formats.facts.statistics import NULL_COUNTS
from merge_runner.pruning.layout.statistics import is_indexed, leaf_type
from merge_runner.pruning.predicate.predicate import Comparison, Predicate, Some, Truth, columns_of
from merge_runner.pruning.skipping.pruning_model import PruningModel
from merge_runner.pruning.skipping.pruning_result import Outcome, outside_the_target, quote_column, target_columns
from merge_runner.pruning.skipping.type_coercion import null_of_cast
from merge_runner.pruning.verdict import listed


class DeltaPruning(PruningModel):
    """Partition values and file statistics, both from the log."""

    format = "delta"
    no_statistics = "{name} is {type}, and files keep no smallest and largest value of that type"

    def whole(self, predicate: Predicate) -> Outcome:
        """Return what a condition does that is evaluated on partition values where these are all it needs."""
        outside = outside_the_target(predicate)
        if outside is not None:
            return outside
        on_partitions = self._on_partitions(predicate)
        if on_partitions is True:
            return self._by_metadata(predicate)
        outcome = self._by_statistics(predicate) if isinstance(predicate, Comparison) else self.part(predicate)
        if on_partitions is False or outcome.prunes is True:
            return outcome
        names = listed(target_columns(predicate))
        reason = (
            f"it prunes if the table is partitioned by {names}, which lint does not know; otherwise: {outcome.reason}"
        )
        return Outcome(None, "unknown-layout", reason, outcome.pattern)

    def _on_partitions(self, predicate: Predicate) -> bool | None:
        """Whether all columns of the predicate are partition columns."""
        answers = [self.layout.is_partition(column.column) for column in columns_of(predicate)]
        if False in answers:
            return False
        return None if None in answers or not answers else True

    def _by_metadata(self, predicate: Predicate) -> Outcome:
        names = target_columns(predicate)
        if isinstance(predicate, Comparison) and predicate.operator == "is not null":
            return self.not_null(predicate)
        plural = "partition columns" if len(names) > 1 else "the partition column"
        return Outcome(True, "prunes", f"{plural} {listed(names)}: files of other partitions are skipped")

    def disjunction(self, predicate: Some) -> Outcome:
        """Return what an OR does: a leg that is NULL keeps every file."""
        outcome = super().disjunction(predicate)
        if any(isinstance(leg, Truth) and leg.is_known for leg in predicate.parts):
            reason = "one leg of the OR is NULL, for which Delta keeps every file"
            return Outcome(False, "or", reason, "or", legs=outcome.legs)
        return replace(outcome, reason=f"{outcome.reason} by file statistics") if outcome.prunes else outcome

    def comparison(self, predicate: Comparison) -> Outcome:
        """Return what a comparison does inside a condition: one of a partition column has no statistics there."""
        is_partition = self.layout.is_partition(predicate.column.column)
        name = quote_column(predicate.column)
        if is_partition is None:
            return Outcome(None, "unknown-layout", f"whether {name} has statistics is unknown")
        if is_partition:
            reason = f"{name} is a partition column, which has no statistics to judge it by here"
            return Outcome(False, "or", reason)
        return self._by_statistics(predicate)

    def _by_statistics(self, predicate: Comparison) -> Outcome:
        name = quote_column(predicate.column)
        if predicate.function is not None and predicate.function != "try_cast":
            return Outcome(False, "wrapped", f"{predicate.function}({name}) is not the bare column", predicate.function)
        indexed = is_indexed(self.layout, predicate.column.path)
        if indexed is False:
            reason = f"{name} is not among the columns that have file statistics"
            return Outcome(False, "no-statistics", reason, "position")
        if predicate.operator in ("is null", "is not null"):
            return self._null_question(predicate, indexed)
        if OPERATORS.answer(predicate.operator, self.format, self.line) != "yes":
            reason = f"nearly every file holds a value of {name} that passes it"
            return Outcome(False, "negation", reason, predicate.operator)
        typed = self.by_types(predicate, leaf_type(self.layout, predicate.column.path))
        if typed is not None:
            return typed
        if indexed is None:
            count = self.layout.indexed
            indexed_columns = "the columns with file statistics" if count is None else f"the first {count} columns"
            return Outcome(
                None, "unknown-layout", f"it prunes if {name} is among {indexed_columns}, which lint does not know"
            )
        if predicate.operator == "in":
            reason = (
                f"the files' smallest and largest {name} are held against the smallest and largest value of the list"
            )
            return Outcome(True, "loose", reason, "in")
        reason = f"file statistics: files whose smallest and largest {name} lie outside are skipped"
        return Outcome(True, "prunes", reason)

    def _null_question(self, predicate: Comparison, indexed: bool | None) -> Outcome:
        name = quote_column(predicate.column)
        data_type = leaf_type(self.layout, predicate.column.path)
        cast = null_of_cast(predicate, data_type)
        if cast is not None:
            return cast
        if data_type is None or indexed is None:
            reason = f"whether files count the NULLs of {name} is unknown: declare its type"
            return Outcome(None, "unknown-type", reason)
        if NULL_COUNTS.answer(data_type.name, self.format, self.line) != "yes":
            reason = f"files do not count the NULLs of {name}, a {data_type}"
            return Outcome(False, "no-statistics", reason, data_type.name)
        if predicate.operator == "is not null":
            return self.not_null(predicate)
        return Outcome(True, "prunes", f"file statistics: files without a NULL in {name} are skipped")
