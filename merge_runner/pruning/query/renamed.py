"""The rows of a query under other column names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from merge_runner.pruning.layout.layout import TableColumn
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.term import Col, Term
from merge_runner.pruning.query.source import SourceFacts, name_at


def renamed(facts: SourceFacts, names: Sequence[str]) -> SourceFacts:
    """The rows under the column names that an alias such as `v(a, b)` gives them."""
    if not names:
        return facts
    if facts.columns is None or len(facts.columns) != len(names):
        return SourceFacts(tuple(TableColumn(name) for name in names), readable=facts.readable)
    columns = tuple(replace(column, name=name) for column, name in zip(facts.columns, names, strict=True))
    rename = by_position(facts, replace(facts, columns=columns))
    new = {old.name.casefold(): column.name.casefold() for old, column in zip(facts.columns, columns, strict=True)}
    unique, not_null = (
        tuple(frozenset(new[name] for name in key) for key in keys if key <= new.keys())
        for keys in (facts.unique, facts.unique_not_null)
    )
    restrictions = tuple(replaced(item, rename) for item in facts.restrictions)
    nulled = frozenset(new[name] for name in facts.nulled & new.keys())
    return SourceFacts(columns, unique, restrictions, facts.readable, unique_not_null=not_null, nulled=nulled)


def by_position(facts: SourceFacts, other: SourceFacts) -> Callable[[Term], Term | None]:
    """Exchanges the columns of one for those of the other in the same position."""
    pairs = enumerate(zip(facts.columns or (), other.columns or (), strict=False))
    new = {name_at(old.name, place): name_at(column.name, place) for place, (old, column) in pairs}

    def rename(item: Term) -> Term | None:
        return Col(0, new[item.name], item.path) if isinstance(item, Col) and item.name in new else None

    return rename
