"""Where the source of a MERGE reads the table that the MERGE writes, and whether it reads more than a mark.

A mark is a query that gives one row of aggregates of the target, as `(select max(ts) from {{ this }})` in an
incremental filter. The runner can compute it before the MERGE, and let the MERGE check that it still has that value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from merge_runner.merge.statement import Expr, MergeStatement
from merge_runner.merge.syntax.sql import tokenize
from merge_runner.sql.names import fold
from merge_runner.text import Span


@dataclass(frozen=True)
class TargetRead:
    """A read of the target in USING or in a CTE. `span` is its name in the statement.

    `only_aggregates`: no row of it reaches the source, only aggregates of all rows, as `(select max(ts) from t)` does.
    """

    span: Span
    only_aggregates: bool


@dataclass(frozen=True)
class Mark:
    """A query in parentheses that gives one row of aggregates of the target. `query` is its span in the statement.

    `nodes` are what it is in the tree of the source: sqlglot's node of the query, and that of the table.
    """

    query: Span
    nodes: tuple[exp.Expr, exp.Expr] = field(repr=False, compare=False)


def target_marks(statement: MergeStatement) -> tuple[Mark, ...]:
    """Return the marks in the source and in CTEs, in the order of the text; other reads of the target are left out."""
    queries = [cte.query for cte in statement.ctes] + [statement.source.query]
    marks = []
    for query in queries:
        if query is None or query.expression is None:
            continue
        for table in query.expression.find_all(exp.Table):
            if not names_target(table, statement.target.parts) or not _only_aggregates(table):
                continue
            select, target_read = table.find_ancestor(exp.Select), read_of(table, query)
            inside = _parentheses(statement, target_read.span)
            if inside is not None and isinstance(select, exp.Select) and _is_plain_aggregate(select):
                marks.append(Mark(inside, (select, table)))
    return tuple(sorted(marks, key=lambda mark: mark.query.start))


def _is_plain_aggregate(select: exp.Select) -> bool:
    """Whether a SELECT has items, FROM and WHERE and nothing else, and is no leg of a set operation."""
    other_parts = {key for key, value in select.args.items() if value} - {"expressions", "from_", "where"}
    # The row of IN and EXISTS is compared by a join, which need not look at it.
    user = select.parent.parent if isinstance(select.parent, exp.Subquery) else select.parent
    is_own = not isinstance(user, exp.SetOperation | exp.In | exp.Exists)
    return is_own and not other_parts and len(list(select.find_all(exp.Query))) == 1


def _parentheses(statement: MergeStatement, name: Span) -> Span | None:
    """Return the span inside the innermost parentheses around a name, where it begins with SELECT."""
    sql = tokenize(statement.text)
    inner = None
    for i, partner in enumerate(sql.partner):
        if partner >= 0 and sql.tokens[i].start < name.start < sql.tokens[partner].start:
            inner = i
    if inner is None or sql.key(inner) != "(" or sql.key(inner + 1) != "SELECT":
        return None
    return sql.span(inner + 1, sql.partner[inner])


def target_reads(statement: MergeStatement) -> tuple[TargetRead, ...]:
    """Return the reads of the target by the source, in the order of the text, by the full name that the MERGE uses."""
    parts, source = statement.target.parts, statement.source
    if not parts:
        return ()
    if source.query is None and fold(source.parts) == fold(parts):
        return (TargetRead(source.relation, only_aggregates=False),)
    queries = [cte.query for cte in statement.ctes] + ([source.query] if source.query is not None else [])
    return tuple(target_read for query in queries for target_read in _reads(query, parts, statement))


def _reads(query: Expr, parts: tuple[str, ...], statement: MergeStatement) -> Iterator[TargetRead]:
    if query.expression is None:
        # What sqlglot cannot read is searched as text: a read that is missed would be the greater harm.
        name = statement.target.relation.of(statement.text)
        at = query.text.find(name)
        if at >= 0:
            yield TargetRead(Span(query.span.start + at, query.span.start + at + len(name)), only_aggregates=False)
        return

    for table in query.expression.find_all(exp.Table):
        if names_target(table, parts):
            yield read_of(table, query)


def names_target(table: exp.Table, target: tuple[str, ...]) -> bool:
    """Return whether a table of a query is named by the parts of the target's name."""
    return fold(tuple(name.name for name in _names(table))) == fold(target)


def read_of(table: exp.Table, query: Expr) -> TargetRead:
    """Return the read of a table in the tree of `query`."""
    names = _names(table)
    placed = bool(names) and all("start" in name.meta for name in names)
    start, end = (names[0].meta["start"], names[-1].meta["end"] + 1) if placed else (0, len(query.text))
    return TargetRead(Span(query.span.start + start, query.span.start + end), _only_aggregates(table))


def _names(table: exp.Table) -> list[exp.Identifier]:
    return [part for part in table.parts if isinstance(part, exp.Identifier)]


def _only_aggregates(table: exp.Table) -> bool:
    """Whether a table is read by a SELECT that gives one row of aggregates."""
    select = table.find_ancestor(exp.Select)
    if select is None or select.args.get("group") or select.args.get("windows") or table.args.get("changes"):
        return False
    origin = select.args.get("from_")
    if select.args.get("joins") or not isinstance(origin, exp.From) or origin.this is not table:
        return False
    return all(_is_aggregate(item) for item in select.expressions)


def _is_aggregate(item: exp.Expr) -> bool:
    if item.find(exp.AggFunc) is None or item.find(exp.Window, exp.Query) is not None:
        return False
    return all(column.find_ancestor(exp.AggFunc) is not None for column in item.find_all(exp.Column))
