"""What an expression is made of, and what becomes of that in another expression."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from merge_runner.lineage.edge import Direct, Indirect, Input, Unresolved
from merge_runner.text import Span

_RANK: dict[str, int] = {"identity": 0, "transformation": 1, "aggregation": 2}


@dataclass(frozen=True, slots=True)
class Value:
    """The inputs of an expression. `fields` are those of a struct that the expression makes, by name, case folded."""

    inputs: frozenset[Input] = frozenset()
    unresolved: frozenset[Unresolved] = frozenset()
    fields: Mapping[str, Value] = field(default_factory=dict, compare=False)

    def direct(self, by: Direct) -> Value:
        """The value after a transformation or aggregation of it; what it was before counts where that is more."""
        inputs = [
            Input(column_input.relation, column_input.column, by)
            if _RANK.get(column_input.subtype, 3) < _RANK[by]
            else column_input
            for column_input in self.inputs
        ]
        return Value(frozenset(inputs), self.unresolved)

    def deciding(self, role: Indirect) -> Value:
        """The value where it only decides; what decided about it already keeps its own name."""
        inputs = [
            Input(column_input.relation, column_input.column, role) if column_input.is_direct else column_input
            for column_input in self.inputs
        ]
        return Value(frozenset(inputs), self.unresolved)

    def at(self, path: Iterable[str]) -> Value:
        """The field of a struct that a path of names leads to; a field of any other column counts as the column."""
        value = self
        for name in path:
            value = value.fields.get(name.casefold(), value)
        return value


NOTHING = Value()


def union(values: Iterable[Value]) -> Value:
    """All that several values are made of; with one, the value itself."""
    parts = [value for value in values if value != NOTHING]
    if not parts:
        return NOTHING
    if len(parts) == 1:
        return parts[0]
    inputs = frozenset().union(*(value.inputs for value in parts))
    return Value(inputs, frozenset().union(*(value.unresolved for value in parts)))


def unknown(reason: str, span: Span | None = None) -> Value:
    """A value whose inputs cannot be said."""
    return Value(unresolved=frozenset([Unresolved(reason, span)]))
