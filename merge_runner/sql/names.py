"""Names as trees write them, and those that are no columns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

NOT_COLUMNS = frozenset(
    [
        *("current_catalog", "current_database", "current_date", "current_schema", "current_time"),
        *("current_timestamp", "current_user", "grouping__id", "localtimestamp", "session_user", "user"),
    ]
)
"""Spark reads these names as functions where no column has them (LiteralFunctionResolution)."""
HIDDEN = frozenset(
    [
        *("_metadata", "_file", "_pos", "_partition", "_spec_id", "_deleted"),
        *("_row_id", "_last_updated_sequence_number"),
    ]
)
"""Columns that a table has without declaring them: of files (Spark), of rows (Iceberg)."""
CHANGE_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")
"""What the changes of a table have besides its columns."""
UNITS = frozenset(
    [
        *("year", "quarter", "month", "week", "day", "dayofyear", "hour"),
        *("minute", "second", "millisecond", "microsecond"),
    ]
)
"""First arguments of functions such as `dateadd`, which sqlglot may read as columns."""


def name_parts(node: exp.Expr) -> tuple[str, ...] | None:
    """The parts of a name as `a.b.c` has them, however deep; None where the expression is no such name."""
    if type(node) is exp.Column and type(node.this) is exp.Identifier and "db" not in node.args:
        table = node.args.get("table")
        if table is None:
            return (node.this.this,)
        if type(table) is exp.Identifier:
            return table.this, node.this.this
    fields: list[str] = []
    while isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        fields.append(node.expression.name)
        node = node.this
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    return (*(part.name for part in node.parts), *reversed(fields))


def fold(parts: Sequence[str]) -> tuple[str, ...]:
    """The parts of a name, case folded: Spark compares names so."""
    return tuple(part.casefold() for part in parts)


def qualifiers(alias: str | None, parts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """What the columns of a relation may be qualified by, case folded: the alias, or the name and its endings."""
    if alias:
        return ((alias.casefold(),),)
    folded = fold(parts)
    return tuple(folded[start:] for start in range(len(folded)))


def is_star(node: exp.Expr) -> bool:
    """Whether a node is `*` or `a.*`."""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def star_qualifier(node: exp.Expr) -> tuple[str, ...]:
    """What `a.b.*` is qualified by; nothing for `*`."""
    return tuple(part.name for part in node.parts[:-1]) if isinstance(node, exp.Column) else ()


def grouping_names(select: exp.Expr) -> frozenset[str]:
    """The names, case folded, that GROUP BY has by themselves.

    In HAVING they mean what they mean in GROUP BY; any other name means an item of the SELECT list first, except inside
    an aggregate function, which sees FROM (measured on Spark 4.1).
    """
    group = select.args.get("group")
    names = [name_parts(item) for item in group.expressions] if group is not None else []
    return frozenset(parts[-1].casefold() for parts in names if parts)
