"""What computes a column of a source, through CTEs and views."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.logic.budget import Budget
from merge_runner.pruning.query.source import Lookup
from merge_runner.sql.ctes import Ctes, statement_ctes, with_ctes

MAX_QUERIES = 150
"""How many queries one question looks at: CTEs that each name the former one twice double with each."""


def computed_by(name: str, statement: MergeStatement, lookup: Lookup) -> Iterator[exp.Expr]:
    """Yield the expressions that compute a column of the source: none where a table has it, one for each branch."""
    source = statement.source
    outputs = _Outputs(lookup)
    if source.query is None:
        yield from outputs.of_table(source.parts, name, statement_ctes(statement))
    elif source.query.expression is not None:
        yield from outputs.of_query(source.query.expression, name, statement_ctes(statement))


class _Outputs:
    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.queries = Budget(MAX_QUERIES)

    def of_table(self, parts: tuple[str, ...], name: str, visible: Ctes) -> Iterator[exp.Expr]:
        cte = visible.get(parts[0].casefold()) if len(parts) == 1 else None
        if cte is not None:
            yield from self.of_query(cte.query, name, cte.visible) if cte.query is not None else ()
        elif (table := self.lookup(parts) if parts else None) is not None and table.query is not None:
            tree = read_query(table.query).expression
            yield from self.of_query(tree, name, {}) if tree is not None else ()

    def of_query(self, node: exp.Expr, name: str, visible: Ctes) -> Iterator[exp.Expr]:
        if not self.queries.take():
            return
        visible = with_ctes(node, visible)
        if isinstance(node, exp.SetOperation):
            yield from self.of_query(node.this, name, visible)
            yield from self.of_query(node.expression, name, visible)
        elif isinstance(node, exp.Subquery):
            yield from self.of_query(node.this, name, visible)
        elif isinstance(node, exp.Table) and not node.args.get("changes"):
            yield from self.of_table(tuple(part.name for part in node.parts), name, visible)
        elif isinstance(node, exp.Select):
            yield from self._of_select(node, name, visible)

    def _of_select(self, select: exp.Select, name: str, visible: Ctes) -> Iterator[exp.Expr]:
        folded = name.casefold()
        item = next((output for output in select.expressions if output.alias_or_name.casefold() == folded), None)
        value = item.unalias() if item is not None else None
        if value is not None and not isinstance(value, exp.Column):
            yield value
        elif value is not None or any(output.is_star for output in select.expressions):
            qualifier = value.table.casefold() if value is not None else ""
            inner = value.name if value is not None else name
            origin = select.args.get("from_")
            joins = (join.this for join in select.args.get("joins") or ())
            for relation in (*([origin.this] if origin is not None else []), *joins):
                if not qualifier or relation.alias_or_name.casefold() == qualifier:
                    yield from self.of_query(relation, inner, visible)
