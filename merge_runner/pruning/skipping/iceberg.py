"""What Iceberg does with a condition of ON: its small grammar, the files' bounds, and the partition transforms."""

from __future__ import annotations

from merge_runner.formats.facts.operators import OPERATORS, PARTITION_OPERATORS
from merge_runner.formats.facts.statistics import NULL_COUNTS, STATISTICS
from merge_runner.formats.facts.transforms import TRANSFORMS
from merge_runner.formats.types import DataType
from merge_runner.pruning.layout.layout import PartitionField, TableLayout
from merge_runner.pruning.layout.statistics import iceberg_metrics, leaf_type
from merge_runner.pruning.predicate.predicate import All, Comparison, Other, Predicate, Some, Truth
from merge_runner.pruning.skipping.delta import other_outcome
from merge_runner.pruning.skipping.pruning_result import Outcome, beside_the_target, never_or_always, quoted, strongest
from merge_runner.pruning.skipping.type_coercion import by_cast, by_literal, compared_type, null_of_cast, out_of_range

_ORDERED = frozenset({"years", "months", "days", "hours", "truncate"})
"""Transforms that keep the order: their calls are put through the files' bounds, on any layout."""


def iceberg_outcome(predicate: Predicate, layout: TableLayout) -> Outcome:
    """What a conjunct does to the scan of an Iceberg table."""
    if isinstance(predicate, All):
        return strongest([(part, iceberg_outcome(part, layout)) for part in predicate.parts])
    return _outcome(predicate, layout)


def _outcome(predicate: Predicate, layout: TableLayout) -> Outcome:
    beside = beside_the_target(predicate)
    if beside is not None:
        return beside
    if isinstance(predicate, Some):
        return _some(predicate, layout)
    if isinstance(predicate, All):
        return _all(predicate, layout)
    if isinstance(predicate, Comparison):
        return _comparison(predicate, layout)
    if isinstance(predicate, Other) and predicate.kind == "never":
        reason = "NULL is among its values: it is true for no row, so no file is read"
        return Outcome(True, "always-false", reason, "not in")
    return other_outcome(predicate)


def _some(predicate: Some, layout: TableLayout) -> Outcome:
    legs = tuple((leg, _outcome(leg, layout)) for leg in predicate.parts if not (isinstance(leg, Truth) and leg.known))
    for wanted in (False, None):
        for _, outcome in legs:
            if outcome.prunes is wanted:
                words = "cannot be judged" if wanted is None else "cannot prune, so the whole does not"
                cause = outcome.cause if wanted is None else "or"
                return Outcome(wanted, cause, f"one leg of the OR {words}: {outcome.reason}", "or", legs=legs)
    return Outcome(True, "prunes", "every leg of the OR prunes", legs=legs)


def _all(predicate: All, layout: TableLayout) -> Outcome:
    """Inside an OR all of an AND must be readable for Iceberg: it takes a condition whole or not at all."""
    parts = [(part, _outcome(part, layout)) for part in predicate.parts]
    for _, outcome in parts:
        if outcome.prunes is False and not outcome.pushed:
            return outcome
    unknown = next((outcome for _, outcome in parts if outcome.prunes is None), None)
    return unknown or strongest(parts)


def _comparison(predicate: Comparison, layout: TableLayout) -> Outcome:
    name = quoted(predicate.column)
    if predicate.function is not None and predicate.function != "try_cast":
        return _call(predicate, layout)
    data_type = _stored(leaf_type(layout, predicate.column.path))
    if predicate.operator not in ("is null", "is not null"):
        if data_type is None:
            return Outcome(None, "unknown-type", f"the type of {name} is unknown: declare it, or give its layout")
        if STATISTICS.answer(data_type.name, "iceberg") != "yes":
            # Iceberg has no literals of these types (array, map, variant): Spark pushes nothing of an OR with one.
            return Outcome(False, "no-statistics", f"files keep no bounds of {name}, a {data_type}", data_type.name)
        typed = by_cast(predicate, data_type, "iceberg") or by_literal(
            predicate, compared_type(predicate, data_type), "iceberg"
        )
        if typed is not None:
            return typed
        passes = out_of_range(predicate, compared_type(predicate, data_type))
        if passes is not None:
            return never_or_always(passes, name, data_type)
    else:
        cast = null_of_cast(predicate, data_type)
        if cast is not None:
            return cast
    outcome = _by_partition(predicate, layout) or _by_bounds(predicate, layout)
    unknown = layout.partition_by is None and len(predicate.column.path) == 1
    if unknown and outcome.prunes is False:  # identity partitions take every operator of such a comparison
        reason = (
            f"it prunes if the table is partitioned by {name}, which lint does not know; otherwise: {outcome.reason}"
        )
        return Outcome(None, "unknown-layout", reason, outcome.pattern)
    return outcome


def _stored(data_type: DataType | None) -> DataType | None:
    """The type that Iceberg keeps a column as, and gives it back as."""
    return DataType("int") if data_type is not None and data_type.name in ("tinyint", "smallint") else data_type


def _by_partition(predicate: Comparison, layout: TableLayout) -> Outcome | None:
    """What the partitioning makes of it; None where it is left to the files' bounds."""
    if len(predicate.column.path) > 1:
        return None
    for item in _fields(predicate, layout):
        if _projects(item, predicate):
            return Outcome(True, "prunes", f"the partitioning by {item}: other partitions are skipped")
    return None


def _fields(predicate: Comparison, layout: TableLayout) -> list[PartitionField]:
    """The fields of the partitioning that are made of the column."""
    folded = predicate.column.column.casefold()
    return [item for item in layout.partition_by or () if item.column.casefold() == folded]


def _projects(item: PartitionField, predicate: Comparison) -> bool:
    """Whether Iceberg turns the comparison into one of the partition's values."""
    prunes = TRANSFORMS.answer((item.transform, predicate.operator), "iceberg")
    if prunes is None and item.transform == "identity":
        prunes = PARTITION_OPERATORS.answer(predicate.operator, "iceberg")
    if prunes != "yes":
        return False
    if item.transform == "truncate" and predicate.operator in ("startswith", "not like"):
        return _reaches(item, predicate)
    return True


def _reaches(item: PartitionField, predicate: Comparison) -> bool:
    """Whether a prefix is as long as what `truncate` leaves; NOT LIKE needs exactly that length."""
    value = predicate.constants[0].value
    if not isinstance(value, str) or item.parameter is None:
        return False
    length = len(value.rstrip("%"))
    return length == item.parameter if predicate.operator == "not like" else length >= item.parameter


def _by_bounds(predicate: Comparison, layout: TableLayout) -> Outcome:
    name = quoted(predicate.column)
    useless = next((item for item in _fields(predicate, layout) if item.transform != "identity"), None)
    pattern = f"transform {useless.transform}" if useless is not None else ""
    if OPERATORS.answer(predicate.operator, "iceberg") != "yes":
        reason = f"nearly every file holds a value of {name} that passes it"
        return Outcome(False, "negation", reason, predicate.operator, pushed=True)
    metrics = iceberg_metrics(layout, predicate.column.path)
    asks_null = predicate.operator == "is null"
    if metrics == "none" or (metrics == "counts" and not asks_null):
        if useless is not None:
            reason = f"{useless} cannot be pruned by {predicate.operator.upper()}, and files keep no bounds of {name}"
            return Outcome(False, "transform", reason, useless.transform, pushed=True)
        return Outcome(False, "no-statistics", f"files keep no bounds of {name}", "metrics", pushed=True)
    data_type = leaf_type(layout, predicate.column.path)
    if data_type is None:
        return Outcome(None, "unknown-type", f"the type of {name} is unknown: declare it, or give its layout")
    table = NULL_COUNTS if asks_null else STATISTICS
    if table.answer(data_type.name, "iceberg") != "yes":
        reason = f"files keep no bounds of {name}, a {data_type}"
        return Outcome(False, "no-statistics", reason, data_type.name, pushed=True)
    if metrics is None:
        return Outcome(None, "unknown-layout", f"it prunes if files keep bounds of {name}, which lint does not know")
    beside = f"; {useless} cannot use it, so only where the value ranges of the files do not overlap" if useless else ""
    reason = f"file bounds: files whose {name} lies outside are skipped{beside}"
    return Outcome(True, "prunes", reason, pattern)


def _call(predicate: Comparison, layout: TableLayout) -> Outcome:
    """A call of one of Iceberg's transforms against a constant."""
    name, function = quoted(predicate.column), str(predicate.function)
    shown = f"{function}({name})"
    for item in _fields(predicate, layout):
        if item.transform == function and item.parameter == predicate.parameter:
            return Outcome(True, "prunes", f"the partitioning by {item}: other partitions are skipped")
    if function in _ORDERED:
        metrics = iceberg_metrics(layout, predicate.column.path)
        if metrics is None or layout.partition_by is None:
            return Outcome(None, "unknown-layout", f"it prunes if files keep bounds of {name}, which is not known")
        if metrics != "bounds":
            return Outcome(False, "transform", f"files keep no bounds of {name}", function, pushed=True)
        return Outcome(True, "prunes", f"{shown} keeps the order of {name}: files outside are skipped")
    if function == "bucket":
        if layout.partition_by is None:
            return Outcome(None, "unknown-layout", f"it prunes if the table is partitioned by this bucket({name})")
        reason = f"the table is not partitioned by bucket({predicate.parameter}, {predicate.column.dotted})"
        return Outcome(False, "transform", reason, "bucket", pushed=True)
    return Outcome(False, "wrapped", f"{shown} is no transform that Iceberg knows", function)
