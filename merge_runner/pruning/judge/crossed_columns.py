"""Columns that SET or INSERT fills from each other's columns of the source: `insert (a, b) values (s.b, s.a)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from merge_runner.merge.statement import Assignment, Clause, MergeStatement
from merge_runner.pruning.judge.insert_consistency import SOURCE, on_terms, source_terms
from merge_runner.pruning.logic.canonical import term
from merge_runner.pruning.logic.term import Col
from merge_runner.pruning.predicate.scope import Scope


@dataclass(frozen=True)
class CrossedColumns:
    """Assignments of one clause: each writes the source's column that is called like the next one's, in a circle."""

    clause: Clause
    assignments: tuple[Assignment, ...]


def crossed_columns(statement: MergeStatement, scope: Scope) -> Iterator[CrossedColumns]:
    """The circles of columns that a clause fills with bare columns of the source by each other's names."""
    for clause in statement.clauses:
        resolve = source_terms(scope) if clause.action == "insert" else on_terms(scope)
        sources: dict[str, tuple[str, Assignment]] = {}
        for assignment in clause.assignments:
            tree, name = assignment.value.expression, assignment.column[-1].casefold()
            value = term(tree, resolve) if tree is not None else None
            if isinstance(value, Col) and value.relation == SOURCE and not value.path and value.name != name:
                sources[name] = (value.name, assignment)
        for circle in _circles({name: value for name, (value, _) in sources.items()}):
            places = sorted((sources[name][1] for name in circle), key=lambda assignment: assignment.span.start)
            yield CrossedColumns(clause, tuple(places))


def _circles(steps: dict[str, str]) -> Iterator[list[str]]:
    """The circles in which following the steps leads back to the first name."""
    seen: set[str] = set()
    for start in steps:
        path: list[str] = []
        name = start
        while name in steps and name not in seen:
            seen.add(name)
            path.append(name)
            name = steps[name]
        if name in path:
            yield path[path.index(name) :]
