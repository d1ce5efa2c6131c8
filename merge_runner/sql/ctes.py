"""The common table expressions that a query sees: a name in FROM means one of them before it means a table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.merge.statement import Expr, MergeStatement


@dataclass(frozen=True)
class Cte:
    """The query of a CTE, and the CTEs that it sees. `query` None: it cannot be read."""

    query: exp.Expr | None
    visible: Ctes


Ctes = Mapping[str, Cte]
"""CTEs by name, case folded."""


def statement_ctes(statement: MergeStatement) -> Ctes:
    """Return the CTEs of a MERGE."""
    visible: Ctes = {}
    for cte in statement.ctes:
        visible = _with_cte(visible, cte.name, cte.query.expression, recursive=statement.recursive)
    return visible


def with_ctes(node: exp.Expr, visible: Ctes) -> Ctes:
    """Return the CTEs that a query sees, its own among them."""
    own = node.args.get("with_")
    if own is None:
        return visible
    for cte in own.expressions:
        visible = _with_cte(visible, cte.alias, cte.this, recursive=bool(own.args.get("recursive")))
    return visible


def names_cte(parts: Sequence[str], visible: Collection[str]) -> bool:
    """Whether a name in FROM or USING, given by its unquoted parts, means a CTE; `visible` are case folded."""
    return len(parts) == 1 and parts[0].casefold() in visible


def named_tables(tree: exp.Expr, visible: Ctes) -> Iterator[tuple[exp.Table, Cte | None]]:
    """Yield what a query names in FROM and joins, its subqueries included, with the CTE that a name means.

    A CTE is seen by the query that it belongs to, and by those inside it; the same name elsewhere is a table.
    """
    todo = [(tree, visible)]
    while todo:
        node, visible = todo.pop()
        if isinstance(node, exp.Table):
            is_bare = isinstance(node.this, exp.Identifier) and len(node.parts) == 1  # no table function
            yield node, visible.get(node.name.casefold()) if is_bare else None
        inside = with_ctes(node, visible)
        own = node.args.get("with_")
        children = [(child, inside) for child in node.iter_expressions() if child is not own]
        if own is not None:
            children += [(cte.this, inside[cte.alias.casefold()].visible) for cte in own.expressions]
        todo += reversed(children)


def source_queries(statement: MergeStatement) -> list[tuple[Expr, Ctes]]:
    """Return the queries of a MERGE's CTEs and of USING, each with the CTEs that it sees."""
    ctes = statement_ctes(statement)
    queries = [(cte.query, ctes[cte.name.casefold()].visible) for cte in statement.ctes]
    return [*queries, (statement.source.query, ctes)] if statement.source.query is not None else queries


def _with_cte(visible: Ctes, name: str, query: exp.Expr | None, *, recursive: bool) -> Ctes:
    """Add a CTE, which sees those before it, and itself where WITH is RECURSIVE."""
    before = {**visible, name.casefold(): Cte(None, visible)} if recursive else visible
    return {**visible, name.casefold(): Cte(query, before)}
