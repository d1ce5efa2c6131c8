"""What a MERGE does to a table, in plain Python: the oracle that builds are compared with.

SQL:2016, 14.12, and what Spark, Delta and Iceberg add to it: clauses in the order in which they are written, WHEN NOT
MATCHED BY SOURCE, `*`, and several matches of one row, which a lone unconditional DELETE allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from tests.oracle.expression import Expression, Row, evaluate, holds

Kind = OneOf["matched", "not matched", "not matched by source"]
Assignments = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Update:
    """SET: columns and their new values, which see the row as it was; None: `*`."""

    assignments: Assignments | None


@dataclass(frozen=True)
class Delete:
    """DELETE."""


@dataclass(frozen=True)
class Insert:
    """INSERT: columns and their values; None: `*`. A column that is not named is NULL."""

    assignments: Assignments | None


@dataclass(frozen=True)
class Clause:
    """A WHEN clause. `condition` None: it has none."""

    kind: Kind
    condition: Expression | None
    action: Update | Delete | Insert


@dataclass(frozen=True)
class Merge:
    """A MERGE of a source (side s) into a target (side t)."""

    on: Expression
    clauses: tuple[Clause, ...]

    def of(self, kind: Kind) -> list[Clause]:
        """The clauses of a kind, in their order."""
        return [clause for clause in self.clauses if clause.kind == kind]


@dataclass
class Outcome:
    """The rows that the target ends with, how many rows had what done to them, and the rows of the change feed."""

    rows: list[Row] = field(default_factory=list)
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    changes: list[tuple[str, Row]] = field(default_factory=list)


class MultipleMatchesError(Exception):
    """Several rows of the source match one row of the target."""


def merged(merge: Merge, target: Sequence[Row], source: Sequence[Row], columns: Iterable[str]) -> Outcome:
    """What the target, a table of these columns, ends as. Raises MultipleMatchesError."""
    return _Merging(merge, tuple(columns)).run(target, source)


def several_matches(merge: Merge, target: Sequence[Row], source: Sequence[Row]) -> bool:
    """Whether a row of the target is matched by several rows of the source."""
    return any(sum(holds(merge.on, {"t": old, "s": new}) for new in source) > 1 for old in target)


class _Merging:
    def __init__(self, merge: Merge, columns: tuple[str, ...]) -> None:
        self.merge = merge
        self.columns = columns
        self.outcome = Outcome()

    def run(self, target: Sequence[Row], source: Sequence[Row]) -> Outcome:
        matched = set()
        for old in target:
            matches = [place for place, new in enumerate(source) if holds(self.merge.on, {"t": old, "s": new})]
            matched.update(matches)
            if len(matches) > 1 and not self._may_match_several():
                raise MultipleMatchesError
            if matches:
                self._change("matched", old, source[matches[0]])
            else:
                self._change("not matched by source", old, None)
        for place, new in enumerate(source):
            if place not in matched:
                self._insert(new)
        return self.outcome

    def _may_match_several(self) -> bool:
        """Whether it makes no difference which of the source rows it is."""
        clauses = self.merge.of("matched")
        return not clauses or clauses == [Clause("matched", None, Delete())]

    def _change(self, kind: Kind, old: Row, new: Row | None) -> None:
        clause = self._chosen(kind, old, new)
        if clause is None:
            self.outcome.rows.append(old)
        elif isinstance(clause.action, Update):
            row = {**old, **self._given(clause.action.assignments, old, new)}
            self.outcome.rows.append(row)
            self.outcome.updated += 1
            self.outcome.changes += [("update_preimage", old), ("update_postimage", row)]
        else:
            self.outcome.deleted += 1
            self.outcome.changes.append(("delete", old))

    def _insert(self, new: Row) -> None:
        clause = self._chosen("not matched", None, new)
        if clause is not None and isinstance(clause.action, Insert):
            row = {**dict.fromkeys(self.columns), **self._given(clause.action.assignments, None, new)}
            self.outcome.rows.append(row)
            self.outcome.inserted += 1
            self.outcome.changes.append(("insert", row))

    def _chosen(self, kind: Kind, old: Row | None, new: Row | None) -> Clause | None:
        """The first clause of a kind whose condition is TRUE."""
        return next((each for each in self.merge.of(kind) if holds(each.condition, {"t": old, "s": new})), None)

    def _given(self, assignments: Assignments | None, old: Row | None, new: Row | None) -> Mapping[str, object]:
        if assignments is None:
            return {column: new[column] for column in self.columns} if new is not None else {}
        return {column: evaluate(value, {"t": old, "s": new}) for column, value in assignments}
