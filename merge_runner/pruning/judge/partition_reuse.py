"""Whether a MERGE may run with some rows of its source alone, where another run with the others would change nothing.

That needs a column of the source table by which ON joins, to a column of the same type: source rows with different
values of it match different rows of the target, so that the result for one does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.pruning.predicate.join_keys import join_keys

if TYPE_CHECKING:
    from sqlglot import exp

    from merge_runner.pruning.judge.merge_analysis import JudgedMerge


def joined_columns(merge: JudgedMerge) -> Mapping[str, str] | str:
    """Return the columns of the one table that the source filters by which ON joins; a text says why there are none.

    The columns of the target by those of the table, all case folded.
    """
    statement = merge.statement
    if any(clause.kind == "not_matched_by_source" for clause in statement.clauses):
        return "WHEN NOT MATCHED BY SOURCE needs the whole source"
    if merge.reads_target:
        return "its source reads the target"
    if merge.reading.scan is None or merge.reading.scan.format is None:
        return "its source is more than filtered rows of one table"
    query = statement.source.query
    found: dict[str, str] = {}
    for key in join_keys(statement.on, merge.scope):
        reference = merge.scope.reference(key.source)
        if reference is None or reference.side != "source" or len(reference.path) != 1:
            continue
        name = reference.path[0].casefold()
        column = _table_column(query.expression, name) if query is not None else name
        if column is not None and len(key.column.path) == 1:
            found.setdefault(column, key.column.path[0].casefold())
    return found or "ON joins by no column of its source as it is"


def _table_column(tree: exp.Expr | None, name: str) -> str | None:
    """Return the column of the innermost table that a query over one table passes on as `name`; None: another value."""
    from sqlglot import exp

    while not isinstance(tree, exp.Table):
        if isinstance(tree, exp.Subquery):
            tree = tree.this
            continue
        if not isinstance(tree, exp.Select):
            return None
        inner = _passed_on(tree, name)
        if inner is None:
            return None
        name, origin = inner, tree.args.get("from_")
        tree = origin.this if isinstance(origin, exp.From) else None
    return name


def _passed_on(select: exp.Select, name: str) -> str | None:
    """Return the column of FROM that is the only output with a name, unchanged."""
    from sqlglot import exp

    found: list[str | None] = []
    for output in select.expressions:
        is_star = isinstance(output, exp.Star) or (isinstance(output, exp.Column) and isinstance(output.this, exp.Star))
        if is_star:
            star = output if isinstance(output, exp.Star) else output.this
            found.append(None if any(star.args.values()) else name)
        elif output.alias_or_name.casefold() == name:
            column = output.unalias()
            plain = isinstance(column, exp.Column) and isinstance(column.this, exp.Identifier)
            found.append(column.name.casefold() if plain else None)
    return found[0] if len(found) == 1 else None
