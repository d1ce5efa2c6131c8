"""The rows of FROM with its joins: which column a name means, what holds for each row, what makes it unique."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from merge_runner.pruning.layout.layout import TableColumn
from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.restriction import restricted_columns
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts, is_constant
from merge_runner.pruning.predicate.expression_type import UNKNOWN, Typed, any_nullable
from merge_runner.pruning.query.relation import (
    ComparedJoin,
    Queries,
    Relation,
    Resolution,
    Scope,
    StarColumn,
    column_of,
    lifted,
    type_of,
    whole_table,
)
from merge_runner.pruning.query.renamed import renamed
from merge_runner.pruning.query.source import UNREADABLE, SourceFacts
from merge_runner.sql import scope as sql
from merge_runner.sql.from_clause import FromItem, Join
from merge_runner.sql.names import fold, name_parts

Key = frozenset[Term]

_MAX_KEYS = 12
ONE_OF_SEVERAL = -1_000
"""Number of the relation that represents the one that has a column that several may have: all but one have it not."""


class JoinedRows:
    """What FROM and WHERE give, relation by relation."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self.scope: Scope = sql.Scope()
        self.terms: list[Term] = []
        self.lost: set[Col] = set()
        """Columns that are restricted where an outer join does not fill them with NULL."""
        self.compared: list[ComparedJoin] = []
        self.filled = False
        """An outer join may fill the columns of what is before it with NULL."""
        self.keys: list[Key] = [frozenset()]
        self.readable = True

    @property
    def relations(self) -> list[Relation]:
        """The relations of FROM."""
        return self.scope.relations

    def read(self, select: exp.Select, items: Sequence[FromItem]) -> None:
        """Read the relations of FROM, and WHERE, of a query."""
        for item in items:
            relation = self.scope.add(item, self._facts(item))
            self.readable &= relation.rows.readable
            if item.join is not None:
                self._join(item.join, relation, whole_table(item, self.queries))
            elif item.is_lateral:
                self.keys = []
            else:
                self.terms += [lifted(term, relation) for term in relation.rows.restrictions]
                self.keys = _keys(relation)
        where = select.args.get("where")
        if where is not None:
            self.terms += self.conditions(where.this)
        self._doubt()

    def _doubt(self) -> None:
        """A restricted column of no certain relation may be that of each which may have it."""
        for column in restricted_columns(self.terms):
            if column.relation == ONE_OF_SEVERAL:
                owners = [r for r in self.relations if r.is_visible and r.has_column(column.name) is None]
                self.terms.append(Call("opaque", tuple(column_of(owner, column.name) for owner in owners)))

    def conditions(self, node: exp.Expr) -> list[Term]:
        """The conditions that a condition joins by AND, and what `x IN (subquery)` says about x."""
        terms = list(conjuncts(condition(node, self.resolve)))
        parts = node.flatten() if isinstance(node, exp.And) else (node,)
        for part in parts:
            inner = part.unnest()
            if isinstance(inner, exp.In) and inner.args.get("query") is not None:
                terms += self._membership(inner)
        return terms

    def resolve(self, node: exp.Expr) -> Term | None:
        """The term of a column's node; None where it is not known which column it is."""
        parts = name_parts(node)
        return self.term(self.scope.resolve(parts)) if parts else None

    def term(self, resolution: Resolution) -> Term | None:
        """The term of a column, given what its name means."""
        match resolution:
            case sql.ColumnOf(relation, path):
                return Col(relation.number, path[0].casefold(), fold(path[1:]))
            case sql.NoColumn(relation, path) if relation is not None:  # its columns may be out of date
                return Col(relation.number, path[0].casefold(), fold(path[1:]))
            case sql.MergedColumn(sides, path):
                return self._merged(sides, path)
            case sql.Possible(columns, None):
                return Col(ONE_OF_SEVERAL, columns[0].path[0].casefold(), fold(columns[0].path[1:]))
        return None

    def _merged(self, sides: Sequence[Resolution], path: tuple[str, ...]) -> Term | None:
        """A column of USING: that of one side; of a FULL JOIN the first of two that is not NULL."""
        terms = [self.term(side) for side in sides]
        if len(terms) == 1 and isinstance(terms[0], Col):
            return Col(terms[0].relation, terms[0].name, fold(path[1:]))
        both = [term for term in terms if term is not None]
        return Call("coalesce", tuple(both)) if len(both) == len(terms) and len(path) == 1 else None

    def typed(self, node: exp.Expr) -> Typed:
        """The type of a column's node; that of a field of a struct where the struct's is known."""
        parts = name_parts(node)
        return self.type(self.scope.resolve(parts)) if parts else UNKNOWN

    def type(self, resolution: Resolution) -> Typed:
        """The type of a column, given what its name means."""
        match resolution:
            case sql.ColumnOf(relation, path):
                return _field_type(type_of(relation, path[0]), path[1:])
            case sql.MergedColumn(sides, path):
                types = [self.type(side) for side in sides]
                nullable = any_nullable(*(typed.nullable for typed in types)) if len(types) > 1 else types[0].nullable
                return _field_type(Typed(types[0].data_type, nullable), path[1:])
        return UNKNOWN

    def star(self, qualifier: Sequence[str] = ()) -> Iterator[StarColumn]:
        """The columns of `*` or `a.*` in their order."""
        star = self.scope.star(qualifier)
        if star is None:
            yield StarColumn(None, None)
            return
        for name, merged in star.merged.items():
            typed = self.type(merged)
            yield StarColumn(None, TableColumn(name, typed.data_type, typed.nullable), self.term(merged))
        for relation in star.relations:
            for column in relation.rows.known_columns:
                if column.name.casefold() not in star.merged:
                    typed = type_of(relation, column.name)
                    star_column = TableColumn(column.name, typed.data_type, typed.nullable)
                    yield StarColumn(relation, star_column, column_of(relation, column.name))
            if relation.rows.columns is None:
                yield StarColumn(relation, None)

    def _facts(self, item: FromItem) -> SourceFacts:
        """What is known of the rows of one relation of FROM."""
        if item.kind == "table":
            facts = self.queries.table(item.parts)
        elif item.kind in ("query", "values", "parentheses") and not item.is_lateral:
            facts = self.queries.facts(item.node)
        elif item.kind == "pivot":
            facts = UNREADABLE
        else:  # a table function, a lateral view: any rows
            columns = tuple(TableColumn(name) for name in item.columns) if item.is_lateral else ()
            facts = SourceFacts(columns or None)
        if item.kind != "values" and not item.is_lateral:
            facts = renamed(facts, item.columns)
        return facts

    def _join(self, join: Join, new: Relation, table: tuple[str, ...]) -> None:
        side = join.side
        if join.natural:
            self.readable &= all(relation.rows.names_known for relation in self.relations)
        on = self._using(join)
        if join.on is not None:
            on += self.conditions(join.on)
        self.scope.end_join(join)
        self.filled |= side in ("RIGHT", "FULL")
        if join.kind == "ANTI" or side == "LEFT":
            self.compared.append(ComparedJoin(new, table, tuple(on), anti=join.kind == "ANTI"))
        own = [lifted(item, new) for item in new.rows.restrictions]
        if join.kind:
            self.terms += [*on, *own] if join.kind == "SEMI" else []
            return
        self._join_keys(side, new, on, own)
        if side in ("RIGHT", "FULL"):
            self.lost |= restricted_columns(self.terms)
            self.terms = []
        if side in ("LEFT", "FULL"):
            self.lost |= restricted_columns(own)
        if side in ("", "RIGHT"):
            self.terms += own
        if side == "":
            self.terms += on

    def _join_keys(self, side: str, new: Relation, on: Sequence[Term], own: Sequence[Term]) -> None:
        """The keys of the joined rows: of one side, where a row of it meets at most one of the other; else of both."""
        equated = Facts([*on, *own]) if side != "FULL" else Facts(())
        left_keys, right_keys = self.keys, _keys(new)
        right_once = _at_most_once(new, right_keys, on, equated)
        left_once = any(_fixed(key, {new.number}, on) for key in left_keys)
        pairs = [a | b for a in left_keys[:3] for b in right_keys[:3]]
        keys: list[Key] = list(left_keys) if right_once and side in ("", "LEFT") else []
        if left_once and side in ("", "RIGHT"):
            keys += right_keys
        self.keys = (keys or (pairs if side != "FULL" else []))[:_MAX_KEYS]

    def _using(self, join: Join) -> list[Term]:
        """The conditions of USING and NATURAL JOIN."""
        on: list[Term] = []
        for pair in self.scope.merge_columns(join):
            left, right = self.term(pair.left), self.term(pair.right)
            if left is None or right is None:
                self.readable = False
            else:
                on.append(Call("=", (left, right)))
        return on

    def _membership(self, node: exp.In) -> list[Term]:
        """A subquery's values may be restricted by its data too, so that the column is in doubt besides."""
        subject = term(node.this, self.resolve)
        if subject is None:
            return []
        terms: list[Term] = [Call("notnull", (subject,)), Call("opaque", tuple(columns(subject)))]
        inner = self.queries.subquery_facts(node.args["query"])  # it sees the names around it too
        if inner.columns is not None and len(inner.columns) == 1:
            name = inner.columns[0].name.casefold()
            for item in inner.restrictions:
                moved = replaced(item, lambda part: subject if part == Col(0, name) else None)
                if all(column.relation != 0 for column in columns(moved)):
                    terms.append(moved)
        return terms


def _field_type(whole: Typed, path: Sequence[str]) -> Typed:
    """The type of a field of a struct, given the struct's."""
    for part in path:
        fields = whole.data_type.fields if whole.data_type is not None else ()
        inner = next((field for name, field in fields if name.casefold() == part.casefold()), None)
        whole = Typed(inner, True if whole.nullable else None)
    return whole


def _keys(relation: Relation) -> list[Key]:
    keys: list[Key] = [frozenset(column_of(relation, name) for name in key) for key in relation.rows.unique]
    return keys[:_MAX_KEYS]


def _at_most_once(relation: Relation, keys: Sequence[Key], on: Sequence[Term], facts: Facts) -> bool:
    """Whether a row of the left finds at most one row of the relation."""
    return any(
        all(_is_fixed(column, {relation.number}, on) or facts.constant(column) for column in key) for key in keys
    )


def _fixed(key: Key, others: set[int], on: Sequence[Term]) -> bool:
    """Whether a row of the relation `others` fixes all columns of a key on the other side."""
    return all(_equated_with(column, others, on) for column in key)


def _equated_with(column: Term, numbers: set[int], on: Sequence[Term]) -> bool:
    for item in on:
        if isinstance(item, Call) and item.name in ("=", "<=>") and column in item.args:
            other = item.args[1] if item.args[0] == column else item.args[0]
            if is_constant(other) or all(part.relation in numbers for part in columns(other)):
                return True
    return False


def _is_fixed(column: Term, own: set[int], on: Sequence[Term]) -> bool:
    """Whether ON equates a column with something of another relation."""
    for item in on:
        if isinstance(item, Call) and item.name in ("=", "<=>") and column in item.args:
            other = item.args[1] if item.args[0] == column else item.args[0]
            if all(part.relation not in own for part in columns(other)):
                return True
    return False
