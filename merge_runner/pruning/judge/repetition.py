"""What a second run of a MERGE does to the rows that the first one left, where its source gives the same rows again.

The proof is for every content of the target. It needs three answers; a run that inserted no row, or deleted none, needs
fewer:

- rows that the MERGE updates: a second update sets the same values, and each row meets the same clause or none
- rows that it inserts: they match their own source row, and no clause changes them then
- rows that it deletes: their source row is not inserted again

What is only declared proves nothing, as it is not checked: keys, NOT NULL and types of the tables that are read,
NOT NULL of the target. Where a declared key is all that is missing, the rows of the source are asked.

The engines judge several source rows for one target row by ON alone (Spark 4.1, Delta 4.4.0, Iceberg 1.12.0): a MERGE
with a matched clause has ended without an error only where each row of the target had at most one source row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from merge_runner.lazy_dataclass import dataclass
from merge_runner.merge.statement import Assignment, Clause, Expr, MergeStatement
from merge_runner.pruning.judge.insert_consistency import (
    SOURCE,
    TARGET,
    InsertedRows,
    facts_of_clause,
    inserted_rows,
    matching_columns,
    on_terms,
)
from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.fold import joined, negated, replaced
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts, has_opaque
from merge_runner.pruning.predicate.join_keys import JoinKey, join_keys
from merge_runner.pruning.predicate.tautology import assigned
from merge_runner.pruning.query.read_using import source_facts
from merge_runner.pruning.runtime_filter.source_determinism import rest_clock, varying
from merge_runner.text import Span

if TYPE_CHECKING:
    from sqlglot import exp

    from merge_runner.pruning.judge.merge_analysis import JudgedMerge
    from merge_runner.pruning.layout.layout import TableLayout
    from merge_runner.pruning.query.source import KnownTable, SourceFacts

_NEVER_OF_EQUALS = frozenset({"<", ">", "<>"})
"""Comparisons that no value passes with itself, NULL and NaN included."""


@dataclass(frozen=True)
class InsertedKey:
    """A column of the target that ON equates with an expression of the source, and that an INSERT sets to it.

    A row matches its own source row where both have the same type, and the value is not NULL unless `null_safe`.
    `source` is the span of the expression in ON.
    """

    column: str
    source: Span
    null_safe: bool


@dataclass(frozen=True)
class Repetition:
    """Why a second run of a MERGE may do something; None: it is proven that it does nothing.

    `varies`: the same tables need not give the same result. `updates`, `inserts` and `deletes` are about rows that the
    first run has updated or left, inserted and deleted. The proof of `inserts` is for tables where `keys` hold, that of
    `updates` where `set_keys` have the type of their values: these are set, and ON asks for more than equality of them.
    `by_day`: all of it is proven for runs on the same day, in the time zone of the session.
    `one_row_each`: the proof of `inserts` is for sources of which no two rows have the same `keys`.
    `reads_target`: the source may give other rows once the first run has written. Then none of this is a proof, and a
    query over what that run has left shows what a second one does (engine/merge/second_run.py).
    `unique`: it is proven that no two rows of the source have the same key of ON.
    """

    varies: str | None = None
    updates: str | None = None
    inserts: str | None = None
    deletes: str | None = None
    keys: tuple[InsertedKey, ...] = ()
    set_keys: tuple[InsertedKey, ...] = ()
    one_row_each: bool = False
    by_day: bool = False
    reads_target: bool = False
    unique: bool = False


def repetition(merge: JudgedMerge) -> Repetition:
    """What is proven of a second run of a MERGE."""
    varies = _varies(merge)
    if varies is not None:
        return Repetition(varies)
    proof = _Proof(merge)
    return Repetition(
        None,
        proof.updates(),
        proof.inserts(),
        proof.deletes(),
        tuple(proof.keys()),
        tuple(proof.set_keys()),
        proof.rests_on_declared_key(),
        merge.reading.reads_clock or rest_clock(merge.statement) is not None,
        merge.reads_target,
        proof.is_unique(),
    )


def _undeclared(layout: TableLayout, *, types: bool) -> TableLayout:
    columns = layout.columns
    if columns is not None:
        columns = tuple(replace(each, nullable=None, data_type=each.data_type if types else None) for each in columns)
    return replace(layout, columns=columns, unique=())


def _varies(merge: JudgedMerge) -> str | None:
    from sqlglot import exp

    statement, reading = merge.statement, merge.reading
    if statement.more_clauses or any(clause.partial for clause in statement.clauses):
        return "clauses are filled in at run time"
    if not reading.readable:
        return reading.unread or "its source cannot be read"
    if reading.clock == "instant":
        return "its source may read the clock"
    if reading.varying is not None:
        return f"its source has {reading.varying}, which may give other rows each time"
    if rest_clock(statement) == "instant":
        return "ON or a clause may read the clock"
    for piece in _pieces(statement):
        tree = piece.expression
        if tree is None:
            return f"`{piece.text[:40]}` cannot be read"
        if (found := varying(tree)) is not None:
            return f"a condition or value has {found}, which may give another value each time"
        if tree.find(exp.Query) is not None:
            return "a condition or value reads a table"
    return None


def _pieces(statement: MergeStatement) -> Iterator[Expr]:
    yield from statement.on
    for clause in statement.clauses:
        if clause.condition is not None:
            yield clause.condition
        yield from (assignment.value for assignment in clause.assignments)


class _Proof:
    """The answers about one MERGE, all of whose expressions can be read."""

    def __init__(self, merge: JudgedMerge) -> None:
        def lookup(parts: tuple[str, ...]) -> KnownTable | None:
            known = merge.lookup(parts)
            return known and replace(known, layout=_undeclared(known.layout, types=False))

        self.statement = merge.statement
        self.layout = _undeclared(merge.layout, types=True)
        self.source = source_facts(merge.statement, lookup, [])
        self.declared = merge.source
        self.scope = merge.scope
        self.terms = on_terms(merge.scope)
        self.joins = [key for key in join_keys(merge.statement.on, merge.scope) if len(key.column.path) == 1]
        updates = [clause for clause in self.statement.clauses if clause.action == "update"]
        self.sets_all = any(clause.star for clause in updates)
        self.set_by_name = frozenset(assigned(each, self.scope)[0] for clause in updates for each in clause.assignments)

    def updates(self) -> str | None:
        """Why a second run may change rows that the first one has updated, or has left."""
        for clause in self.statement.clauses:
            if clause.action == "update" and (reason := self._moves_key(clause) or self._adds(clause)) is not None:
                return reason
        for kind in ("matched", "not_matched_by_source"):
            own = [clause for clause in self.statement.clauses if clause.kind == kind]
            for clause in own[:-1]:
                asked = self._set_column_in(clause.condition)
                if asked is not None:
                    return f"a clause asks for {asked}, which an UPDATE sets, and another clause follows it"
        return None

    def _moves_key(self, clause: Clause) -> str | None:
        """Why an UPDATE may change which source row a row matches."""
        for conjunct in self.statement.on:
            tree = conjunct.expression
            for found in self.scope.columns(tree) if tree is not None else ():
                name = found.path[0].casefold()
                if found.side == "source" or not self._is_set_by(clause, name):
                    continue
                keys = [key for key in self.joins if key.conjunct is conjunct and key.column == found]
                keys = keys or [key for key in self.joins if key.column == found]
                if found.side != "target" or not keys or not self._keeps(clause, keys[0]):
                    return f"an UPDATE sets {name}, by which ON joins"
        return None

    def _uses(self, name: str) -> int:
        trees = [conjunct.expression for conjunct in self.statement.on if conjunct.expression is not None]
        found = (each for tree in trees for each in self.scope.columns(tree))
        return sum(each.side != "source" and each.path[0].casefold() == name for each in found)

    def _keeps(self, clause: Clause, key: JoinKey) -> bool:
        """Whether an UPDATE of matched rows sets a key to what ON demands that it is."""
        if clause.kind != "matched":
            return False
        wanted, name = term(key.source, self.terms), key.column.path[0].casefold()
        if clause.star:
            return wanted == Col(SOURCE, name)
        values = [self._term(each.value) for each in clause.assignments if assigned(each, self.scope)[0] == name]
        whole = all(len(assigned(each, self.scope)) == 1 for each in clause.assignments)
        return whole and wanted is not None and values == [wanted]

    def _adds(self, clause: Clause) -> str | None:
        for assignment in clause.assignments:
            column = self._set_column_in(assignment.value)
            if column is not None and not self._keeps_or_takes(assignment):
                return f"an UPDATE makes {assignment.column[-1]} of {column}, which an UPDATE sets"
        return None

    def _keeps_or_takes(self, assignment: Assignment) -> bool:
        """Whether the value is the greatest, the least or the first of the own value and values of the source."""
        return any(True for _ in self._candidates(assignment))

    def _candidates(self, assignment: Assignment) -> Iterator[exp.Expr]:
        """The source's values among which, with the own one, a value is chosen; none where it is not such a choice."""
        from sqlglot import exp

        tree = assignment.value.expression
        if not isinstance(tree, (exp.Greatest, exp.Least, exp.Coalesce)):
            return
        own, others = assigned(assignment, self.scope), []
        for part in tree.iter_expressions():
            found = self.scope.reference(part)
            if found is not None and found.side == "target":
                if tuple(name.casefold() for name in found.path) != own:
                    return
            elif self.scope.side(part) in ("source", "none"):
                others.append(part)
            else:
                return
        yield from others

    def _set_column_in(self, expr: Expr | None) -> str | None:
        """A column in an expression that is, or may be, one of the target that an UPDATE sets."""
        if expr is None or expr.expression is None:
            return None
        for found in self.scope.columns(expr.expression):
            name = found.path[0].casefold()
            if found.side != "source" and (self.sets_all or name in self.set_by_name):
                return name
        return None

    def _is_set_by(self, clause: Clause, name: str) -> bool:
        return clause.star or any(assigned(each, self.scope)[0] == name for each in clause.assignments)

    def _term(self, expr: Expr) -> Term | None:
        return term(expr.expression, self.terms) if expr.expression is not None else None

    def set_keys(self) -> Iterator[InsertedKey]:
        """The keys that an UPDATE sets, where ON asks for more of them than that they are equal to the source's."""
        for key in self.joins:
            name = key.column.path[0].casefold()
            if self._uses(name) > 1 and (self.sets_all or name in self.set_by_name):
                yield _inserted(key)

    def keys(self) -> Iterator[InsertedKey]:
        """What ON demands of inserted rows that the types and values of the tables decide."""
        for key in self.joins:
            yield _inserted(key)

    def inserts(self) -> str | None:
        """Why a second run may insert rows again, or change those that the first one has inserted."""
        clauses = [clause for clause in self.statement.clauses if clause.action == "insert"]
        if not clauses:
            return None
        for clause in clauses:
            rows = inserted_rows(clause, self.statement, self.layout, self.scope, self.source)
            reason = self._matches_not(clause, rows) or self._changed_again(rows)
            if reason is not None:
                return reason
        if self._needs_one_row_each() and not (self.is_unique() or self._is_unique(self.declared)):
            return "several of its source rows may have one key"
        return None

    def rests_on_declared_key(self) -> bool:
        """Whether the answer about inserts needs a key of the source that is only declared."""
        return self._needs_one_row_each() and not self.is_unique() and self._is_unique(self.declared)

    def is_unique(self) -> bool:
        """Whether no two rows of the source have one key of ON."""
        return self._is_unique(self.source)

    def _needs_one_row_each(self) -> bool:
        kinds = {clause.kind for clause in self.statement.clauses}
        return {"matched", "not_matched"} <= kinds

    def _matches_not(self, clause: Clause, rows: InsertedRows) -> str | None:
        """Why a row that is inserted may not match its own source row."""
        facts = facts_of_clause(clause, self.scope, self.source)
        for conjunct in self.statement.on:
            key = next((key for key in self.joins if key.conjunct is conjunct), None)
            if key is not None:
                value = rows.value(key.column.path[0])
                if value is None or value != term(key.source, self.terms):
                    return (
                        f"a row that is inserted may have another {key.column.path[0]} than `{conjunct.text}` asks for"
                    )
                continue
            wanted = condition(conjunct.expression, self.terms) if conjunct.expression is not None else None
            sides = {column.relation for column in columns(wanted)} if wanted is not None else set()
            holds = (
                wanted is not None
                and not has_opaque(wanted)
                and (facts.implies(wanted) if sides <= {SOURCE} else rows.satisfies(wanted))
            )
            if holds is not True:
                return f"a row that is inserted may not pass `{conjunct.text}`"
        return None

    def _changed_again(self, rows: InsertedRows) -> str | None:
        """Why a matched clause may change a row that was inserted, once it matches its own source row."""
        for clause in self.statement.clauses:
            if clause.kind != "matched" or self._never_met(clause, rows):
                continue
            if clause.action == "delete":
                return "a matched DELETE may take rows that were inserted"
            if clause.star and not self._inserts_all(rows):
                return "UPDATE SET * sets other values than are inserted"
            for each in clause.assignments:
                name, value = assigned(each, self.scope), self._term(each.value)
                candidates = [term(part, self.terms) for part in self._candidates(each)]
                if len(name) == 1 and candidates and all(part == rows.value(name[0]) for part in candidates):
                    continue
                if len(name) > 1 or value is None or rows.value(name[0]) != value or not _of_source(value):
                    return f"an UPDATE sets {name[0]} to another value than is inserted"
        return None

    def _inserts_all(self, rows: InsertedRows) -> bool:
        """Whether each column is inserted as the source's of the same name."""
        if rows.clause.star:
            return True
        known = self.layout.columns if self.layout.complete else None
        return known is not None and all(
            rows.value(column.name) == Col(SOURCE, column.name.casefold()) for column in known
        )

    def _never_met(self, clause: Clause, rows: InsertedRows) -> bool:
        """Whether no inserted row passes the condition of a clause with its own source row."""
        tree = clause.condition.expression if clause.condition is not None else None
        if tree is None:
            return False

        def inserted(part: Term) -> Term | None:
            return (
                rows.value(part.name) if isinstance(part, Col) and part.relation == TARGET and not part.path else None
            )

        for part in conjuncts(condition(tree, self.terms)):
            if has_opaque(part):
                continue
            if _of_source(part) and rows.facts.implies(negated(part)) is True:
                return True
            if isinstance(part, Call) and part.name in _NEVER_OF_EQUALS:
                left, right = (replaced(argument, inserted) for argument in part.args)
                if left == right and _of_source(left):
                    return True
        return False

    def _is_unique(self, source: SourceFacts) -> bool:
        """Whether no two rows of the source, of which this is known, have one key of ON."""
        matching = matching_columns(self.statement, self.scope, source)
        if matching is None or not source.readable:
            return False
        names = frozenset(name.casefold() for name in (*matching.columns, *matching.inside))
        return source.is_unique(names) or (not matching.null_safe and source.is_unique_not_null(names))

    def deletes(self) -> str | None:
        """Why a second run may insert rows for which the first one has deleted some."""
        inserts = [clause for clause in self.statement.clauses if clause.action == "insert"]
        for clause in self.statement.clauses:
            if clause.kind != "matched" or clause.action != "delete" or not inserts:
                continue
            picked = self._asked_of_source(clause)
            if not picked:
                return "rows of the source that delete may be inserted by a second run"
            wanted = negated(joined("and", picked))
            if any(facts_of_clause(each, self.scope, self.source).implies(wanted) is not True for each in inserts):
                return "rows of the source that delete may be inserted by a second run"
        return None

    def _asked_of_source(self, clause: Clause) -> list[Term]:
        """The parts of the condition of a clause that are about the source alone."""
        tree = clause.condition.expression if clause.condition is not None else None
        parts = conjuncts(condition(tree, self.terms)) if tree is not None else ()
        return [
            part for part in parts if not has_opaque(part) and {each.relation for each in columns(part)} == {SOURCE}
        ]


def _inserted(key: JoinKey) -> InsertedKey:
    return InsertedKey(key.column.path[0], key.source_span, key.null_safe)


def _of_source(value: Term) -> bool:
    """Whether a value is made of the source's columns and constants."""
    return all(column.relation == SOURCE for column in columns(value))
