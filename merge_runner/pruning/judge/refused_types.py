"""What Spark and the formats refuse of a MERGE by the types of columns alone: its text is as it should be.

Run on Spark 4.1.4 with Delta 4.4.0 and Iceberg 1.12.0; `formats/syntax.py` has a probe of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlglot import exp

from merge_runner.errors import did_you_mean
from merge_runner.formats.merge_plans import marks
from merge_runner.formats.syntax import CHARS, FILE_PATH, MAPS, PARTS
from merge_runner.formats.types import DataType
from merge_runner.merge.name_places import names_span
from merge_runner.merge.statement import Expr, MergeStatement
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.predicate.expression_type import Columns, Typed, expression_type
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.predicate.tautology import assigned
from merge_runner.pruning.query.source import KnownTable, Lookup, SourceFacts
from merge_runner.sql.names import name_parts
from merge_runner.text import Span

_HASHES = frozenset({"hash", "xxhash64"})
_OF_TWO = (
    *(exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.EqualNull),
    *(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Nullif),
)
"""Nodes that compare two operands."""
COMPARED = ("map", "variant")
_HASHED = ("map",)
_FILE_PATH = "filepath"
_TWO_FILE_PATHS = "a MERGE that marks rows cannot have a column filePath of both target and source"


class Refusal(NamedTuple):
    """What is refused: `feature` is that of `formats/syntax.py`, `span` is in the statement's text."""

    feature: str
    span: Span
    message: str
    hint: str | None


def refusals(
    statement: MergeStatement, layout: TableLayout, source: SourceFacts, scope: Scope, lookup: Lookup
) -> Iterator[Refusal]:
    """Return what one of the formats, or both, refuse where the types of the columns are those that are known."""
    yield from _comparisons(statement, layout, source, scope)
    yield from _chars(statement, layout, lookup(statement.source.parts) if statement.source.parts else None, scope)
    yield from _keys(statement, layout, scope)
    is_merge_on_read = layout.format is not None and marks(layout.format, layout.properties)
    if (
        is_merge_on_read
        and statement.merge_class != "insert-only"
        and layout.column(_FILE_PATH)
        and source.column(_FILE_PATH)
    ):
        yield from _file_paths(statement, scope)


def _comparisons(
    statement: MergeStatement, layout: TableLayout, source: SourceFacts, scope: Scope
) -> Iterator[Refusal]:
    """Maps, and what holds one, that are compared or hashed in ON and the clauses (DATATYPE_MISMATCH)."""

    def typed(node: exp.Expr) -> Typed:
        reference = scope.reference(node)
        if reference is None or reference.side not in ("target", "source"):
            return Typed()
        column = (layout if reference.side == "target" else source).column(reference.column)
        return Typed(_field(column.data_type, reference.path[1:]) if column is not None else None)

    for part in statement.expressions:
        for node in nodes([part.expression]):
            hashes = isinstance(node, exp.Anonymous)
            kinds = _HASHED if hashes else COMPARED
            for operand, kind in unordered(operands(node), typed, kinds):
                does = f"{node.name}() takes none" if hashes else "none can be compared"
                message = f"{name_of(operand)} holds a {kind}, and {does}"
                yield Refusal(MAPS, place_of(part, node), message, "compare to_json(…) of both, or the values of keys")
                break


def _chars(
    statement: MergeStatement, layout: TableLayout, source: KnownTable | None, scope: Scope
) -> Iterator[Refusal]:
    """Columns of the type CHAR, of the target or of a table in USING, that ON, a condition or a value reads."""
    for part in statement.expressions:
        for node in nodes([part.expression]):
            reference = scope.reference(node)
            if reference is None or len(reference.path) > 1:
                continue
            if reference.side == "target":
                column = layout.column(reference.column)
            else:  # a query, and a view, give the values as strings
                is_table = source is not None and source.query is None and source.layout.format is not None
                column = source.layout.column(reference.column) if source is not None and is_table else None
            if column is not None and column.data_type is not None and column.data_type.name == "char":
                message = f"{reference.column} is a {column.data_type}, which a MERGE cannot read"
                hint = "declare the column as string or varchar"
                if reference.side != "target":
                    hint = "read the table in a query: `using (select … from …)`"
                yield Refusal(CHARS, place_of(part, node), message, hint)


def _file_paths(statement: MergeStatement, scope: Scope) -> Iterator[Refusal]:
    """Where the source's column is read that is called like the one by which Delta looks for the file of a row."""
    hint = "give the column of the source another name, and name the columns of SET and INSERT"
    for clause in statement.clauses:
        if clause.star:
            yield Refusal(FILE_PATH, clause.span, _TWO_FILE_PATHS, hint)
    for part in statement.expressions:
        for node in nodes([part.expression]):
            reference = scope.reference(node)
            if reference is not None and (reference.side, reference.column.casefold()) == ("source", _FILE_PATH):
                yield Refusal(FILE_PATH, place_of(part, node), _TWO_FILE_PATHS, hint)


def _keys(statement: MergeStatement, layout: TableLayout, scope: Scope) -> Iterator[Refusal]:
    """Keys of SET that name a part of what is no struct, or a field that a struct does not have."""
    for clause in statement.clauses:
        for assignment in clause.assignments if clause.action == "update" else ():
            column, *fields = assigned(assignment, scope)
            target_column = layout.column(column)
            data_type = target_column.data_type if target_column is not None else None
            for depth, field in enumerate(fields):
                if data_type is None:
                    break
                whole, inner = ".".join((column, *fields[:depth])), _field(data_type, (field,))
                if data_type.name != "struct":
                    message = f"SET cannot write {whole}.{field}: {whole} is of the type {data_type.name}, no struct"
                    yield Refusal(PARTS, statement.set_column(assignment), message, f"set the whole {whole}")
                elif inner is None and not statement.schema_evolution:
                    message = f"SET cannot write {whole}.{field}: the struct has no such field"
                    field_names = [name for name, _ in data_type.fields]
                    yield Refusal(PARTS, statement.set_column(assignment), message, did_you_mean(field, field_names))
                data_type = inner


def nodes(parts: Iterable[object]) -> Iterator[exp.Expr]:
    """Yield the nodes of parts of a statement outside of queries in them and lambdas, which have names of their own."""
    todo = [part for part in parts if isinstance(part, exp.Expr)]
    while todo:
        node = todo.pop()
        if isinstance(node, (exp.Query, exp.Values, exp.Lambda, exp.With, exp.Lateral)):
            continue
        yield node
        if not isinstance(node, (exp.Column, exp.Dot)):
            todo += list(node.iter_expressions())


def name_of(node: exp.Expr) -> str:
    """Return the name of a column as messages have it; "it" for what has none."""
    return ".".join(name_parts(node) or ()) or "it"


def operands(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """Return what a node compares or hashes."""
    if isinstance(node, _OF_TWO):
        return (node.this, node.expression)
    if isinstance(node, exp.Case) and node.this is not None:
        return (node.this, *(branch.this for branch in node.args["ifs"]))
    if isinstance(node, (exp.Greatest, exp.Least)):
        return (node.this, *node.expressions)
    if isinstance(node, exp.In):
        return (node.this, *node.expressions)
    if isinstance(node, exp.Between):
        return (node.this, node.args["low"], node.args["high"])
    if isinstance(node, exp.Anonymous) and node.name.casefold() in _HASHES:
        return tuple(node.expressions)
    return ()


def unordered(values: Iterable[exp.Expr], typed: Columns, kinds: tuple[str, ...]) -> Iterator[tuple[exp.Expr, str]]:
    """Give the values that have no order, as they are of one of the types or hold it, with that type."""
    for operand in values:
        if isinstance(operand, (exp.Tuple, exp.Struct)):
            parts = (item.expression if isinstance(item, exp.PropertyEQ) else item for item in operand.expressions)
            yield from unordered(parts, typed, kinds)
            continue
        data_type = expression_type(operand, typed).data_type
        kind = next((candidate for candidate in kinds if data_type is not None and data_type.holds(candidate)), None)
        if kind is not None:
            yield operand, kind


def _field(data_type: DataType | None, path: tuple[str, ...]) -> DataType | None:
    """The type of a field of structs; None where it is not known, or lies inside of an array or a map."""
    for name in path:
        if data_type is None or data_type.name != "struct":
            return None
        data_type = next((inner for field, inner in data_type.fields if field.casefold() == name.casefold()), None)
    return data_type


def place_of(part: Expr, node: exp.Expr) -> Span:
    return names_span(node, part.span.start) or part.span
