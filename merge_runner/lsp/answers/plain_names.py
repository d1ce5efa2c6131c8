"""What the names in SQL outside of models mean: in plain SQL, in strings of Python and Scala, in notebooks."""

from __future__ import annotations

from dataclasses import replace

from merge_runner.graph.graph import Node
from merge_runner.lsp.answers.definition import described_place
from merge_runner.lsp.answers.hover import Hover, column_text, rule_text, star
from merge_runner.lsp.answers.verdict_text import columns_text, layout_text, node_text
from merge_runner.lsp.documents.described_tables import DescribedTables
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.names.symbol import Symbol, name_symbol, rule_at
from merge_runner.lsp.syntax.relations import Relation, Statements, Subject
from merge_runner.lsp.syntax.sql_in_code import Language, sql_around
from merge_runner.lsp.syntax.statements import statements
from merge_runner.lsp.syntax.tokens import Token
from merge_runner.text import Place, SourceText, Span


class PlainSql:
    """The SQL that a cursor is in, which begins at `start` of a text, and the word under the cursor."""

    def __init__(self, language: Language | None, text: str, offset: int) -> None:
        around = sql_around(language, text, offset) if language is not None else None
        around = around or Span(offset, offset)
        self.start = around.start
        self.syntax: Statements = statements(around.of(text))
        token = self.syntax.scan.token_at(offset - self.start)
        self.token: Token | None = token if token is not None and token.tag < 0 else None

    def symbol(self, tables: DescribedTables) -> Symbol | None:
        """Return the table, alias, CTE or column under the cursor; its spans are those of the SQL."""
        if self.token is None or not self.token.is_name:
            return None
        return name_symbol(tables, None, self.syntax, self.token)

    def moved(self, span: Span) -> Span:
        """Return a range of the SQL as one of the text."""
        return Span(span.start + self.start, span.end + self.start)


def plain_hover(tables: DescribedTables, language: Language, text: str, offset: int) -> Hover | None:
    """Return what a table, alias, CTE, column or `*` under a cursor is, or the rule that a noqa comment names."""
    line = text.rfind("\n", 0, offset) + 1
    rule = rule_at(text[line:].partition("\n")[0], line, offset)
    if rule is not None:
        return Hover(rule_text(rule.name), rule.span) if rule_text(rule.name) else None
    sql = PlainSql(language, text, offset)
    scope = sql.syntax.at(offset - sql.start)
    if sql.token is not None and sql.token.text == "*" and scope is not None:
        star_hover = star(tables, None, scope, sql.token.span)
        return replace(star_hover, span=sql.moved(star_hover.span)) if star_hover is not None else None
    symbol = sql.symbol(tables)
    markdown = _text(tables, symbol) if symbol is not None else ""
    return Hover(markdown, sql.moved(symbol.span)) if symbol is not None and markdown else None


def _text(tables: DescribedTables, symbol: Symbol) -> str:
    relation, project = _relation(tables, symbol), tables.project
    parts = _table_parts(relation)
    if symbol.kind == "relation":
        if symbol.node is not None and project is not None:
            return node_text(project, symbol.node)
        assert relation is not None
        columns = columns_text(tables.relation_columns(relation, None))
        table = tables.find(parts) if parts else None
        head = [f"**{'.'.join(parts)}**", layout_text(table.layout)] if table is not None else []
        return "\n\n".join(part for part in (*head, columns) if part)
    assert symbol.select is not None
    column = tables.column(symbol.select, symbol.qualifier, symbol.name, None)
    if column is None:
        return ""
    if column.node is not None and project is not None:
        return column_text(column, column.node.full_name, project.layout(column.node))
    table = tables.find(parts) if parts else None
    return column_text(column, ".".join(parts), table.layout if table is not None else None)


def _relation(tables: DescribedTables, symbol: Symbol) -> Relation | None:
    """Return the relation that a symbol is, or whose column it is."""
    if symbol.relation is not None or symbol.select is None:
        return symbol.relation
    relations = (
        candidate for candidate in symbol.select.visible() if tables.relation_columns(candidate, None).find(symbol.name)
    )
    return next(relations, None)


def plain_definition(
    tables: DescribedTables, language: Language, source: SourceText, offset: int, cell: int | None
) -> list[Place]:
    """Return where a table, alias, CTE or column under a cursor is defined; paths of other files are whole.

    The text is a file, or the `cell` of a notebook.
    """
    sql = PlainSql(language, source.text, offset)
    symbol = sql.symbol(tables)
    if symbol is None:
        return []

    def here(span: Span) -> list[Place]:
        moved = sql.moved(span)
        return [replace(source.place(moved.start, moved.end), cell=cell)]

    relation = _relation(tables, symbol)
    if symbol.kind == "relation":
        assert relation is not None
        on_table = relation.span.start <= symbol.span.start and symbol.span.end <= relation.span.end
        if relation.query is None and (on_table or relation.name_span == symbol.span):
            return name_places(tables, relation.subject, None)
        return here(relation.name_span or relation.span)
    assert symbol.select is not None
    column = tables.column(symbol.select, symbol.qualifier, symbol.name, None)
    if column is not None and column.span is not None:
        return here(column.span)
    if column is not None and column.node is not None and tables.project is not None:
        return _column_places(tables.project, column.node, column.name)
    is_in_table = column is not None and relation is not None and relation.query is None
    return name_places(tables, relation.subject, symbol.name) if is_in_table and relation is not None else []


def _table_parts(relation: Relation | None) -> tuple[str, ...]:
    """Return the name of the table that a relation is; () for a query or CTE."""
    is_table = relation is not None and relation.query is None and relation.subject.kind == "table"
    return relation.subject.parts if relation is not None and is_table else ()


def plain_references(
    tables: DescribedTables, language: Language, source: SourceText, offset: int, cell: int | None
) -> list[Place]:
    """Return the places of what is under a cursor in the SQL that the cursor is in.

    A name of the project in a file of SQL has none here: the project knows all of its places.
    """
    sql = PlainSql(language, source.text, offset)
    symbol = sql.symbol(tables)
    if symbol is None or (symbol.node is not None and language == "sql" and cell is None):
        return []
    identity = _identity(tables, symbol)
    places = []
    for token in sql.syntax.scan.tokens:
        if token.tag < 0 and token.is_name and token.value.casefold() == symbol.name.casefold():
            occurrence = name_symbol(tables, None, sql.syntax, token)
            if occurrence is not None and _identity(tables, occurrence) == identity:
                span = sql.moved(occurrence.span)
                places.append(replace(source.place(span.start, span.end), cell=cell))
    return places


def _identity(tables: DescribedTables, symbol: Symbol) -> tuple[object, ...]:
    """Return what two symbols of one thing in a text have in common."""
    relation = _relation(tables, symbol)
    of = None if relation is None else _table_parts(relation) or relation.name_span
    if symbol.kind == "relation" and relation is not None and relation.name_span is not None:
        of = relation.name_span
    return symbol.kind, of


def name_places(tables: DescribedTables, subject: Subject, column: str | None) -> list[Place]:
    """Return where a table, or a column of it, is defined; paths are whole.

    A model is defined by its file and by the YAML that describes it, a table of the folder by what creates it.
    """
    node, project = tables.node(subject, None), tables.project
    if node is None or project is None:
        place = tables.place(subject.parts, column) if subject.kind == "table" else None
        return [place] if place is not None else []
    if column is not None:
        return _column_places(project, node, column)
    places = [project.place(node), described_place(project, node)]
    return list(dict.fromkeys(_whole_place(project, place) for place in places if place is not None))


def _column_places(project: ProjectIndex, node: Node, column: str) -> list[Place]:
    return [_whole_place(project, project.column_place(node, column) or project.place(node))]


def _whole_place(project: ProjectIndex, place: Place) -> Place:
    return replace(place, path=str(project.file(place.path)))
