"""The rows of one SELECT: what FROM gives, which rows stay, and the items of its list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from merge_runner.lineage.expression import Expressions
from merge_runner.lineage.rows import Rest, Rows, item_at, unreadable, without
from merge_runner.lineage.scope import Scope, resolution_value, star_rows
from merge_runner.lineage.value import Value, union, unknown
from merge_runner.pruning.query.output import aggregates, is_generator
from merge_runner.sql.from_clause import FromItem, Join, from_items
from merge_runner.sql.names import grouping_names, is_star, name_parts, star_qualifier

_GENERATED = {"explode": ("col",), "explode_outer": ("col",), "posexplode": ("pos", "col"), "range": ("id",),
              "posexplode_outer": ("pos", "col")}  # fmt: skip
"""What the columns of a generator are called without an alias."""


class Queries(Protocol):
    """What reads the queries and tables that a SELECT names. `start` is where the text of its tree begins."""

    @property
    def start(self) -> int:
        """Where the text of the tree begins in the statement."""

    def rows(self, node: exp.Expr, outer: Scope | None = None) -> Rows:
        """The rows of a query; `outer` are the names of the query around it."""

    def table(self, parts: Sequence[str]) -> Rows:
        """The rows of a table, view or CTE, given the unquoted parts of its name."""

    def changes(self, parts: Sequence[str]) -> Rows:
        """The rows of the changes of a table, given the unquoted parts of its name."""


class SelectReader:
    """Reads one SELECT, or the joins of a FROM in parentheses."""

    def __init__(self, queries: Queries, outer: Scope | None) -> None:
        self._queries = queries
        self._scope = Scope(outer=outer)
        self._deciding: list[Value] = []
        self._reader = Expressions(self._scope, queries.start, queries.rows)
        self._items: list[tuple[str, Value, exp.Expr | None]] = []
        self._rest: list[Rest] = []

    def rows(self, select: exp.Select) -> Rows:
        """The rows of a SELECT, with its ORDER BY."""
        if select.args.get("kind") or select.args.get("match"):
            return unreadable(unknown("the output of a script or pattern cannot be followed"))
        self._from(select)
        windows = {window.name.casefold(): window for window in select.args.get("windows") or ()}
        self._reader = replace(self._reader, windows=windows)
        self._decide([self._clause(select, "where")], "filter")
        for node in select.expressions:
            self._item(node)
        columns = tuple((name, value) for name, value, _ in self._items)
        rows = Rows(columns, tuple(self._rest))
        if select.args.get("group") is not None:
            self._deciding.append(self._group_keys(select.args["group"]).deciding("group_by"))
        for key in ("having", "qualify"):
            condition = self._clause(select, key)
            if condition is not None:
                self._deciding.append(self._of_output(condition, rows, grouping_names(select)).deciding("filter"))
        if select.args.get("distinct") is not None:
            self._deciding.append(rows.every().deciding("group_by"))
        for key in ("order", "sort", "cluster"):
            if select.args.get(key) is not None:
                keys = (getattr(key, "this", key) if isinstance(key, exp.Ordered) else key
                        for key in select.args[key].expressions)  # fmt: skip
                self._deciding += [self._of_output(key, rows).deciding("sort") for key in keys]
        return replace(rows, deciding=union(self._deciding))

    def joined(self, node: exp.Expr) -> Rows:
        """The rows of a relation with joins in parentheses, `(a JOIN b ON …)`: all columns of it."""
        if node.args.get("pivots"):
            return unreadable(_pivot_value(self._reader, node))
        self._from(node)
        return replace(star_rows(self._scope, (), None), deciding=union(self._deciding))

    @staticmethod
    def _clause(select: exp.Select, key: str) -> exp.Expr | None:
        clause = select.args.get(key)
        return clause.this if clause is not None else None

    def _decide(self, nodes: Iterable[exp.Expr | None], role: str) -> None:
        values = [self._reader.value(node) for node in nodes if node is not None]
        self._deciding.append(union(values).deciding(role))  # type: ignore[arg-type]

    def _from(self, around: exp.Expr) -> None:
        """Read the relations of FROM, or of a relation in parentheses."""
        for item in from_items(around):
            rows = self._rows(item)
            self._deciding.append(rows.deciding)
            self._scope.add(item, rows)
            if item.join is not None:
                self._join(item.join)

    def _rows(self, item: FromItem) -> Rows:
        """The rows of one relation of FROM, which decide about those of the SELECT."""
        outer = self._scope if item.is_lateral else self._scope.outer
        if item.kind == "pivot":
            rows = unreadable(_pivot_value(self._reader, item.node))
        elif item.kind == "function":
            return self._generated_rows(item.node, item.columns)
        elif item.kind == "table":
            rows = self._queries.table(item.parts)
        elif item.kind == "changes":
            rows = self._queries.changes(item.parts)
        elif item.kind == "parentheses":
            rows = SelectReader(self._queries, outer).joined(item.node)
        else:
            rows = self._queries.rows(item.node, outer)
        return rows if item.kind == "values" else rows.renamed(item.columns, self._reader.span(item.node))

    def _join(self, join: Join) -> None:
        """Read how the last relation is joined to those before it."""
        *before, last = self._scope.relations
        if join.natural and not all(relation.rows.names_known for relation in (*before, last)):
            reason = "which columns a NATURAL JOIN joins by is not known"
            self._deciding.append(unknown(reason, self._reader.span(join.node)))
        for pair in self._scope.merge_columns(join):
            values = [resolution_value(side, None) for side in (pair.left, pair.right)]
            self._deciding.append(union(values).deciding("join"))
        self._decide([join.on], "join")
        self._scope.end_join(join)

    def _generated_rows(self, node: exp.Expr, names: Sequence[str]) -> Rows:
        """The rows that a function gives."""
        value = self._reader.value(node).direct("transformation")
        name = node.name.casefold() if isinstance(node, exp.Anonymous) else node.key
        names = names or _GENERATED.get(name, ())
        deciding = value.deciding("filter")
        if not names:
            reason = f"which columns the function {name} gives is not known"
            return Rows(rest=(Rest(None, more=union([value, unknown(reason, self._reader.span(node))])),),
                        deciding=deciding)  # fmt: skip
        return Rows(tuple((name, value) for name in names), deciding=deciding)

    def _item(self, node: exp.Expr) -> None:
        """One item of the SELECT list."""
        if is_star(node):
            self._star(node)
            return
        if isinstance(node, exp.Aliases) or is_generator(node):
            self._generator(node)
            return
        value = self._reader.value(node)
        parts = name_parts(node)
        name = node.alias if isinstance(node, exp.Alias) else parts[-1] if parts else ""
        if not name and isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
            name = node.expression.name
        self._items.append((name, value, node))
        if isinstance(node, exp.Alias):
            self._scope.items.setdefault(name.casefold(), value)

    def _generator(self, node: exp.Expr) -> None:
        inner = node.this if isinstance(node, exp.Aliases | exp.Alias) else node
        value = self._reader.value(inner).direct("transformation")
        self._deciding.append(value.deciding("filter"))
        names = [alias.name for alias in node.aliases] if isinstance(node, exp.Aliases) else [node.alias]
        if not any(names):
            names = list(_GENERATED.get(inner.name.casefold() if isinstance(inner, exp.Anonymous) else inner.key, ()))
        if not names:
            reason = "which columns the generator gives is not known"
            self._rest.append(Rest(None, more=union([value, unknown(reason, self._reader.span(inner))])))
        self._items += [(name, value, None) for name in names]

    def _star(self, node: exp.Expr) -> None:
        star = node.this if isinstance(node, exp.Column) else node
        left_out = frozenset(column.name.casefold() for column in star.args.get("except_") or ())
        rows = without(star_rows(self._scope, star_qualifier(node), self._reader.span(node)), left_out)
        self._rest += [replace(rest, place=rest.place + len(self._items)) for rest in rows.rest]
        self._items += [(name, value, None) for name, value in rows.columns]

    def _group_keys(self, group: exp.Group) -> Value:
        """What GROUP BY groups by: columns of FROM before aliases, and items by their places."""
        if group.args.get("all"):
            return union(value for _, value, node in self._items if node is None or not aggregates(_inner(node)))
        parts = [*group.expressions]
        for key in ("rollup", "cube", "grouping_sets"):
            elements = group.args.get(key)
            parts += elements if isinstance(elements, list) else []
        columns = [(name, value) for name, value, _ in self._items]
        return union(self._of_number(key, columns) for key in parts)

    def _of_number(self, node: exp.Expr, columns: list[tuple[str, Value]]) -> Value:
        return item_at(node, columns) or self._reader.value(node)

    def _of_output(self, node: exp.Expr, rows: Rows, of_from: Collection[str] = ()) -> Value:
        """A condition or key after the SELECT list: a name of an item means the item, before a column of FROM.

        `of_from` are names that mean columns of FROM all the same.
        """
        if node.is_int:
            return self._of_number(node, list(rows.columns))
        named = {name.casefold(): value for name, value, item in self._items if isinstance(item, exp.Alias)}
        outputs = {name: value for name, value in named.items() if name not in of_from}
        return replace(self._reader, scope=replace(self._scope, outputs=outputs)).value(node)


def _inner(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias) else node


def _pivot_value(reader: Expressions, node: exp.Expr) -> Value:
    return unknown("columns after PIVOT and UNPIVOT are not followed", reader.span(node))
