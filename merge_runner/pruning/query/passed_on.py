"""Which table a source query passes on: the same rows, or some of them, each at most once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from sqlglot import exp

from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.query.source import Lookup
from merge_runner.sql.ctes import names_cte

_MORE = ("joins", "laterals", "group", "having", "distinct", "pivots", "windows", "qualify", "with_", "changes")


_MOST_VIEWS = 20


def passed_on(statement: MergeStatement, lookup: Lookup, keys: frozenset[str] = frozenset()) -> tuple[str, ...] | None:
    """Return the parts of the name of the table whose rows the source has; None where it reads more, or is computed.

    A view whose query is known passes on those of a table, too. Rows do not count that a branch of a UNION gives a NULL
    in one of the columns `keys` (case folded), as the new versions of a history have it.
    """
    ctes = {cte.name.casefold(): cte.query.expression for cte in statement.ctes}
    source = statement.source
    if source.kind == "table":
        parts = source.parts
    else:
        parts = _table(source.query.expression if source.query is not None else None, keys)
    while names_cte(parts, ctes):
        parts = _table(ctes.pop(parts[0].casefold()), keys)
    for _ in range(_MOST_VIEWS):
        table = lookup(parts) if parts else None
        if table is None or table.query is None:
            return parts or None
        parts = _table(read_query(table.query).expression, keys)
    return None


def _table(node: exp.Expr | None, keys: frozenset[str]) -> tuple[str, ...]:
    while isinstance(node, exp.Select | exp.Subquery | exp.Union):
        if any(node.args.get(key) for key in _MORE if key != "distinct" or not isinstance(node, exp.Union)):
            return ()
        if isinstance(node, exp.Union):
            node = _with_key(node, keys)
        elif isinstance(node, exp.Select):
            if any(item.find(exp.Window, exp.UDTF, exp.AggFunc) is not None for item in node.expressions):
                return ()
            read = node.args.get("from_")
            node = read.this if read is not None else None
        else:
            node = node.this
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return ()
    return () if any(node.args.get(key) for key in _MORE) else tuple(part.name for part in node.parts)


def _with_key(union: exp.Union, keys: frozenset[str]) -> exp.Select | None:
    """The one branch of a UNION that has no NULL in a key; None where there are several, or none."""
    branches = list(_branches(union))
    named = [item.alias_or_name.casefold() for item in _before_star(branches[0])]  # the first branch names the columns
    places = [place for place, name in enumerate(named) if name in keys]
    left = [branch for branch in branches if not any(_is_null(branch, place) for place in places)]
    return left[0] if len(left) == 1 else None


def _branches(node: exp.Expr) -> Iterator[exp.Select]:
    if isinstance(node, exp.Union):
        yield from _branches(node.left)
        yield from _branches(node.right)
    else:
        select = node.unnest()
        yield select if isinstance(select, exp.Select) else exp.Select()


def _before_star(branch: exp.Select) -> list[exp.Expr]:
    """The items whose place is known."""
    return list(takewhile(lambda item: not item.is_star, branch.expressions))


def _is_null(branch: exp.Select, place: int) -> bool:
    items = _before_star(branch)
    item = items[place].unalias() if place < len(items) else None
    while isinstance(item, exp.Cast | exp.Paren):
        item = item.this
    return isinstance(item, exp.Null)
