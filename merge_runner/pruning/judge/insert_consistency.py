"""Whether the rows that a MERGE inserts satisfy the filters that its ON puts on the target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.merge.read_query import read_expression
from merge_runner.merge.statement import Clause, Conjunct, MergeStatement
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.logic.canonical import Resolve, TermCache, condition, term
from merge_runner.pruning.logic.constant_value import NULL, Lit
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.restriction import strict_column
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts, is_constant
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import SourceFacts
from merge_runner.sql.names import fold, name_parts

if TYPE_CHECKING:
    from sqlglot import exp

TARGET, SOURCE = 1, 0
"""Numbers of the relations in terms; the source's is that of its restrictions."""


def one_sided_filters(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[Conjunct]:
    """The conjuncts of ON on the target alone that some row to be inserted need not satisfy.

    What cannot be read or compared is left out, and so is a filter that every row of the target satisfies.
    """
    if not source.readable:
        return
    for conjunct, filter_term, inserts in _target_filters(statement, layout, scope, source):
        if any(clause.satisfies(filter_term) is False for clause in inserts):
            yield conjunct


def contradicted_filters(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[Conjunct]:
    """The conjuncts of ON on the target alone that constants in an INSERT do not satisfy, whatever the source holds."""
    for conjunct, filter_term, inserts in _target_filters(statement, layout, scope, source):
        if any(clause.contradicts(filter_term) for clause in inserts):
            yield conjunct


def _target_filters(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[tuple[Conjunct, Term, Sequence[InsertedRows]]]:
    """The conjuncts of ON on the target alone, each as a term, with what the INSERT clauses insert."""
    inserts: list[InsertedRows] | None = None
    for conjunct in statement.on:
        if conjunct.expression is None or scope.side(conjunct.expression) != "target":
            continue
        filter_term = condition(conjunct.expression, on_terms(scope))
        if holds_for_all(filter_term, layout) or any(
            layout.has_column(column.name) is False for column in columns(filter_term)
        ):
            continue
        if inserts is None:
            inserts = [
                inserted_rows(clause, statement, layout, scope, source)
                for clause in statement.clauses
                if clause.action == "insert"
            ]
        yield conjunct, filter_term, inserts


def on_terms(scope: Scope) -> Resolve:
    """The terms of columns as ON and the WHEN clauses name them: the target's of relation 1, the source's of 0."""
    return scope.once(_on_terms, scope)


def _on_terms(scope: Scope) -> Resolve:
    resolved: dict[tuple[str, ...], Term | None] = {}

    def resolve(node: exp.Expr) -> Term | None:
        parts = name_parts(node)
        if not parts:
            return None
        if parts not in resolved:
            resolved[parts] = column(parts)
        return resolved[parts]

    def column(parts: tuple[str, ...]) -> Term | None:
        reference = scope.resolve(parts)
        if reference.side not in ("target", "source"):
            return None
        path = fold(reference.path)
        return Col(TARGET if reference.side == "target" else SOURCE, path[0], path[1:])

    return TermCache(resolve)


def source_terms(scope: Scope) -> Resolve:
    """The same for WHEN NOT MATCHED, which sees the source alone: an unqualified name is the source's."""
    return scope.once(_terms_of_one, scope, SOURCE)


def target_terms(scope: Scope) -> Resolve:
    """The same for WHEN NOT MATCHED BY SOURCE, which sees the target alone."""
    return scope.once(_terms_of_one, scope, TARGET)


def _terms_of_one(scope: Scope, relation: int) -> Resolve:
    resolve = on_terms(scope)

    def resolve_one(node: exp.Expr) -> Term | None:
        parts, reference = name_parts(node), scope.reference(node)
        if parts is None or reference is None or len(reference.path) < len(parts):
            return resolve(node)
        path = fold(parts)
        return Col(relation, path[0], path[1:])

    return TermCache(resolve_one)


def facts_of_clause(clause: Clause, scope: Scope, source: SourceFacts) -> Facts:
    """What holds for the source rows that a WHEN NOT MATCHED clause takes."""
    return source.facts if clause.condition is None else scope.once(_facts_of_clause, clause, scope, source)


def _facts_of_clause(clause: Clause, scope: Scope, source: SourceFacts) -> Facts:
    tree = clause.condition.expression if clause.condition is not None else None
    if tree is None:
        own: tuple[Term, ...] = (Call("opaque", tuple(Col(SOURCE, c.name.casefold()) for c in source.known_columns)),)
    else:
        own = conjuncts(condition(tree, source_terms(scope)))
    not_null = [Col(SOURCE, c.name.casefold()) for c in source.known_columns if c.nullable is False]
    return Facts((*source.restrictions, *own), not_null)


def inserted_rows(
    clause: Clause, statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> InsertedRows:
    """The rows that an INSERT clause inserts: see InsertedRows."""
    return scope.once(InsertedRows, clause, statement, layout, scope, source)


class InsertedRows:
    """The rows that one INSERT clause inserts."""

    def __init__(
        self, clause: Clause, statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
    ) -> None:
        self.clause = clause
        self.layout = layout
        self.source = source
        self.evolves = statement.schema_evolution
        self.unreadable = clause.condition is not None and clause.condition.expression is None
        self.resolve = source_terms(scope)
        self.values: Mapping[str, Term | None] = {
            assignment.column[-1].casefold(): (
                None
                if assignment.value.expression is None or assignment.value.text.strip().upper() == "DEFAULT"
                else term(assignment.value.expression, self.resolve)
            )
            for assignment in clause.assignments
        }
        facts = facts_of_clause(clause, scope, source)
        required = [column for column in layout.columns or () if column.nullable is False]
        # A row with NULL in a column that refuses it is not inserted.
        values = [self.value(column.name) for column in required]
        self.facts = Facts(facts.terms, [*facts.not_null, *(value for value in values if value is not None)])

    def satisfies(self, target_condition: Term) -> bool | None:
        """Whether its rows satisfy a condition on the target's columns; None where that cannot be known."""
        if self.unreadable or (isinstance(target_condition, Call) and target_condition.name == "opaque"):
            return None
        goal = self._goal(target_condition)
        return None if goal is None or self.may_take_no_null(goal) else self.facts.implies(goal)

    def contradicts(self, target_condition: Term) -> bool:
        """Whether the constants that it inserts make a condition on the target's columns false, or NULL."""
        goal = self._goal(target_condition)
        return isinstance(goal, Lit) and not goal.value

    def _goal(self, target_condition: Term) -> Term | None:
        """The condition with what is inserted in the place of the columns; None where one of them is not known."""
        unknown = False

        def inserted(part: Term) -> Term | None:
            nonlocal unknown
            if not isinstance(part, Col) or part.relation != TARGET:
                return None
            value = self.value(part.name)
            if value is None:
                unknown = True
                return None
            return _field(value, part.path)

        goal = replaced(target_condition, inserted)
        return None if unknown else goal

    def may_take_no_null(self, goal: Term) -> bool:
        """Whether it asks for a value in a column of which nothing is known."""
        column = goal.args[0] if isinstance(goal, Call) and goal.name == "notnull" else None
        if not isinstance(column, Col):
            return False
        column_facts = self.source.column(column.name)
        if column_facts is None:
            return not self.source.names_known
        return column_facts.data_type is None and column_facts.nullable is None

    def value(self, name: str) -> Term | None:
        """What it puts into a column; None where that is not known."""
        folded = name.casefold()
        if self.clause.star:
            has = self.source.has_column(name)
            if has is False:
                return NULL if self.evolves else None
            return Col(SOURCE, folded)
        if folded in self.values:
            return self.values[folded]
        if self.clause.partial:
            return None
        column = self.layout.column(name)
        if column is not None and column.generated is not None:
            return self._generated(column)
        if column is not None and column.filled:
            return None
        return NULL if column is not None and self.layout.complete else None

    def _generated(self, column: TableColumn) -> Term | None:
        tree = read_expression(column.generated or "").expression
        return term(tree, self._of_base) if tree is not None else None

    def _of_base(self, node: exp.Expr) -> Term | None:
        column = self.layout.column(node.name)
        return self.value(node.name) if column is not None and column.generated is None else None


def _field(value: Term, path: tuple[str, ...]) -> Term:
    if not path:
        return value
    if isinstance(value, Col):
        return Col(value.relation, value.name, value.path + path)
    return NULL if value == NULL else Call(f"field:{'.'.join(path)}", (value,))


def holds_for_all(target_condition: Term, layout: TableLayout) -> bool:
    """Whether every row of the target satisfies the condition, such as IS NOT NULL of a column that takes no NULL."""
    required = {c.name.casefold() for c in layout.columns or () if c.nullable is False}
    not_null = [column for column in columns(target_condition) if not column.path and column.name in required]
    return bool(not_null) and Facts((), not_null).implies(target_condition) is True


@dataclass(frozen=True)
class EquatedColumns:
    """A conjunct of ON that has a column of the target equal to a column of the source.

    Each may be inside functions that give NULL for NULL; `bare` says that neither does.
    """

    conjunct: Conjunct
    target: str
    source: str
    null_safe: bool
    bare: bool = True


def equated_columns(statement: MergeStatement, scope: Scope) -> Sequence[EquatedColumns]:
    """The equalities of ON between two columns, fields of structs left out."""
    return scope.once(_equated_columns, statement, scope)


def _equated_columns(statement: MergeStatement, scope: Scope) -> Sequence[EquatedColumns]:
    pairs: list[EquatedColumns] = []
    for conjunct in statement.on:
        if conjunct.expression is None:
            continue
        test = condition(conjunct.expression, on_terms(scope))
        if not isinstance(test, Call) or test.name not in ("=", "<=>"):
            continue
        inner = [strict_column(item) for item in test.args]
        sides = {item.relation: item for item in inner if item is not None and not item.path}
        if len(sides) == 2:
            names = {ref.side: ref.column for ref in scope.columns(conjunct.expression)}
            bare = all(isinstance(item, Col) for item in test.args)
            pairs.append(EquatedColumns(conjunct, names["target"], names["source"], test.name == "<=>", bare))
    return pairs


@dataclass(frozen=True)
class Matching:
    """The columns of the source that determine which row of the target one of its rows matches, in the order of ON.

    `inside` are those that appear in an expression only. `null_safe`: a NULL in one of them may match. `pairs` are the
    sides of the equalities that fix them, the source's first.
    """

    columns: tuple[str, ...]
    inside: tuple[str, ...]
    null_safe: bool
    pairs: tuple[tuple[Term, Term], ...] = ()


def matching_columns(statement: MergeStatement, scope: Scope, source: SourceFacts) -> Matching | None:
    """The columns of the source that are fixed for a given row of the target.

    A column is where ON equates it with an expression of the target alone, and with a constant where each INSERT asks
    for that, too. None where a conjunct that cannot be read, or whose sides are not certain, may fix more.
    """
    inserted = [facts_of_clause(clause, scope, source) for clause in statement.clauses if clause.action == "insert"]
    bare: dict[str, None] = {}
    inside: dict[str, None] = {}
    pairs: list[tuple[Term, Term]] = []
    null_safe = False
    for conjunct in statement.on:
        tree = conjunct.expression
        if tree is None or scope.side(tree) == "unknown":
            return None
        test = condition(tree, on_terms(scope))
        if isinstance(test, Call) and test.name == "opaque":
            return None
        if not isinstance(test, Call) or test.name not in ("=", "<=>"):
            continue
        for own, other in (test.args, test.args[::-1]):
            relations = {column.relation for column in columns(other)}
            is_fixed = relations == {TARGET} or (not relations and all(rows.implies(test) is True for rows in inserted))
            mine = [column for column in columns(own) if not column.path]
            if not is_fixed or not mine or any(column.relation != SOURCE for column in columns(own)):
                continue
            names = {r.column.casefold(): r.column for r in scope.columns(tree) if r.side == "source"}
            (bare if isinstance(own, Col) else inside).update({names[column.name]: None for column in mine})
            null_safe |= test.name == "<=>" or strict_column(own) is None
            pairs.append((own, other))
    return Matching(tuple(bare), tuple(name for name in inside if name not in bare), null_safe, tuple(pairs))


def inserts_column(clause: Clause, scope: Scope, pair: EquatedColumns) -> bool:
    """Whether an INSERT clause puts the source's key itself into the target's."""
    if clause.star:
        return pair.target.casefold() == pair.source.casefold()
    for assignment in clause.assignments:
        if assignment.column[-1].casefold() == pair.target.casefold() and assignment.value.expression is not None:
            value = term(assignment.value.expression, source_terms(scope))
            return value is not None and strict_column(value) == Col(SOURCE, pair.source.casefold())
    return True  # NULL, or a default


def gives_what_on_demands(
    clause: Clause, column: str, statement: MergeStatement, scope: Scope, source: SourceFacts
) -> bool:
    """Whether an UPDATE of matched rows gives a column of the target the constant that ON has it equal to already."""
    own = Col(TARGET, column.casefold())
    value: Term | None = Col(SOURCE, own.name) if clause.star else None
    for assignment in clause.assignments:
        if assignment.column[-1].casefold() == own.name and assignment.value.expression is not None:
            value = term(assignment.value.expression, on_terms(scope))
    if clause.kind != "matched" or value is None:
        return False
    resolve = on_terms(scope)
    on_conditions = [
        condition(conjunct.expression, resolve) for conjunct in statement.on if conjunct.expression is not None
    ]
    facts = Facts((*source.restrictions, *on_conditions))
    for test in on_conditions:
        if isinstance(test, Call) and test.name in ("=", "<=>") and own in test.args:
            constant = test.args[test.args[0] == own]
            if is_constant(constant) and facts.implies(Call("=", (value, constant))) is True:
                return True
    return False
