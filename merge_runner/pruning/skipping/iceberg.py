"""What Iceberg does with a condition of ON: its small grammar, the files' bounds, and the partition transforms."""

from __future__ import annotations

from dataclasses import replace

from merge_runner.formats.facts.operators import OPERATORS, PARTITION_OPERATORS
from merge_runner.formats.facts.statistics import NULL_COUNTS, STATISTICS
from merge_runner.formats.facts.transforms import TRANSFORMS
from merge_runner.formats.types import DataType
from merge_runner.pruning.layout.layout import PartitionField
from merge_runner.pruning.layout.statistics import iceberg_metrics, leaf_type
from merge_runner.pruning.predicate.predicate import All, Comparison, Other, Some, Truth
from merge_runner.pruning.skipping.pruning_model import PruningModel
from merge_runner.pruning.skipping.pruning_result import Outcome, quote_column, strongest_outcome
from merge_runner.pruning.skipping.type_coercion import null_of_cast

_ORDERED = frozenset({"years", "months", "days", "hours", "truncate"})
"""Transforms that keep the order: their calls are put through the files' bounds, on any layout."""


class IcebergPruning(PruningModel):
    """Partition transforms and the bounds of files, both from the manifests."""

    format = "iceberg"
    # Iceberg has no literals of these types (array, map, variant): Spark pushes nothing of an OR with one.
    no_statistics = "files keep no bounds of {name}, a {type}"

    def conjunction(self, predicate: All) -> Outcome:
        """Return what an AND inside an OR does: Iceberg reads a condition as a whole or not at all."""
        parts = [(part, self.part(part)) for part in predicate.parts]
        for _, outcome in parts:
            if outcome.prunes is False and not outcome.pushed:
                return outcome
        unknown = next((outcome for _, outcome in parts if outcome.prunes is None), None)
        return unknown or strongest_outcome(parts)

    def disjunction(self, predicate: Some) -> Outcome:
        """Return what an OR does: Spark drops its legs without columns."""
        legs = tuple(leg for leg in predicate.parts if not (isinstance(leg, Truth) and leg.is_known))
        outcome = super().disjunction(Some(legs))
        return replace(outcome, pattern="or") if outcome.prunes is None else outcome

    def other(self, predicate: Other) -> Outcome:
        """Return what any other condition does: one that is true for no row skips every file."""
        if predicate.kind == "never":
            reason = "NULL is among its values: it is true for no row, so no file is read"
            return Outcome(True, "always-false", reason, "not in")
        return super().other(predicate)

    def comparison(self, predicate: Comparison) -> Outcome:
        """Return what a comparison does: by the partitioning, else by the bounds of the files."""
        column = predicate.column
        if predicate.function is not None and predicate.function != "try_cast":
            return self._call(predicate)
        data_type = _stored_type(leaf_type(self.layout, column.path))
        is_null_question = predicate.operator in ("is null", "is not null")
        typed = null_of_cast(predicate, data_type) if is_null_question else self.by_types(predicate, data_type)
        if typed is not None:
            return typed
        outcome = self._by_partition(predicate) or self._by_bounds(predicate)
        unknown = self.layout.partition_by is None and len(column.path) == 1
        if unknown and outcome.prunes is False:  # identity partitions take every operator of such a comparison
            reason = (
                f"it prunes if the table is partitioned by {quote_column(column)}, which lint does not know; "
                f"otherwise: {outcome.reason}"
            )
            return Outcome(None, "unknown-layout", reason, outcome.pattern)
        return outcome

    def _fields(self, predicate: Comparison) -> list[PartitionField]:
        """Return the fields of the partitioning that are made of the column."""
        folded = predicate.column.column.casefold()
        return [item for item in self.layout.partition_by or () if item.column.casefold() == folded]

    def _by_partition(self, predicate: Comparison) -> Outcome | None:
        """Return what the partitioning makes of it; None where it is left to the files' bounds."""
        if len(predicate.column.path) > 1:
            return None
        if predicate.operator == "is not null":  # every transform of NULL is NULL
            return self.not_null(predicate) if self._fields(predicate) else None
        for item in self._fields(predicate):
            if self._projects(item, predicate):
                return Outcome(True, "prunes", f"the partitioning by {item}: other partitions are skipped")
        return None

    def _projects(self, item: PartitionField, predicate: Comparison) -> bool:
        """Return whether Iceberg turns the comparison into one of the partition's values."""
        prunes = TRANSFORMS.answer((item.transform, predicate.operator), self.format, self.line)
        if prunes is None and item.transform == "identity":
            prunes = PARTITION_OPERATORS.answer(predicate.operator, self.format, self.line)
        if prunes != "yes":
            return False
        if item.transform == "truncate" and predicate.operator in ("startswith", "not like"):
            return _reaches(item, predicate)
        return True

    def _by_bounds(self, predicate: Comparison) -> Outcome:
        name = quote_column(predicate.column)
        useless = next((item for item in self._fields(predicate) if item.transform != "identity"), None)
        pattern = f"transform {useless.transform}" if useless is not None else ""
        asks_null = predicate.operator in ("is null", "is not null")
        if not asks_null and OPERATORS.answer(predicate.operator, self.format, self.line) != "yes":
            reason = f"nearly every file holds a value of {name} that passes it"
            return Outcome(False, "negation", reason, predicate.operator, pushed=True)
        metrics = iceberg_metrics(self.layout, predicate.column.path)
        if metrics == "none" or (metrics == "counts" and not asks_null):
            if useless is not None:
                reason = (
                    f"{useless} cannot be pruned by {predicate.operator.upper()}, and files keep no bounds of {name}"
                )
                return Outcome(False, "transform", reason, useless.transform, pushed=True)
            return Outcome(False, "no-statistics", f"files keep no bounds of {name}", "metrics", pushed=True)
        data_type = leaf_type(self.layout, predicate.column.path)
        if data_type is None:
            return Outcome(None, "unknown-type", f"the type of {name} is unknown: declare it, or give its layout")
        table = NULL_COUNTS if asks_null else STATISTICS
        if table.answer(data_type.name, self.format, self.line) != "yes":
            reason = f"files keep no bounds of {name}, a {data_type}"
            return Outcome(False, "no-statistics", reason, data_type.name, pushed=True)
        if metrics is None:
            reason = f"it prunes if files keep bounds of {name}, which lint does not know"
            return Outcome(None, "unknown-layout", reason)
        if predicate.operator == "is not null":
            return self.not_null(predicate)
        reason = f"file bounds: files whose {name} lies outside are skipped"
        if useless is not None:
            reason += f"; {useless} cannot use it, so only where the value ranges of the files do not overlap"
        return Outcome(True, "prunes", reason, pattern)

    def _call(self, predicate: Comparison) -> Outcome:
        """Return what a call of one of Iceberg's transforms against a constant does."""
        name, function = quote_column(predicate.column), str(predicate.function)
        call = f"{function}({name})"
        for item in self._fields(predicate):
            if item.transform == function and item.parameter == predicate.parameter:
                return Outcome(True, "prunes", f"the partitioning by {item}: other partitions are skipped")
        if function in _ORDERED:
            metrics = iceberg_metrics(self.layout, predicate.column.path)
            if metrics is None or self.layout.partition_by is None:
                return Outcome(None, "unknown-layout", f"it prunes if files keep bounds of {name}, which is not known")
            if metrics != "bounds":
                return Outcome(False, "transform", f"files keep no bounds of {name}", function, pushed=True)
            return Outcome(True, "prunes", f"{call} keeps the order of {name}: files outside are skipped")
        if function == "bucket":
            if self.layout.partition_by is None:
                return Outcome(None, "unknown-layout", f"it prunes if the table is partitioned by this bucket({name})")
            reason = f"the table is not partitioned by bucket({predicate.parameter}, {predicate.column.dotted})"
            return Outcome(False, "transform", reason, "bucket", pushed=True)
        return Outcome(False, "wrapped", f"{call} is no transform that Iceberg knows", function)


def _stored_type(data_type: DataType | None) -> DataType | None:
    """Return the type that Iceberg keeps a column as, and gives it back as."""
    return DataType("int") if data_type is not None and data_type.name in ("tinyint", "smallint") else data_type


def _reaches(item: PartitionField, predicate: Comparison) -> bool:
    """Return whether a prefix is as long as what `truncate` leaves; NOT LIKE needs exactly that length."""
    value = predicate.constants[0].value
    if not isinstance(value, str) or item.parameter is None:
        return False
    length = len(value.rstrip("%"))
    return length == item.parameter if predicate.operator == "not like" else length >= item.parameter
