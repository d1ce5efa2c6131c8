"""Which rows outside of the window that ON puts on the target WHEN NOT MATCHED BY SOURCE changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from merge_runner.merge.statement import Clause, Conjunct, MergeStatement
from merge_runner.pruning.judge.insert_consistency import TARGET, equated_columns, holds_for_all, on_terms, target_terms
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.constant_value import FALSE, TRUE, Lit
from merge_runner.pruning.logic.fold import negate_term, replaced
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts, has_opaque, is_constant
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import SourceFacts

Reach = Literal["all", "wider", "some"]


@dataclass(frozen=True)
class OutsideWindow:
    """A WHEN NOT MATCHED BY SOURCE clause that changes rows outside of these conditions of ON.

    `reach`: `all` of them, those of a `wider` window, or `some`, as the clause has a condition on other columns.
    """

    clause: Clause
    filters: tuple[Conjunct, ...]
    reach: Reach


@dataclass(frozen=True)
class _Filter:
    """A condition of ON that keeps rows of the target from matching; `term` is about the target's columns alone."""

    conjunct: Conjunct
    term: Term


def rows_outside(
    statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts
) -> Iterator[OutsideWindow]:
    """The clauses that change rows which a filter of ON keeps from ever matching.

    A clause that restricts the filter's columns in another way decides about the rows outside by itself. What cannot
    be read or compared is left out.
    """
    clauses = [clause for clause in statement.clauses if clause.kind == "not_matched_by_source"]
    if not clauses:
        return
    filters = list(_filters(statement, layout, scope, source))
    constants = _inserted_constants(statement, scope)
    former: list[Term] = []
    for clause in clauses if filters else ():
        own = target_conditions(clause, scope)
        if own is None:
            return
        terms = [row_filter.term for row_filter in filters]
        undecided = [row_filter for row_filter in filters if not is_decided(row_filter.term, terms, own, former)]
        undecided = [row_filter for row_filter in undecided if not _in_other_state(row_filter, own, constants)]
        undecided = [row_filter for row_filter in undecided if not _writes_same_value(row_filter.term, clause, scope)]
        if undecided:
            yield OutsideWindow(clause, tuple(row_filter.conjunct for row_filter in undecided), _reach(own, undecided))
        former.append(rest_of(own))


def _filters(statement: MergeStatement, layout: TableLayout, scope: Scope, source: SourceFacts) -> Iterator[_Filter]:
    pairs = [pair for pair in equated_columns(statement, scope) if pair.bare]
    keys = {pair.target.casefold() for pair in equated_columns(statement, scope) if not pair.null_safe}
    target_columns: dict[Term, Term] = {
        Col(0, pair.source.casefold()): Col(TARGET, pair.target.casefold()) for pair in pairs
    }
    for conjunct in statement.on:
        side = scope.side(conjunct.expression) if conjunct.expression is not None else "unknown"
        if conjunct.expression is None or side not in ("target", "source"):
            continue
        filter_term = condition(conjunct.expression, on_terms(scope))
        if side == "source":
            if source.facts.implies(filter_term) is not False:
                continue
            filter_term = replaced(filter_term, target_columns.get)
        if (
            has_opaque(filter_term)
            or is_constant(filter_term)
            or any(column.relation != TARGET for column in columns(filter_term))
        ):
            continue
        redundant = (
            isinstance(filter_term, Call)
            and filter_term.name == "notnull"
            and {c.name for c in columns(filter_term)} <= keys
        )
        if not redundant and not holds_for_all(filter_term, layout):
            yield _Filter(conjunct, filter_term)


def target_conditions(clause: Clause, scope: Scope) -> list[Term] | None:
    """Return the conditions that a clause joins by AND; None where one cannot be read."""
    if clause.condition is None:
        return [TRUE]
    if clause.condition.expression is None:
        return None
    clause_term = condition(clause.condition.expression, target_terms(scope))
    return None if has_opaque(clause_term) else list(conjuncts(clause_term))


def rest_of(own: Sequence[Term]) -> Term:
    """Return the condition of the rows that a clause with these conditions leaves to the next one."""
    return negate_term(own[0] if len(own) == 1 else Call("and", tuple(own)))


def is_decided(filter_term: Term, filters: Sequence[Term], own: Sequence[Term], former: Sequence[Term]) -> bool:
    """Return whether a clause takes no row outside of a filter, or decides about the filter's columns in its own way.

    `filters` are all of them, `own` the conditions of the clause, `former` what those before it leave.
    """
    if Facts([*own, *former]).implies(filter_term) is not False:
        return True
    mine = set(columns(filter_term))
    if any(not mine.isdisjoint(columns(part)) for part in former):
        return True
    window = Facts(filters)
    kinds = {_kind(part) for term in filters for part in conjuncts(term) if not mine.isdisjoint(columns(part))}
    about = [part for part in own if not mine.isdisjoint(columns(part))]
    return not all(_kind(part) in kinds and window.implies(part) is True for part in about)


def _kind(part: Term) -> str:
    """How a condition bounds its column. `t.dt < '2020-01-01'` is no wider `t.dt = '2019-01-01'`: it is about age."""
    return _KINDS.get(part.name, part.name) if isinstance(part, Call) else ""


_KINDS = {">=": ">", "<=": "<", "in": "=", "<=>": "="}


def _reach(own: Sequence[Term], filters: Sequence[_Filter]) -> Reach:
    if all(part == TRUE for part in own):
        return "all"
    window = {column for row_filter in filters for column in columns(row_filter.term)}
    return "wider" if all(window.issuperset(columns(part)) for part in own) else "some"


def _in_other_state(row_filter: _Filter, own: Sequence[Term], constants: frozenset[str]) -> bool:
    """Whether filter and clause pick the rows in a state by two columns: `t.valid_to is null` says `t.is_current`."""
    mine = set(columns(row_filter.term))
    related = [part for part in own if mine.isdisjoint(columns(part))]
    return _is_state(row_filter.term, constants) and any(_is_state(part, constants) for part in related)


def _inserted_constants(statement: MergeStatement, scope: Scope) -> frozenset[str]:
    """The columns into which INSERT puts constants, as it does where they say in what state a row is."""
    return frozenset(
        assignment.column[-1].casefold()
        for clause in statement.clauses
        if clause.action == "insert"
        for assignment in clause.assignments
        if assignment.value.expression is not None and scope.side(assignment.value.expression) == "none"
    )


def _is_state(part: Term, constants: frozenset[str]) -> bool:
    names = {column.name for column in columns(part)}
    return _is_state_test(part) or (bool(names) and names <= constants)


def is_state_of_row(part: Term) -> bool:
    """Return whether a condition is none, or asks for NULL or for a value of a flag."""
    if part == TRUE:
        return True
    is_flag = isinstance(part, Call) and part.name in ("=", "<=>") and part.args[1] in (TRUE, FALSE)
    return is_flag or (isinstance(part, Call) and part.name in ("isnull", "notnull"))


def _is_state_test(part: Term) -> bool:
    """Whether a condition asks for single values of one column, or for NULL."""
    return isinstance(part, Call) and (
        part.name in ("isnull", "notnull", "in", "notin")
        or (part.name in ("=", "<=>", "<>") and isinstance(part.args[1], Lit))
    )


def _writes_same_value(filter_term: Term, clause: Clause, scope: Scope) -> bool:
    """Whether the clause only sets a flag to the value that it has outside of the filter already."""
    if clause.action != "update" or not isinstance(filter_term, Call) or filter_term.name not in ("=", "<=>"):
        return False
    flag, value = filter_term.args
    if not isinstance(flag, Col) or value not in (TRUE, FALSE) or len(clause.assignments) != 1:
        return False
    (assignment,) = clause.assignments
    tree = assignment.value.expression
    new_value = term(tree, on_terms(scope)) if tree is not None else None
    return assignment.column[-1].casefold() == flag.name and new_value == (FALSE if value == TRUE else TRUE)
