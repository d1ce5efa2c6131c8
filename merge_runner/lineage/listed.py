"""Values as the sorted tuples of the result."""

from __future__ import annotations

from collections.abc import Iterable

from merge_runner.lineage.edge import ColumnLineage, Input, Unresolved
from merge_runner.lineage.value import Value


def sorted_inputs(value: Value) -> tuple[Input, ...]:
    """The inputs in order, each once: a column that is written in several ways is one."""
    inputs: dict[tuple[str, str, str], Input] = {}
    for column_input in sorted(value.inputs):
        inputs.setdefault((column_input.relation, column_input.column.casefold(), column_input.subtype), column_input)
    return tuple(sorted(inputs.values()))


def reasons(values: Iterable[Value]) -> tuple[Unresolved, ...]:
    """What cannot be said of several values, in the order of the text."""
    gaps = {gap for value in values for gap in value.unresolved}
    return tuple(sorted(gaps, key=lambda gap: (gap.span.start if gap.span else -1, gap.reason)))


def column(name: str, value: Value) -> ColumnLineage:
    """A column with what writes it."""
    return ColumnLineage(name, sorted_inputs(value), reasons([value]))
