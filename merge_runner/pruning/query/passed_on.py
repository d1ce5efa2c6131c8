"""Which table a source query passes on: the same rows, or some of them, each at most once."""

from __future__ import annotations

from sqlglot import exp

from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.query.source import Lookup

_MORE = ("joins", "laterals", "group", "having", "distinct", "pivots", "windows", "qualify", "with_")


_MOST_VIEWS = 20


def passed_on(statement: MergeStatement, lookup: Lookup) -> tuple[str, ...] | None:
    """Return the parts of the name of the table whose rows the source has; None where it reads more, or is computed.

    A view whose query is known passes on those of a table, too.
    """
    ctes = {cte.name.casefold(): cte.query.expression for cte in statement.ctes}
    source = statement.source
    if source.kind == "table":
        parts = source.parts
    else:
        parts = _table(source.query.expression if source.query is not None else None)
    while len(parts) == 1 and parts[0].casefold() in ctes:
        parts = _table(ctes.pop(parts[0].casefold()))
    for _ in range(_MOST_VIEWS):
        known = lookup(parts) if parts else None
        if known is None or known.query is None:
            return parts or None
        parts = _table(read_query(known.query).expression)
    return None


def _table(node: exp.Expr | None) -> tuple[str, ...]:
    while isinstance(node, exp.Select | exp.Subquery):
        if any(node.args.get(key) for key in _MORE):
            return ()
        if isinstance(node, exp.Select):
            if any(item.find(exp.Window, exp.UDTF, exp.AggFunc) is not None for item in node.expressions):
                return ()
            read = node.args.get("from_")
            node = read.this if read is not None else None
        else:
            node = node.this
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return ()
    return () if any(node.args.get(key) for key in _MORE) else tuple(part.name for part in node.parts)
