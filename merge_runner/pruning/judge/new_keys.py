"""Whether a MERGE inserts only rows whose key the target does not have."""

from __future__ import annotations

from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.pruning.judge.insert_consistency import SOURCE, EquatedColumns, equated_columns, source_terms
from merge_runner.pruning.logic.canonical import term
from merge_runner.pruning.logic.term import Col
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import Absence, SourceFacts
from merge_runner.sql.names import fold


def inserts_new_keys_alone(statement: MergeStatement, scope: Scope, source: SourceFacts) -> bool:
    """Whether the source leaves out each row whose key, or a part of it, is in the target; False: not proven.

    ON compares the key as the source does, and each INSERT writes it, so that the next run leaves the row out, too.
    """
    target = fold(statement.target.parts)
    absences = [absence for absence in source.absent if absence.table == target]
    if not absences:
        return False
    pairs = {
        (pair.target.casefold(), pair.source.casefold()): pair
        for pair in equated_columns(statement, scope)
        if pair.bare
    }
    inserts = [clause for clause in statement.clauses if clause.action == "insert"]
    return any(_is_of_key(absence, pairs, inserts, scope, source) for absence in absences)


def _is_of_key(
    absence: Absence,
    pairs: dict[tuple[str, str], EquatedColumns],
    inserts: list[Clause],
    scope: Scope,
    source: SourceFacts,
) -> bool:
    """Whether a row of the target that ON joins a source row to would be one that is absent."""
    for name, own, null_safe in absence.pairs:
        pair = pairs.get((name, own.name))
        if pair is None or own.path:
            return False
        column = source.column(own.name)
        if pair.null_safe and not null_safe and (column is None or column.nullable is not False):
            return False
        if not all(_inserts(clause, pair, scope) for clause in inserts):
            return False
    return True


def _inserts(clause: Clause, pair: EquatedColumns, scope: Scope) -> bool:
    """Whether an INSERT clause writes the very column of the source into the target's."""
    if clause.star:
        return pair.target.casefold() == pair.source.casefold()
    trees = [
        assignment.value.expression
        for assignment in clause.assignments
        if assignment.column[-1].casefold() == pair.target.casefold()
    ]
    value = Col(SOURCE, pair.source.casefold())
    return any(tree is not None and term(tree, source_terms(scope)) == value for tree in trees)
