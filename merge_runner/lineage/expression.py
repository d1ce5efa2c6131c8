"""What the value of an expression is made of, and what decides about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from merge_runner.formats.functions import AGGREGATES
from merge_runner.lineage.edge import Indirect
from merge_runner.lineage.rows import Rows
from merge_runner.lineage.scope import Scope, name_value, star_rows
from merge_runner.lineage.value import NOTHING, Value, union
from merge_runner.merge.name_places import names_span
from merge_runner.sql.names import UNITS, is_star, name_parts, star_qualifier
from merge_runner.text import Span

_OF_ONE_ROW = (exp.Lag, exp.Lead, exp.NthValue)
"""Functions of a window whose value is that of one row. sqlglot has them among the aggregates."""
_COUNTS = (exp.Count, exp.CountIf)


@dataclass(frozen=True)
class Expressions:
    """Reads the expressions of one SELECT, or of a MERGE.

    `start` is where the text of their tree begins in the statement. `query` reads a query that is in an expression.
    `windows` are the named ones of the SELECT.
    """

    scope: Scope
    start: int
    query: Callable[[exp.Expr, Scope], Rows]
    windows: Mapping[str, exp.Expr] = field(default_factory=dict)

    def value(self, node: exp.Expr) -> Value:
        """The value of an expression: that of a column itself where it is one, or a field of one."""
        while isinstance(node, exp.Paren | exp.Alias):
            node = node.this
        if _is_unit(node):
            return NOTHING
        parts = name_parts(node)
        if parts:
            return name_value(self.scope, parts, self.span(node))
        special = self._special(node)
        return self._parts(node.iter_expressions()).direct("transformation") if special is None else special

    def deciding(self, nodes: Iterable[exp.Expr], role: Indirect) -> Value:
        """All that expressions depend on, where they only decide."""
        return union([self.value(node) for node in nodes]).deciding(role)

    def span(self, node: exp.Expr) -> Span | None:
        """Where a node's names are in the statement; None for what has no place of its own."""
        return names_span(node, self.start)

    def _parts(self, nodes: Iterable[exp.Expr]) -> Value:
        """The values of several nodes; no recursion along plain functions, as a sum may have thousands of terms."""
        values: list[Value] = []
        todo = list(nodes)
        while todo:
            node = todo.pop()
            if isinstance(node, exp.Literal | exp.Identifier | exp.DataType) or _is_unit(node):
                continue
            parts = name_parts(node)
            if parts:
                values.append(name_value(self.scope, parts, self.span(node)))
                continue
            special = self._special(node)
            if special is None:
                todo += node.iter_expressions()
            else:
                values.append(special)
        return union(values)

    def _special(self, node: exp.Expr) -> Value | None:
        """The value of what is more than a function of its arguments; None for any other expression."""
        for kinds, reader in _READERS:
            if isinstance(node, kinds):
                return reader(self, node)
        return None

    def _dot(self, node: exp.Expr) -> Value:
        """A field of an expression, or a function of a schema, which sqlglot reads as a field of the schema."""
        if isinstance(node.expression, exp.Identifier):
            return self.value(node.this).at([node.expression.name])
        return self._parts([node.expression])

    def _if(self, node: exp.Expr) -> Value:
        branches = [branch for branch in (node.args.get("true"), node.args.get("false")) if branch is not None]
        return union([self._parts(branches).direct("transformation"), self.deciding([node.this], "conditional")])

    def _case(self, node: exp.Expr) -> Value:
        values = [branch.args["true"] for branch in node.args["ifs"]]
        if node.args.get("default") is not None:
            values.append(node.args["default"])
        conditions = [branch.this for branch in node.args["ifs"]]
        if node.this is not None:
            conditions.append(node.this)
        return union([self._parts(values).direct("transformation"), self.deciding(conditions, "conditional")])

    def _window(self, node: exp.Expr) -> Value:
        windows = [self.windows[name] for name in _window_names(node) if name in self.windows]
        over: list[exp.Expr] = []
        for window in (node, *windows):
            order = window.args.get("order")
            over += window.args.get("partition_by") or ()
            over += [key.this for key in order.expressions] if order is not None else ()
        return union([self._parts([node.this]).direct("transformation"), self.deciding(over, "window")])

    def _filter(self, node: exp.Expr) -> Value:
        return union([self._parts([node.this]), self.deciding([node.expression.this], "filter")])

    def _order(self, node: exp.Expr) -> Value:
        inner = [node.this] if node.this is not None else []
        return union([self._parts(inner), self.deciding((key.this for key in node.expressions), "sort")])

    def _aggregate(self, node: exp.Expr) -> Value:
        if isinstance(node, _OF_ONE_ROW):
            return self._parts(node.iter_expressions()).direct("transformation")
        if isinstance(node, _COUNTS) and isinstance(node.this, exp.Star):
            return NOTHING
        # In HAVING an aggregate sees FROM.
        inside = replace(self, scope=replace(self.scope, outputs={})) if self.scope.outputs else self
        return inside._parts(node.iter_expressions()).direct("aggregation")

    def _named_function(self, node: exp.Expr) -> Value:
        value = self._parts(node.iter_expressions())
        return value.direct("aggregation" if str(node.this).casefold() in AGGREGATES else "transformation")

    def _struct(self, node: exp.Expr) -> Value:
        """A struct that is made here: a field of it is made of that field's value alone."""
        fields: dict[str, Value] = {}
        values: list[Value] = []
        for place, element in enumerate(node.expressions, start=1):
            if isinstance(element, exp.PropertyEQ | exp.Alias):
                inner = element.expression if isinstance(element, exp.PropertyEQ) else element.this
                name = element.this.name if isinstance(element, exp.PropertyEQ) else element.alias
            else:
                inner, name = element, (name_parts(element) or (f"col{place}",))[-1]
            values.append(self._parts([inner]) if is_star(inner) else self.value(inner))
            fields[name.casefold()] = values[-1]
        value = union(values).direct("transformation")
        return Value(value.inputs, value.unresolved, {} if any(map(is_star, node.expressions)) else fields)

    def _lambda(self, node: exp.Expr) -> Value:
        """The body of a lambda; its parameters hide columns of their names."""
        parameters = {parameter.name.casefold() for parameter in node.expressions}
        inner = replace(self.scope, parameters=self.scope.parameters | parameters)
        return replace(self, scope=inner).value(node.this)

    def _star(self, node: exp.Expr) -> Value:
        return star_rows(self.scope, star_qualifier(node), self.span(node)).every()

    def _exists(self, node: exp.Expr) -> Value:
        if not isinstance(node.this, exp.Query):
            return self._parts(node.iter_expressions()).direct("transformation")
        return self.query(node.this, self.scope).deciding

    def _subquery(self, node: exp.Expr) -> Value:
        rows = self.query(node, self.scope)
        return union([rows.every(), rows.deciding])


def _is_unit(node: exp.Expr) -> bool:
    """Whether a name is the unit of a function such as `dateadd(day, …)`, which sqlglot may read as a column."""
    return (
        isinstance(node, exp.Column)
        and not node.table
        and node.name.casefold() in UNITS
        and isinstance(node.parent, exp.Anonymous)
        and node.arg_key == "expressions"
        and node.parent.expressions[0] is node
    )


def _window_names(node: exp.Expr) -> list[str]:
    """The named windows that OVER mentions, as `over w` and `over (w order by x)` do."""
    identifiers = [node.args.get("alias"), node.args.get("first")]
    return [identifier.name.casefold() for identifier in identifiers if isinstance(identifier, exp.Identifier)]


_READERS: tuple[tuple[type | tuple[type, ...], Callable[[Expressions, exp.Expr], Value]], ...] = (
    (exp.Dot, Expressions._dot),
    ((exp.If, exp.Nvl2), Expressions._if),
    (exp.Case, Expressions._case),
    (exp.Window, Expressions._window),
    (exp.Filter, Expressions._filter),
    (exp.Order, Expressions._order),
    (exp.Lambda, Expressions._lambda),
    (exp.Exists, Expressions._exists),
    ((exp.Query, exp.Values), Expressions._subquery),
    (exp.Struct, Expressions._struct),
    ((exp.Star, exp.Column), Expressions._star),
    (exp.AggFunc, Expressions._aggregate),
    (exp.Anonymous, Expressions._named_function),
)
"""What reads each kind of node, in the order in which it is looked up."""
