"""Where the columns that a MERGE outside of models writes come from, as a text next to the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from merge_runner.errors import ProblemsError
from merge_runner.lineage.edge import Table
from merge_runner.lineage.merge import merge_lineage
from merge_runner.lsp.answers.plain_names import PlainSql, name_places
from merge_runner.lsp.answers.view import Link, View
from merge_runner.lsp.documents.described_tables import DescribedTables
from merge_runner.lsp.syntax.relations import Subject
from merge_runner.merge.parse import MergeSyntaxError, parse
from merge_runner.merge.syntax.placeholder import as_written
from merge_runner.plan.lineage.answer import Lineage
from merge_runner.plan.lineage.model_lineage import LineageColumn, UnresolvedInput
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import Span

_NAME = re.compile(r"(?<![\w.])\w+(?:\.\w+)*(?!\w)")


def plain_lineage(
    tables: DescribedTables, name: str, merges: Sequence[RenderedText], sql: PlainSql, line: int
) -> View | None:
    """Return the lineage of the MERGE that the 1-based `line` is in, else of all in the file `name`; None for no MERGE.

    Where the word at the cursor is a column of a table, it is that of the column, or of what is made of it.
    """
    here = [merge for merge in merges if _holds(merge, line)] or merges
    if not here:
        return None
    column = _column(tables, sql)
    text, links = "", []
    for merge in here:
        place = merge.place(0)
        head = f"MERGE in line {place.line}" + (f" of cell {place.cell}" if place.cell is not None else "")
        text += "\n" if text else ""
        links.append(Link(Span(len(text), len(text) + len(head)), place))
        text += as_written("\n".join([head, *_lines(tables, merge, column)])) + "\n"
    title = ".".join(column) if column is not None else name
    view = View(f"{title} (lineage)", text, (*links, *_links(tables, text)))
    return view.concealed(tables.project.prepared) if tables.project is not None else view


def _holds(merge: RenderedText, line: int) -> bool:
    place = merge.place(0, len(merge.text))
    return place.line <= line <= (place.end_line or place.line)


def _column(tables: DescribedTables, sql: PlainSql) -> tuple[str, str] | None:
    """Return the column under the cursor with the name of its table."""
    symbol = sql.symbol(tables)
    relation = symbol.relation if symbol is not None and symbol.kind == "column" else None
    if symbol is None or relation is None or relation.subject.kind != "table" or relation.query is not None:
        return None
    return _table(tables, relation.subject.parts).name, symbol.name


def _table(tables: DescribedTables, parts: tuple[str, ...]) -> Table:
    """Return a table as lineage has it; nothing need be known of it."""
    subject = Subject("table", parts)
    node, table = tables.node(subject, None), tables.find(parts)
    columns = tables.table_columns(subject, None)
    name = node.relation.name if node is not None and node.relation is not None else ".".join(parts)
    table_columns = table.layout.columns or () if table is not None else ()
    generated = tuple((column.name, column.generated) for column in table_columns if column.generated)
    return Table(name, tuple(column.name for column in columns.items), columns.complete, generated)


def _lines(tables: DescribedTables, merge: RenderedText, column: tuple[str, str] | None) -> Iterator[str]:
    try:
        statement = parse(merge.text)
    except (MergeSyntaxError, ProblemsError) as error:
        yield f"it cannot be read: {error}"
        return
    target = _table(tables, statement.target.parts)
    lineage = merge_lineage(statement, target, lambda parts: _table(tables, parts))
    columns = [
        LineageColumn("", target.name, target.name, column_lineage.column, column_lineage.inputs, lineage.rows)
        for column_lineage in lineage.columns
    ]
    if column is not None:
        columns = [entry for entry in columns if _is_about(entry, column)]
    gaps = tuple(UnresolvedInput(target.name, None, gap.reason) for gap in lineage.all_unresolved)
    yield from Lineage(None, tuple(columns), unresolved=gaps).lines()


def _is_about(entry: LineageColumn, column: tuple[str, str]) -> bool:
    sides = [(entry.relation, entry.column), *((part.relation, part.column) for part in entry.value_inputs)]
    folded = tuple(part.casefold() for part in column)
    return any((relation.casefold(), name.casefold()) == folded for relation, name in sides)


def _links(tables: DescribedTables, text: str) -> Iterator[Link]:
    """Yield a link for each name of a table, or of a column of it, that the folder or the project knows."""
    table_names = set(tables.names)
    for match in _NAME.finditer(text):
        parts = tuple(match.group().split("."))
        for count in range(len(parts), 0, -1):
            if ".".join(parts[:count]).casefold() in table_names:
                column = parts[count] if count < len(parts) else None
                places = name_places(tables, Subject("table", parts[:count]), column)
                yield from (Link(Span(*match.span()), place) for place in places[:1])
                break
