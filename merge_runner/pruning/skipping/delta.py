"""What Delta's MERGE does with a condition of ON.

Conditions on partition columns alone are evaluated on the log's metadata, whatever their form; all others are put to
the files' statistics, for which each leg must compare a bare column that has some with constants.
"""

from __future__ import annotations

from merge_runner.formats.facts.operators import OPERATORS, PARTITION_OPERATORS
from merge_runner.formats.facts.statistics import NULL_COUNTS, STATISTICS
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.layout.statistics import is_indexed, leaf_type
from merge_runner.pruning.predicate.predicate import All, Comparison, Other, Predicate, Some, Truth, columns_of
from merge_runner.pruning.skipping.pruning_result import (
    Outcome,
    beside_the_target,
    never_or_always,
    quoted,
    strongest,
    target_columns,
)
from merge_runner.pruning.skipping.type_coercion import by_cast, by_literal, compared_type, null_of_cast, out_of_range
from merge_runner.pruning.verdict import listed


def delta_outcome(predicate: Predicate, layout: TableLayout) -> Outcome:
    """What a conjunct of ON does to the scan of a Delta table."""
    if isinstance(predicate, All):
        return strongest([(part, delta_outcome(part, layout)) for part in predicate.parts])
    return delta_whole_outcome(predicate, layout)


def delta_whole_outcome(predicate: Predicate, layout: TableLayout) -> Outcome:
    """What a condition does that Delta does not split at its ANDs, as those of WHEN clauses."""
    beside = beside_the_target(predicate)
    if beside is not None:
        return beside
    on_partitions = _on_partitions(predicate, layout)
    if on_partitions is True:
        return _by_metadata(predicate)
    outcome = _by_statistics(predicate, layout, alone=isinstance(predicate, Comparison))
    if on_partitions is False or outcome.prunes is True:
        return outcome
    names = listed(target_columns(predicate))
    reason = f"it prunes if the table is partitioned by {names}, which lint does not know; otherwise: {outcome.reason}"
    return Outcome(None, "unknown-layout", reason, outcome.pattern)


def _on_partitions(predicate: Predicate, layout: TableLayout) -> bool | None:
    """Whether all columns of the predicate are partition columns."""
    answers = [layout.is_partition(column.column) for column in columns_of(predicate)]
    if False in answers:
        return False
    return None if None in answers or not answers else True


def _by_metadata(predicate: Predicate) -> Outcome:
    names = target_columns(predicate)
    if isinstance(predicate, Comparison):
        prunes = PARTITION_OPERATORS.answer(predicate.operator, "delta")
        if prunes != "yes" or predicate.operator == "is not null":
            return Outcome(False, "negation", f"nearly every partition of `{names[0]}` passes it", predicate.operator)
    plural = "partition columns" if len(names) > 1 else "the partition column"
    return Outcome(True, "prunes", f"{plural} {listed(names)}: files of other partitions are skipped")


def _by_statistics(predicate: Predicate, layout: TableLayout, *, alone: bool) -> Outcome:
    """`alone`: the condition is not part of another, so that its column cannot be a partition column here."""
    beside = beside_the_target(predicate)
    if beside is not None:
        return beside
    if isinstance(predicate, Some):
        return _some(predicate, layout)
    if isinstance(predicate, All):
        return strongest([(part, _by_statistics(part, layout, alone=False)) for part in predicate.parts])
    if isinstance(predicate, Comparison):
        if not alone and layout.is_partition(predicate.column.column) is not False:
            reason = f"{quoted(predicate.column)} is a partition column, which has no statistics to judge it by here"
            if layout.is_partition(predicate.column.column) is None:
                return Outcome(None, "unknown-layout", f"whether {quoted(predicate.column)} has statistics is unknown")
            return Outcome(False, "or", reason)
        return _comparison(predicate, layout)
    return other_outcome(predicate)


def _some(predicate: Some, layout: TableLayout) -> Outcome:
    legs = tuple((leg, _by_statistics(leg, layout, alone=False)) for leg in predicate.parts)
    if any(isinstance(leg, Truth) and leg.known for leg in predicate.parts):
        return Outcome(False, "or", "one leg of the OR is NULL, for which Delta keeps every file", "or", legs=legs)
    for wanted in (False, None):
        for _, outcome in legs:
            if outcome.prunes is wanted:
                return _or_outcome(wanted, outcome, legs)
    return Outcome(True, "prunes", "every leg of the OR prunes by file statistics", legs=legs)


def _or_outcome(prunes: bool | None, leg: Outcome, legs: tuple[tuple[Predicate, Outcome], ...]) -> Outcome:
    if prunes is None:
        return Outcome(None, leg.cause, f"one leg of the OR cannot be judged: {leg.reason}", leg.pattern, legs=legs)
    return Outcome(False, "or", f"one leg of the OR cannot prune, so the whole does not: {leg.reason}", "or", legs=legs)


def _comparison(predicate: Comparison, layout: TableLayout) -> Outcome:
    column = predicate.column
    name = quoted(column)
    data_type = leaf_type(layout, column.path)
    if predicate.function is not None and predicate.function != "try_cast":
        return Outcome(False, "wrapped", f"{predicate.function}({name}) is not the bare column", predicate.function)
    indexed = is_indexed(layout, column.path)
    if indexed is False:
        reason = f"{name} is not among the columns that have file statistics"
        return Outcome(False, "no-statistics", reason, "position")
    if predicate.operator in ("is null", "is not null"):
        return _null_question(predicate, layout, indexed)
    if OPERATORS.answer(predicate.operator, "delta") != "yes":
        reason = f"nearly every file holds a value of {name} that passes it"
        return Outcome(False, "negation", reason, predicate.operator)
    if data_type is None:
        return Outcome(None, "unknown-type", f"the type of {name} is unknown: declare it, or give its layout")
    if STATISTICS.answer(data_type.name, "delta") != "yes":
        reason = f"{name} is {data_type}, and files keep no smallest and largest value of that type"
        return Outcome(False, "no-statistics", reason, data_type.name)
    typed = by_cast(predicate, data_type, "delta") or by_literal(
        predicate, compared_type(predicate, data_type), "delta"
    )
    if typed is not None:
        return typed
    passes = out_of_range(predicate, compared_type(predicate, data_type))
    if passes is not None:
        return never_or_always(passes, name, data_type)
    if indexed is None:
        those = "the columns with file statistics" if layout.indexed is None else f"the first {layout.indexed} columns"
        return Outcome(None, "unknown-layout", f"it prunes if {name} is among {those}, which lint does not know")
    if predicate.operator == "in":
        reason = f"the files' smallest and largest {name} are held against the smallest and largest value of the list"
        return Outcome(True, "loose", reason, "in")
    return Outcome(True, "prunes", f"file statistics: files whose smallest and largest {name} lie outside are skipped")


def _null_question(predicate: Comparison, layout: TableLayout, indexed: bool | None) -> Outcome:
    name = quoted(predicate.column)
    if predicate.operator == "is not null":
        return Outcome(False, "negation", f"nearly every file holds a value of {name}", "is not null")
    data_type = leaf_type(layout, predicate.column.path)
    cast = null_of_cast(predicate, data_type)
    if cast is not None:
        return cast
    if data_type is None or indexed is None:
        return Outcome(None, "unknown-type", f"whether files count the NULLs of {name} is unknown: declare its type")
    if NULL_COUNTS.answer(data_type.name, "delta") != "yes":
        return Outcome(False, "no-statistics", f"files do not count the NULLs of {name}, a {data_type}", data_type.name)
    return Outcome(True, "prunes", f"file statistics: files without a NULL in {name} are skipped")


def other_outcome(predicate: Other | Truth) -> Outcome:
    """What holds of conditions that are no comparison of one column with constants."""
    if isinstance(predicate, Truth):
        raise TypeError(predicate)
    columns = target_columns(predicate)
    names = listed(columns)
    if predicate.kind == "nullable":
        return Outcome(None, "unknown-type", f"it prunes if {names} cannot be NULL, which lint does not know")
    if predicate.kind == "computed":
        return Outcome(None, "unreadable", f"the pattern for {names} is computed, and what it begins with is not known")
    if predicate.kind == "casts":
        return Outcome(
            None, "unknown-type", f"whether Spark makes one of the casts around {names} is not known", "cast"
        )
    if predicate.kind == "columns":
        others = "each other" if len(columns) > 1 else "a new value for each row"
        return Outcome(False, "columns", f"it compares {names} with {others}, not with a constant", predicate.name)
    if predicate.kind == "never":
        reason = "NULL is among its values: it is true for no row, but no file is skipped for that"
        return Outcome(False, "negation", reason, "not in")
    if predicate.kind == "negation":
        return Outcome(False, "negation", f"nearly every file holds a value of {names} that passes it", predicate.name)
    if predicate.kind == "pattern":
        return Outcome(False, "wrapped", f"{predicate.name} has no fixed beginning to look for", predicate.name)
    reason = f"{names} is inside {predicate.name}: only the bare column can be held against file statistics"
    return Outcome(False, "wrapped", reason, predicate.name)
