"""The lineage of a MERGE, clause by clause, and of a query that makes a table or view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from merge_runner.lineage.edge import ClauseLineage, ColumnLineage, Input, Lookup, Table, TableLineage, Unresolved
from merge_runner.lineage.expression import Expressions
from merge_runner.lineage.query import Cte, Queries
from merge_runner.lineage.rows import Rows, of_table
from merge_runner.lineage.scope import Relation, Scope, name_value
from merge_runner.lineage.value import NOTHING, Value, union, unknown
from merge_runner.merge.read_query import read_expression, read_query
from merge_runner.merge.statement import Assignment, Clause, Expr, MergeStatement
from merge_runner.sql.names import fold, qualifiers
from merge_runner.text import Span

if TYPE_CHECKING:
    from sqlglot import exp


def query_lineage(text: str, lookup: Lookup, table: Table | None = None) -> TableLineage:
    """The lineage of the rows of a query. `table` is what is declared of the table or view that they are.

    Spans count from the beginning of `text`.
    """
    rows = Queries(lookup).of(read_query(text))
    names = {name.casefold() for name, _ in rows.columns}
    declared_columns = table.columns if table is not None and rows.rest else ()
    columns = [_column(name, value) for name, value in rows.columns if name]
    columns += [_column(name, _further(rows, name)) for name in declared_columns if name.casefold() not in names]
    more = [value for name, value in rows.columns if not name]
    if table is None or not table.complete:
        more += [_incomplete(rest.table) if rest.table is not None else rest.more for rest in rows.rest]
    return TableLineage(tuple(columns), _sorted_inputs(rows.deciding), _reasons([rows.deciding, *more]))


def _further(rows: Rows, name: str) -> Value:
    """The value of a column that a star passes on."""
    return name_value(Scope([Relation((), rows)]), (name,), None)


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
class _ClauseColumns:
    """What one clause does: the columns that it writes by their folded names, and what decides whether it acts."""

    clause: Clause
    columns: dict[str, tuple[str, Value]]
    conditions: Value
    unresolved: Value

    def lineage(self) -> ClauseLineage:
        clause = self.clause
        columns = tuple(_column(name, value) for name, value in self.columns.values())
        return ClauseLineage(clause.kind, clause.action, clause.span, columns, _sorted_inputs(self.conditions))


class _Merge:
    def __init__(self, statement: MergeStatement, target: Table, lookup: Lookup) -> None:
        self.statement = statement
        self.target = target
        source = statement.source
        queries = Queries(lookup)
        for cte in statement.ctes:
            query = cte.query
            named_query = Cte(
                cte.name, query.expression, query.span.start, cte.columns, statement.recursive, query.span
            )
            queries = queries.with_cte(named_query)
        self.queries = queries
        self.source = queries.of(source.query) if source.query is not None else queries.table(source.parts)
        own = statement.target
        self.target_side = Relation(qualifiers(own.alias, own.parts), of_table(target))
        self.source_side = Relation(
            qualifiers(source.alias, source.parts),
            self.source,
            takes_any_qualifier=source.kind == "query" and not source.alias,
        )

    def lineage(self) -> TableLineage:
        statement = self.statement
        on = union([self._value(condition, "matched") for condition in statement.on]).deciding("join")
        clauses = list(self._clauses())
        rows = [self.source.deciding, on]
        rows += [clause.conditions for clause in clauses if clause.clause.action != "update"]
        gaps = [clause.unresolved for clause in clauses]
        if statement.more_clauses:
            gaps.append(unknown("there may be more clauses, which are filled in at run time", statement.span))
        return TableLineage(
            tuple(self._columns(clauses)),
            _sorted_inputs(union(rows)),
            _reasons([*rows, *gaps]),
            tuple(clause.lineage() for clause in clauses),
        )

    def _columns(self, clauses: list[_ClauseColumns]) -> Iterator[ColumnLineage]:
        """The columns of the target in its order, then those that clauses add to it."""
        names = {name.casefold(): name for name in self.target.columns}
        for clause in clauses:
            names.update({folded: name for folded, (name, _) in clause.columns.items() if folded not in names})
        for folded, name in names.items():
            values = [clause.columns[folded][1] for clause in clauses if folded in clause.columns]
            yield _column(name, union(values))

    def _clauses(self) -> Iterator[_ClauseColumns]:
        """What each clause does, in their order."""
        before: dict[str, Value] = {}
        for clause in self.statement.clauses:
            own = [before.get(clause.kind, NOTHING)]
            if clause.condition is not None:
                own.append(self._value(clause.condition, clause.kind).deciding("conditional"))
            conditions = before[clause.kind] = union(own)
            columns, gaps = self._assignments(clause)
            columns |= self._generated_columns(clause, columns)
            if clause.action == "update":
                columns = {key: (name, union([value, conditions])) for key, (name, value) in columns.items()}
            yield _ClauseColumns(clause, columns, conditions, gaps)

    def _assignments(self, clause: Clause) -> tuple[dict[str, tuple[str, Value]], Value]:
        """The columns that a clause assigns, and what cannot be said of them."""
        gaps: list[Value] = []
        if clause.partial:
            gaps.append(unknown("there are more assignments, which are filled in at run time", clause.span))
        if clause.star:
            columns, gap = self._star(clause)
            return columns, union([*gaps, gap])
        by_name: dict[str, tuple[str, Value]] = {}
        for assignment in clause.assignments:
            name = self.target.column_name(self._assigned_column(assignment))
            value = NOTHING
            if assignment.value.text.strip().upper() != "DEFAULT":
                value = self._value(assignment.value, clause.kind)
            own = by_name.get(name.casefold(), (name, NOTHING))[1]  # several fields of one struct
            by_name[name.casefold()] = (name, union([own, value]))
        return by_name, union(gaps)

    def _assigned_column(self, assignment: Assignment) -> str:
        """The column that an assignment writes, with a qualifier or without, or a field of it."""
        parts = assignment.column
        path = self.target_side.path(parts, fold(parts)) or parts
        return path[0]

    def _star(self, clause: Clause) -> tuple[dict[str, tuple[str, Value]], Value]:
        """`UPDATE SET *` and `INSERT *`: every column of the target from the source's of its name.

        With schema evolution every column of the source, which the target gets where it lacks it.
        """
        target, source = self.target, self.source
        span = Span(clause.span.end - 1, clause.span.end)
        names = {name.casefold(): name for name in target.columns}
        generated = {name.casefold() for name, _ in target.generated}
        source_columns = {name.casefold(): name for name, _ in source.columns if name}
        gaps: list[Value] = []
        if self.statement.schema_evolution:
            names = {folded: names.get(folded, name) for folded, name in source_columns.items()} | {
                folded: name for folded, name in names.items() if source.rest
            }
            if source.rest:
                gaps.append(unknown("* takes all columns of the source, which are not all known", span))
        elif not target.complete:
            names = names | source_columns
            if source.rest:
                gaps.append(unknown("* takes all columns of the target, which are not all known", span))
        side = Scope([self.source_side])
        columns: dict[str, tuple[str, Value]] = {}
        for folded, name in names.items():
            if folded in generated and folded not in source_columns:
                continue
            if not source.having(name) and not source.rest:
                value = unknown(f'the source has no column "{name}"', span)
            else:
                value = name_value(side, (name,), span)
            if self.statement.schema_evolution and folded not in source_columns:
                value = union([value, unknown(f'whether the source has a column "{name}" is not known', span)])
            columns[folded] = (name, value)
        return columns, union(gaps)

    def _generated_columns(self, clause: Clause, columns: dict[str, tuple[str, Value]]) -> dict[str, tuple[str, Value]]:
        """The generated columns that a clause changes, as it writes columns that they are computed from."""
        generated: dict[str, tuple[str, Value]] = {}
        before = self.target_side.rows.columns
        values = [(name, value if clause.action == "update" else NOTHING) for name, value in before]
        after = tuple(columns.get(name.casefold(), (name, value)) for name, value in values)
        for name, text in self.target.generated if clause.action != "delete" else ():
            tree = read_expression(text).expression
            if name.casefold() in columns:
                continue
            if tree is None:
                gap = unknown(f'the expression of the generated column "{name}" cannot be read', clause.span)
                generated[name.casefold()] = (name, gap)
            elif any(column_input.column.casefold() in columns for column_input in self._over(tree, before).inputs):
                generated[name.casefold()] = (name, self._over(tree, after))
        return generated

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


def _sorted_inputs(value: Value) -> tuple[Input, ...]:
    """The inputs in order, each once: a column that is written in several ways is one."""
    inputs: dict[tuple[str, str, str], Input] = {}
    for column_input in sorted(value.inputs):
        inputs.setdefault((column_input.relation, column_input.column.casefold(), column_input.subtype), column_input)
    return tuple(sorted(inputs.values()))


def _reasons(values: Iterable[Value]) -> tuple[Unresolved, ...]:
    """What cannot be said of several values, in the order of the text."""
    gaps = {gap for value in values for gap in value.unresolved}
    return tuple(sorted(gaps, key=lambda gap: (gap.span.start if gap.span else -1, gap.reason)))


def _column(name: str, value: Value) -> ColumnLineage:
    """A column with what writes it."""
    return ColumnLineage(name, _sorted_inputs(value), _reasons([value]))
