"""Views that are the target of a MERGE: the table below, and whether an engine writes through the view.

Spark 4.1.4 with Delta 4.4.0 writes through a temporary view that gives all columns of its table as they are, and
through no other (`DELTA_UNEXPECTED_PARTIAL_SCAN`, `DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS`); Iceberg 1.12.0 through none.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from merge_runner.formats.registry import table_format_of
from merge_runner.merge.read_query import read_query
from merge_runner.pruning.layout.layout import UNKNOWN, TableLayout
from merge_runner.pruning.query.source import KnownTable, Lookup

_MOST_VIEWS = 20
_MORE = ("joins", "laterals", "where", "group", "having", "windows", "qualify", "distinct", "limit", "offset", "order")
_MORE_OF_A_TABLE = ("version", "changes", "when", "only", "sample", "pivots", "joins", "laterals")


@dataclass(frozen=True)
class TargetView:
    """A view with the table below it: its name and layout; no parts: there is not one table, or it is not known.

    `fault` is why no engine writes through the view, as what follows its name; None: one may.
    """

    parts: tuple[str, ...] = ()
    layout: TableLayout = UNKNOWN
    fault: str | None = None


def target_view(parts: tuple[str, ...], lookup: Lookup) -> TargetView | None:
    """Return the view that a name means; None where it is no view, or not known to be one."""
    table = lookup(parts) if parts else None
    if table is None or table.query is None:
        return None
    fault: str | None = None
    for _ in range(_MOST_VIEWS):
        if not table.temporary:
            fault = fault or "is a view that is not temporary"
        query = read_query(table.query or "").expression
        if query is None:
            return TargetView(fault=fault)
        parts, columns, own = _table(query)
        fault = fault or own
        below = lookup(parts) if parts else None
        if below is None or below.query is None:
            return _over(parts, columns, fault, below)
        table = below
    return TargetView(fault=fault)


def target_layout(parts: tuple[str, ...], lookup: Lookup) -> TableLayout:
    """Return the layout of the table that a MERGE writes; of the table below, where its target is a view."""
    view = target_view(parts, lookup)
    if view is not None:
        return view.layout
    table = lookup(parts) if parts else None
    return table.layout if table is not None else UNKNOWN


def _over(
    parts: tuple[str, ...], columns: tuple[str, ...] | None, fault: str | None, table: KnownTable | None
) -> TargetView:
    layout = table.layout if table is not None else UNKNOWN
    if layout.format is None and len(parts) > 1 and (path := table_format_of(parts[0].lower())) is not None:
        layout = layout.with_format(path)
    if fault is None and columns is not None and layout.complete:
        own = tuple(column.name.casefold() for column in layout.columns or ())
        fault = None if columns == own else "does not give all columns of its table in their order"
    return TargetView(parts, layout, fault)


def _table(query: exp.Expr) -> tuple[tuple[str, ...], tuple[str, ...] | None, str | None]:
    """The table that a query reads, the names of the columns that it lists (None: `*`), and what else it does."""
    columns: tuple[str, ...] | None = None
    fault: str | None = None
    while not isinstance(query, exp.Table):
        if isinstance(query, exp.Subquery):
            query = query.this
            continue
        origin = query.args.get("from_") if isinstance(query, exp.Select) else None
        if not isinstance(query, exp.Select) or query.args.get("with_") or not isinstance(origin, exp.From):
            return (), None, "is no query of a single table"
        if any(query.args.get(key) for key in _MORE):
            fault = "filters its table" if query.args.get("where") else "is more than the rows of a table"
        if not _is_star(query):
            names = [column for column in query.expressions if type(column) is exp.Column]
            if len(names) < len(query.expressions):
                fault = fault or "computes or renames columns"
            columns = tuple(column.name.casefold() for column in names)
        query = origin.this
    if any(query.args.get(key) for key in _MORE_OF_A_TABLE):
        fault = fault or "is more than the rows of a table"
    parts = tuple(part.name for part in query.parts if isinstance(part, exp.Identifier))
    return (parts if len(parts) == len(query.parts) else ()), columns, fault


def _is_star(select: exp.Select) -> bool:
    (only, *others) = select.expressions
    star = only.this if isinstance(only, exp.Column) else only
    return not others and isinstance(star, exp.Star) and not star.args.get("except_") and not star.args.get("replace")
