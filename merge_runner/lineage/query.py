"""The rows of a query: set operations, CTEs, VALUES and what FROM names; SELECT itself is read next to this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.lineage.edge import Lookup, Table
from merge_runner.lineage.expression import Expressions
from merge_runner.lineage.rows import Rows, item_at, of_table, unreadable
from merge_runner.lineage.scope import Relation, Scope
from merge_runner.lineage.select import SelectReader
from merge_runner.lineage.value import union, unknown
from merge_runner.merge.name_places import names_span
from merge_runner.merge.syntax.placeholder import as_written, has_placeholder
from merge_runner.sql.names import CHANGE_COLUMNS
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.merge.statement import Expr

_MAX_TURNS = 20
"""Turns of a recursive CTE after which it is given up: each adds at least one input to a column."""
_UNREADABLE = "the query cannot be read"


@dataclass(frozen=True)
class Cte:
    """A common table expression. `tree` None: it cannot be read. `start` is where its text begins in the statement.

    `recursive`: it may read itself.
    """

    name: str
    tree: exp.Expr | None
    start: int
    columns: tuple[str, ...] = ()
    recursive: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class Queries:
    """Reads queries that see the same CTEs. `start` is where the text of their tree begins in the statement."""

    lookup: Lookup
    start: int = 0
    ctes: Mapping[str, Callable[[], Rows]] = field(default_factory=dict)

    def of(self, expr: Expr) -> Rows:
        """The rows of a query of the statement's text."""
        if expr.expression is None:
            return unreadable(unknown(_UNREADABLE, expr.stopped or expr.span))
        try:
            return replace(self, start=expr.span.start).rows(expr.expression)
        except RecursionError:
            return unreadable(unknown("the query is nested too deeply", expr.span))

    def with_cte(self, cte: Cte, outer: Scope | None = None) -> Queries:
        """The same with one more CTE, which itself sees those before it; it is read when it is named."""
        cache: list[Rows] = []

        def rows() -> Rows:
            if not cache:
                cache.append(self._rows_of(cte, outer))
            return cache[0]

        return replace(self, ctes={**self.ctes, cte.name.casefold(): rows})

    def _rows_of(self, cte: Cte, outer: Scope | None) -> Rows:
        """The rows of a CTE. One that reads itself is read with what the turn before found, until nothing is added."""
        if cte.tree is None:
            return unreadable(unknown(_UNREADABLE, cte.span))
        inside = replace(self, start=cte.start)
        if not cte.recursive or not isinstance(cte.tree, exp.SetOperation):
            return inside.rows(cte.tree, outer).renamed(cte.columns)
        before = inside._with_ctes(cte.tree, outer).rows(cte.tree.this, outer).renamed(cte.columns)
        for _ in range(_MAX_TURNS):
            seen: Callable[[], Rows] = partial(_same, before)
            turn = replace(inside, ctes={**self.ctes, cte.name.casefold(): seen})
            after = turn.rows(cte.tree, outer).renamed(cte.columns)
            if after == before:
                return after
            before = after
        return unreadable(unknown(f'the recursion of "{cte.name}" cannot be followed', cte.span))

    def table(self, parts: Sequence[str]) -> Rows:
        """The rows of a table, view or CTE, given the unquoted parts of its name."""
        if len(parts) == 1 and (cte := self.ctes.get(parts[0].casefold())) is not None:
            return cte()
        if not parts or any(map(has_placeholder, parts)):
            name = as_written(".".join(parts))
            return unreadable(unknown(f"which table {name or 'is read'} is known at run time only"))
        table = self.lookup(tuple(parts))
        return of_table(table if table is not None else Table(".".join(parts)))

    def changes(self, parts: Sequence[str]) -> Rows:
        """The rows of the changes of a table: its columns, those that say what was changed, and further ones.

        Delta 4.4.0 gives `_metadata` among them, too: no column is known by its place.
        """
        table = self.lookup(tuple(parts)) or Table(".".join(parts))
        if any(map(has_placeholder, parts)) or (len(parts) == 1 and parts[0].casefold() in self.ctes):
            return unreadable(unknown(f"the changes of {as_written('.'.join(parts))} cannot be followed"))
        return of_table(replace(table, columns=(*table.columns, *CHANGE_COLUMNS), complete=False))

    def rows(self, node: exp.Expr, outer: Scope | None = None) -> Rows:
        """The rows of a query; `outer` are the names of the query around it, which a subquery sees as well."""
        queries = self._with_ctes(node, outer)
        if isinstance(node, exp.Select):
            return SelectReader(queries, outer).rows(node)
        if isinstance(node, exp.SetOperation):
            rows = queries._set_operation(node, outer)
        elif isinstance(node, exp.Values):
            rows = queries._values(node, outer)
        elif isinstance(node, exp.Subquery):
            if any(node.args.get(key) for key in ("pivots", "joins", "laterals")) or isinstance(node.this, exp.Table):
                return SelectReader(queries, outer).joined(node)
            rows = queries.rows(node.this, outer)
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            parts = [part.name for part in node.parts]
            rows = queries.changes(parts) if node.args.get("changes") else queries.table(parts)
        else:
            return unreadable(unknown(_UNREADABLE))
        return queries._sort(node, rows, outer)

    def _with_ctes(self, node: exp.Expr, outer: Scope | None) -> Queries:
        queries = self
        ctes = node.args.get("with_")
        if ctes is None:
            return self
        recursive = bool(ctes.args.get("recursive"))
        for cte in ctes.expressions:
            alias = cte.args["alias"]
            names = tuple(column.name for column in alias.columns)
            queries = queries.with_cte(Cte(alias.name, cte.this, self.start, names, recursive), outer)
        return queries

    def _set_operation(self, node: exp.SetOperation, outer: Scope | None) -> Rows:
        """UNION and the like. Branches in a row are read one after another: there may be thousands."""
        chain: list[exp.SetOperation] = []
        first: exp.Expr = node
        while isinstance(first, exp.SetOperation) and (first is node or not _has_own_part(first)):
            chain.append(first)
            first = first.this
        rows = self.rows(first, outer)
        for operation in reversed(chain):
            rows = _combine_rows(
                operation, rows, self.rows(operation.expression, outer), names_span(operation.expression, self.start)
            )
        return rows

    def _values(self, node: exp.Values, outer: Scope | None) -> Rows:
        """The rows of VALUES: `col1`, `col2`… where no alias names the columns."""
        reader = Expressions(Scope(outer=outer), self.start, self.rows)
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        alias = node.args.get("alias")
        names = [column.name for column in alias.columns] if alias is not None else []
        columns = []
        for place in range(max(map(len, rows), default=0)):
            name = names[place] if place < len(names) else f"col{place + 1}"
            columns.append((name, union([reader.value(row[place]) for row in rows if place < len(row)])))
        return Rows(tuple(columns))

    def _sort(self, node: exp.Expr, rows: Rows, outer: Scope | None) -> Rows:
        """The rows after the ORDER BY of a set operation or of a query in parentheses."""
        order = node.args.get("order")
        if order is None:
            return rows
        reader = Expressions(Scope([Relation((), rows)], outer), self.start, self.rows)
        keys = [item_at(key.this, rows.columns) or reader.value(key.this) for key in order.expressions]
        return replace(rows, deciding=union([rows.deciding, union(keys).deciding("sort")]))


def _same(rows: Rows) -> Rows:
    return rows


def _has_own_part(node: exp.Expr) -> bool:
    return any(node.args.get(key) is not None for key in ("with_", "order", "limit", "offset"))


def _combine_rows(node: exp.SetOperation, left: Rows, right: Rows, span: Span | None) -> Rows:
    """The rows of a set operation: columns by their places, under the names of the first query.

    `span` is the place of the second query.
    """
    deciding = [left.deciding, right.deciding]
    if isinstance(node, exp.Union):
        rows = _by_place(left, right, span)
        if node.args.get("distinct") is not False:
            deciding.append(rows.every().deciding("group_by"))
    else:
        rows = left  # whole rows are compared
        deciding.append(union([left.every(), right.every()]).deciding("filter"))
    return replace(rows, deciding=union(deciding))


def _by_place(left: Rows, right: Rows, span: Span | None) -> Rows:
    if _shape(left) == _shape(right) and all(rest.table is not None for rest in left.rest):
        pairs = zip(left.columns, right.columns, strict=True)
        columns = tuple((name, union([value, other])) for (name, value), (_, other) in pairs)
        rests = zip(left.rest, right.rest, strict=True)
        return Rows(columns, tuple(replace(own, more=union([own.more, other.more])) for own, other in rests))
    reason = "columns of a UNION meet by their places, and not all columns of both queries are known"
    if not left.rest and not right.rest:
        reason = "the queries of a UNION have different numbers of columns"
    value = unknown(reason, span)
    columns = tuple((name, union([own, value])) for name, own in left.columns)
    return Rows(columns, tuple(replace(rest, more=union([rest.more, value])) for rest in left.rest))


def _shape(rows: Rows) -> tuple[object, ...]:
    """What two queries agree in whose columns meet one by one: stars over one table give the same columns."""
    rest = ((rest.table.name.casefold() if rest.table else "", rest.left_out, rest.place) for rest in rows.rest)
    return (len(rows.columns), *rest)
