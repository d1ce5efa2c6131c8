"""Values as the sorted tuples of the result."""

from __future__ import annotations

from collections.abc import Iterable

from merge_runner.lineage.edge import ColumnLineage, Input, Unresolved
from merge_runner.lineage.value import Value


def listed(value: Value) -> tuple[Input, ...]:
    """The inputs in order, each once: a column that is written in several ways is one."""
    found: dict[tuple[str, str, str], Input] = {}
    for each in sorted(value.inputs):
        found.setdefault((each.relation, each.column.casefold(), each.subtype), each)
    return tuple(sorted(found.values()))


def reasons(values: Iterable[Value]) -> tuple[Unresolved, ...]:
    """What cannot be said of several values, in the order of the text."""
    found = {each for value in values for each in value.unresolved}
    return tuple(sorted(found, key=lambda each: (each.span.start if each.span else -1, each.reason)))


def column(name: str, value: Value) -> ColumnLineage:
    """A column with what writes it."""
    return ColumnLineage(name, listed(value), reasons([value]))
