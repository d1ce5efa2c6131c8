"""The lineage of a MERGE, clause by clause, and of a query that makes a table or view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from merge_runner.lineage.edge import ClauseLineage, ColumnLineage, Lookup, Table, TableLineage
from merge_runner.lineage.expression import Expressions
from merge_runner.lineage.listed import column, listed, reasons
from merge_runner.lineage.query import Cte, Queries
from merge_runner.lineage.rows import Rows, of_table
from merge_runner.lineage.scope import Relation, Scope, qualifiers
from merge_runner.lineage.value import NOTHING, Value, union, unknown
from merge_runner.merge.read_query import read_expression, read_query
from merge_runner.merge.statement import Assignment, Clause, Expr, MergeStatement
from merge_runner.text import Span

if TYPE_CHECKING:
    from sqlglot import exp


def query_lineage(text: str, lookup: Lookup, known: Table | None = None) -> TableLineage:
    """The lineage of the rows of a query. `known` is what is declared of the table or view that they are.

    Spans count from the beginning of `text`.
    """
    rows = Queries(lookup).of(read_query(text))
    names = {name.casefold() for name, _ in rows.columns}
    declared = known.columns if known is not None and rows.rest else ()
    found = [column(name, value) for name, value in rows.columns if name]
    found += [column(name, _further(rows, name)) for name in declared if name.casefold() not in names]
    more = [value for name, value in rows.columns if not name]
    if known is None or not known.complete:
        more += [_incomplete(each.table) if each.table is not None else each.more for each in rows.rest]
    return TableLineage(tuple(found), listed(rows.deciding), reasons([rows.deciding, *more]))


def _further(rows: Rows, name: str) -> Value:
    """The value of a column that a star passes on."""
    return Scope([Relation((), rows)]).resolve((name,), None)


def _incomplete(table: Table) -> Value:
    return unknown(f"the columns of {table.name} are not all known")


def merge_lineage(statement: MergeStatement, target: Table, lookup: Lookup) -> TableLineage:
    """The lineage of the columns of a MERGE's target. `lookup` finds what its source names; spans are of its text.

    ON decides about every row, and so do the conditions of DELETE and INSERT. The condition of an UPDATE decides about
    the columns that it sets. A clause is asked only for rows that no clause of its kind before it took, so that the
    conditions of these count as well.
    """
    return _Merge(statement, target, lookup).lineage()


@dataclass(frozen=True)
class _Written:
    """What one clause does: the columns that it writes by their folded names, and what decides whether it acts."""

    clause: Clause
    columns: dict[str, tuple[str, Value]]
    conditions: Value
    unresolved: Value

    def lineage(self) -> ClauseLineage:
        clause = self.clause
        columns = tuple(column(name, value) for name, value in self.columns.values())
        return ClauseLineage(clause.kind, clause.action, clause.span, columns, listed(self.conditions))


class _Merge:
    def __init__(self, statement: MergeStatement, target: Table, lookup: Lookup) -> None:
        self.statement = statement
        self.target = target
        source = statement.source
        queries = Queries(lookup)
        for cte in statement.ctes:
            query = cte.query
            one = Cte(cte.name, query.expression, query.span.start, cte.columns, statement.recursive, query.span)
            queries = queries.with_cte(one)
        self.queries = queries
        self.source = queries.of(source.query) if source.query is not None else queries.table(source.parts)
        own = statement.target
        self.target_side = Relation(qualifiers(own.alias, own.parts), of_table(target))
        self.source_side = Relation(
            qualifiers(source.alias, source.parts), self.source, passes=source.kind == "query" and not source.alias
        )

    def lineage(self) -> TableLineage:
        statement = self.statement
        on = union([self._value(each, "matched") for each in statement.on]).deciding("join")
        written = list(self._clauses())
        rows = [self.source.deciding, on]
        rows += [each.conditions for each in written if each.clause.action != "update"]
        gaps = [each.unresolved for each in written]
        if statement.more_clauses:
            gaps.append(unknown("there may be more clauses, which are filled in at run time", statement.span))
        return TableLineage(
            tuple(self._columns(written)),
            listed(union(rows)),
            reasons([*rows, *gaps]),
            tuple(each.lineage() for each in written),
        )

    def _columns(self, written: list[_Written]) -> Iterator[ColumnLineage]:
        """The columns of the target in its order, then those that clauses add to it."""
        names = {name.casefold(): name for name in self.target.columns}
        for each in written:
            names.update({folded: name for folded, (name, _) in each.columns.items() if folded not in names})
        for folded, name in names.items():
            values = [each.columns[folded][1] for each in written if folded in each.columns]
            yield column(name, union(values))

    def _clauses(self) -> Iterator[_Written]:
        """What each clause does, in their order."""
        before: dict[str, Value] = {}
        for clause in self.statement.clauses:
            own = [before.get(clause.kind, NOTHING)]
            if clause.condition is not None:
                own.append(self._value(clause.condition, clause.kind).deciding("conditional"))
            conditions = before[clause.kind] = union(own)
            columns, gaps = self._written(clause)
            columns |= self._generated(clause, columns)
            if clause.action == "update":
                columns = {key: (name, union([value, conditions])) for key, (name, value) in columns.items()}
            yield _Written(clause, columns, conditions, gaps)

    def _written(self, clause: Clause) -> tuple[dict[str, tuple[str, Value]], Value]:
        """The columns that a clause assigns, and what cannot be said of them."""
        gaps: list[Value] = []
        if clause.partial:
            gaps.append(unknown("there are more assignments, which are filled in at run time", clause.span))
        if clause.star:
            columns, gap = self._star(clause)
            return columns, union([*gaps, gap])
        found: dict[str, tuple[str, Value]] = {}
        for assignment in clause.assignments:
            name = self.target.spelled(self._assigned(assignment))
            value = NOTHING
            if assignment.value.text.strip().upper() != "DEFAULT":
                value = self._value(assignment.value, clause.kind)
            own = found.get(name.casefold(), (name, NOTHING))[1]  # several fields of one struct
            found[name.casefold()] = (name, union([own, value]))
        return found, union(gaps)

    def _assigned(self, assignment: Assignment) -> str:
        """The column that an assignment writes, with a qualifier or without, or a field of it."""
        parts = assignment.column
        folded = tuple(part.casefold() for part in parts)
        for name in self.target_side.names:
            if len(folded) > len(name) and folded[: len(name)] == name:
                return parts[len(name)]
        return parts[0]

    def _star(self, clause: Clause) -> tuple[dict[str, tuple[str, Value]], Value]:
        """`UPDATE SET *` and `INSERT *`: every column of the target from the source's of its name.

        With schema evolution every column of the source, which the target gets where it lacks it.
        """
        target, source = self.target, self.source
        span = Span(clause.span.end - 1, clause.span.end)
        names = {name.casefold(): name for name in target.columns}
        generated = {name.casefold() for name, _ in target.generated}
        known = {name.casefold(): name for name, _ in source.columns if name}
        gaps: list[Value] = []
        if self.statement.schema_evolution:
            names = {folded: names.get(folded, name) for folded, name in known.items()} | {
                folded: name for folded, name in names.items() if source.rest
            }
            if source.rest:
                gaps.append(unknown("* takes all columns of the source, which are not all known", span))
        elif not target.complete:
            names = names | known
            if source.rest:
                gaps.append(unknown("* takes all columns of the target, which are not all known", span))
        side = Scope([self.source_side])
        found: dict[str, tuple[str, Value]] = {}
        for folded, name in names.items():
            if folded in generated and folded not in known:
                continue
            if not source.having(name) and not source.rest:
                value = unknown(f'the source has no column "{name}"', span)
            else:
                value = side.resolve((name,), span)
            if self.statement.schema_evolution and folded not in known:
                value = union([value, unknown(f'whether the source has a column "{name}" is not known', span)])
            found[folded] = (name, value)
        return found, union(gaps)

    def _generated(self, clause: Clause, columns: dict[str, tuple[str, Value]]) -> dict[str, tuple[str, Value]]:
        """The generated columns that a clause changes, as it writes columns that they are computed from."""
        found: dict[str, tuple[str, Value]] = {}
        before = self.target_side.rows.columns
        kept = [(name, value if clause.action == "update" else NOTHING) for name, value in before]
        after = tuple(columns.get(name.casefold(), (name, value)) for name, value in kept)
        for name, text in self.target.generated if clause.action != "delete" else ():
            tree = read_expression(text).expression
            if name.casefold() in columns:
                continue
            if tree is None:
                gap = unknown(f'the expression of the generated column "{name}" cannot be read', clause.span)
                found[name.casefold()] = (name, gap)
            elif any(each.column.casefold() in columns for each in self._over(tree, before).inputs):
                found[name.casefold()] = (name, self._over(tree, after))
        return found

    def _over(self, tree: exp.Expr, columns: tuple[tuple[str, Value], ...]) -> Value:
        """The value of an expression over columns of the target."""
        return Expressions(Scope([Relation((), Rows(columns))]), 0, self.queries.rows).value(tree)

    def _value(self, expr: Expr, kind: str) -> Value:
        """The value of an expression of ON or of a clause, which sees the sides that have a row there."""
        if expr.expression is None:
            return unknown("the expression cannot be read", expr.span)
        sides = {"not_matched": [self.source_side], "not_matched_by_source": [self.target_side]}
        relations = sides.get(kind, [self.target_side, self.source_side])
        reader = Expressions(Scope(list(relations)), expr.span.start, replace(self.queries, start=expr.span.start).rows)
        try:
            return reader.value(expr.expression)
        except RecursionError:
            return unknown("the expression is nested too deeply", expr.span)
