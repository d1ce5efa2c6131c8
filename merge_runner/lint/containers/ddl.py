"""Statements that describe tables: CREATE and ALTER TABLE, views, and what completes and declares names.

The grammar is that of Spark 4.1 (SqlBaseParser.g4), of Delta (`CLUSTER BY`, generated columns) and of Iceberg's SQL
extensions (partition fields). What is not understood is not guessed: the statement then says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from merge_runner.formats import Format
from merge_runner.formats.registry import inferred_format, table_format_of
from merge_runner.formats.types import parse_type
from merge_runner.merge.expression import literal, unquote
from merge_runner.merge.relation_name import read_name
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.sql import Sql, tokenize
from merge_runner.plan.layout.declared_schema import identity, is_filled
from merge_runner.pruning.layout.layout import PartitionField, TableColumn, partition_field

Parts = tuple[str, ...]


@dataclass(frozen=True)
class CreateTable:
    """A table as CREATE or REPLACE TABLE describes it.

    `columns` None: they are those of a query or another table; `partition_by` and `cluster_by` None: those of another.
    """

    name: Parts
    format: Format | None
    columns: tuple[TableColumn, ...] | None
    partition_by: tuple[PartitionField, ...] | None
    cluster_by: tuple[str, ...] | None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CreateView:
    """A view, and the text of its query. `temporary`: it is one of the session, or of the application."""

    name: Parts
    query: str
    temporary: bool = False


@dataclass(frozen=True)
class AlterTable:
    """A change of a table; what is None stays.

    `rename` is the table's new name, `add` are columns, `drop` their names. `unclear`: the columns are not known
    afterwards.
    """

    name: Parts
    properties: Mapping[str, str] = field(default_factory=dict)
    add: tuple[TableColumn, ...] = ()
    drop: frozenset[str] = frozenset()
    cluster_by: tuple[str, ...] | None = None
    add_fields: tuple[PartitionField, ...] = ()
    drop_fields: tuple[PartitionField, ...] = ()
    not_null: Mapping[str, bool] = field(default_factory=dict)
    rename: Parts | None = None
    unclear: bool = False


@dataclass(frozen=True)
class Use:
    """`USE`: what completes the names that follow. `catalog` None: it stays."""

    catalog: str | None
    schema: str | None


Ddl = CreateTable | CreateView | AlterTable | Use


def read_ddl(text: str) -> Ddl | None:
    """Return what a statement says of tables; None where that is nothing, or where it is not understood."""
    try:
        sql = tokenize(text)
        return _READERS.get(sql.key(0), _nothing)(sql)
    except MergeSyntaxError:
        return None


def _nothing(sql: Sql) -> Ddl | None:
    return None


def _use(sql: Sql) -> Ddl | None:
    if sql.key(1) in ("SCHEMA", "DATABASE", "NAMESPACE") and len(sql.tokens) > 2:
        parts = read_name(sql, 2).parts
    elif sql.key(1) == "CATALOG" and len(sql.tokens) > 2:
        return Use(_word(sql, 2), None)
    else:
        parts = read_name(sql, 1).parts
    if not parts:
        return None
    return Use(parts[0] if len(parts) > 1 else None, ".".join(parts[1:]) if len(parts) > 1 else parts[0])


def _word(sql: Sql, i: int) -> str:
    return (literal(sql.word(i)) or "") if sql.kind(i) == "string" else unquote(sql.word(i))


_OF_ANOTHER = frozenset({"LIKE", "CLONE"})


def _create(sql: Sql) -> Ddl | None:
    i = _past(sql, 1, "OR", "REPLACE", "GLOBAL", "TEMPORARY", "TEMP", "EXTERNAL", "LOCAL", "MANAGED")
    if sql.key(i) == "VIEW":
        return _view(sql, i + 1)
    if sql.key(i) != "TABLE":
        return None
    name = read_name(sql, _past(sql, i + 1, "IF", "NOT", "EXISTS"), "the table")
    columns: tuple[TableColumn, ...] | None = None
    i = name.stop
    if sql.key(i) == "(":
        columns = tuple(_columns(sql, i + 1, sql.partner[i]))
        i = sql.partner[i] + 1
    if not name.parts:
        return None
    if sql.key(i) in _OF_ANOTHER or sql.key(i + 1) == "CLONE":
        return CreateTable(name.parts, None, None, None, None)
    clauses = _Clauses(sql, i)
    if columns is not None:
        columns = (*columns, *clauses.typed)
    transformed = any(field.transform != "identity" for field in clauses.partition_by)
    format = clauses.format or inferred_format(clauses.properties, clustered=clauses.clusters, transformed=transformed)
    return CreateTable(name.parts, format, columns, clauses.partition_by, clauses.cluster_by, clauses.properties)


def _view(sql: Sql, begin: int) -> Ddl | None:
    name = read_name(sql, _past(sql, begin, "IF", "NOT", "EXISTS"))
    i = name.stop
    if sql.key(i) == "(":
        return None  # its columns have other names than those of the query
    while i < len(sql.tokens) and sql.key(i) != "AS":
        i = max(sql.partner[i], i) + 1
    if i + 1 >= len(sql.tokens) or not name.parts:
        return None
    temporary = any(sql.key(word) in ("TEMPORARY", "TEMP") for word in range(1, begin))
    return CreateView(name.parts, sql.span(i + 1, len(sql.tokens)).of(sql.text), temporary)


class _Clauses:
    """Reads what follows the columns of CREATE TABLE, up to its query."""

    def __init__(self, sql: Sql, i: int) -> None:
        self.format: Format | None = None
        self.partition_by: tuple[PartitionField, ...] = ()
        self.cluster_by: tuple[str, ...] | None = ()
        self.clusters = False
        self.typed: tuple[TableColumn, ...] = ()
        self.properties: dict[str, str] = {}
        while i < len(sql.tokens) and sql.key(i) != "AS":
            i = self._clause(sql, i)

    def _clause(self, sql: Sql, i: int) -> int:
        word, following = sql.key(i), sql.key(i + 1)
        if word == "USING":
            self.format = table_format_of(sql.word(i + 1).lower())
            return i + 2
        if word == "PARTITIONED" and following == "BY" and sql.key(i + 2) == "(":
            close = sql.partner[i + 2]
            for start, stop in _split(sql, i + 3, close):
                self._partition(sql, start, stop)
            return close + 1
        if word == "CLUSTER" and following == "BY":
            self.clusters = sql.key(i + 2) != "NONE"
            self.cluster_by, i = _cluster_by(sql, i + 2)
            return i
        if word == "TBLPROPERTIES" and following == "(":
            self.properties = _properties(sql, i + 1)
            return sql.partner[i + 1] + 1
        return max(sql.partner[i], i) + 1

    def _partition(self, sql: Sql, start: int, stop: int) -> None:
        """A column, a transform, or a column with a type as Hive has it."""
        if stop - start > 1 and sql.key(start + 1) not in ("(", "."):
            column = _column(sql, start, stop)
            self.typed = (*self.typed, column)
            self.partition_by = (*self.partition_by, PartitionField(column.name))
        else:
            self.partition_by = (*self.partition_by, partition_field(sql.span(start, stop).of(sql.text)))


def _cluster_by(sql: Sql, i: int) -> tuple[tuple[str, ...] | None, int]:
    """The columns of CLUSTER BY; None where the engine chooses them."""
    if sql.key(i) == "(":
        close = sql.partner[i]
        return tuple(read_name(sql, start).dotted for start, _ in _split(sql, i + 1, close)), close + 1
    return (() if sql.key(i) == "NONE" else None), i + 1


def _properties(sql: Sql, i: int) -> dict[str, str]:
    properties = {}
    for start, stop in _split(sql, i + 1, sql.partner[i]):
        value = stop - 1
        equals = next((at for at in range(start, stop) if sql.key(at) == "="), value)
        key = "".join(_word(sql, at) for at in range(start, equals))
        properties[key] = _word(sql, value) if stop - equals <= 2 else sql.span(equals + 1, stop).of(sql.text)
    return properties


def _columns(sql: Sql, start: int, stop: int) -> Iterator[TableColumn]:
    for first, last in _split(sql, start, stop):
        constraint = sql.key(first) in ("CONSTRAINT", "PRIMARY", "FOREIGN", "CHECK", "UNIQUE")
        if not constraint or (last - first == 2 and sql.key(first) != "CONSTRAINT"):
            yield _column(sql, first, last)


_AFTER_TYPE = frozenset(
    {"NOT", "NULL", "GENERATED", "DEFAULT", "COMMENT", "PRIMARY", "FOREIGN", "UNIQUE", "CONSTRAINT", "CHECK"}
    | {"MASK", "FIRST", "AFTER", "REFERENCES"}
)


def _column(sql: Sql, start: int, stop: int) -> TableColumn:
    end = next((i for i in sql.top(start + 1, stop) if sql.key(i) in _AFTER_TYPE), stop)
    data_type = parse_type(sql.span(start + 1, end).of(sql.text)) if end > start + 1 else None
    nullable = not any(sql.key(i) == "NOT" and sql.key(i + 1) == "NULL" for i in sql.top(end, stop))
    generated = None
    for i in sql.top(end, stop):
        if [sql.key(i + ahead) for ahead in range(4)] == ["GENERATED", "ALWAYS", "AS", "("]:
            generated = sql.span(i + 4, sql.partner[i + 3]).of(sql.text)
    filling = next((i for i in sql.top(end, stop) if sql.key(i) in ("GENERATED", "DEFAULT")), stop)
    texts = (sql.span(filling, stop).of(sql.text),) if filling < stop else ()
    return TableColumn(unquote(sql.word(start)), data_type, nullable, generated, is_filled(texts), identity(texts))


def _split(sql: Sql, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """The ranges between the commas, those in parentheses and in the angle brackets of types left out."""
    first, depth = start, 0
    for i in sql.top(start, stop):
        key = sql.key(i)
        if key in ("<", ">", ">>"):
            depth += 1 if key == "<" else -len(key)
        elif key == "," and depth <= 0:
            yield first, i
            first = i + 1
    if first < stop:
        yield first, stop


def _alter(sql: Sql) -> Ddl | None:
    if sql.key(1) != "TABLE":
        return None
    name = read_name(sql, _past(sql, 2, "IF", "EXISTS"))
    i = name.stop
    words = [sql.key(i + ahead) for ahead in range(3)]
    if not name.parts:
        return None
    match words:
        case ["SET", "TBLPROPERTIES", "("]:
            return AlterTable(name.parts, _properties(sql, i + 2))
        case ["ADD", "COLUMN" | "COLUMNS", _]:
            return AlterTable(name.parts, add=tuple(_read_added_columns(sql, i + 2)))
        case ["DROP", "COLUMN" | "COLUMNS", _]:
            start = _past(sql, i + 2, "IF", "EXISTS")
            start, stop = (start + 1, sql.partner[start]) if sql.key(start) == "(" else (start, len(sql.tokens))
            dropped = frozenset(read_name(sql, first).dotted.casefold() for first, _ in _split(sql, start, stop))
            return AlterTable(name.parts, drop=dropped)
        case ["CLUSTER", "BY", _]:
            return AlterTable(name.parts, cluster_by=_cluster_by(sql, i + 2)[0])
        case ["ADD" | "DROP" | "REPLACE", "PARTITION", "FIELD"]:
            return _partition_fields(sql, name.parts, words[0], i + 3)
        case ["RENAME", "TO", _]:
            return AlterTable(name.parts, rename=read_name(sql, i + 2).parts)
        case ["ALTER" | "CHANGE", _, _]:
            return _altered_column(sql, name.parts, i)
        case ["RENAME" | "REPLACE", _, _]:
            return AlterTable(name.parts, unclear=True)
    return None


def _read_added_columns(sql: Sql, i: int) -> Iterator[TableColumn]:
    i = _past(sql, i, "IF", "NOT", "EXISTS")
    start, stop = (i + 1, sql.partner[i]) if sql.key(i) == "(" else (i, len(sql.tokens))
    for first, last in _split(sql, start, stop):
        if sql.key(first + 1) != ".":  # a field of a struct
            yield _column(sql, first, last)


def _partition_fields(sql: Sql, name: Parts, word: str, i: int) -> AlterTable:
    """ADD, DROP and REPLACE PARTITION FIELD of Iceberg."""
    end = next((at for at in range(i, len(sql.tokens)) if sql.key(at) in ("AS", "WITH")), len(sql.tokens))
    first = (partition_field(sql.span(i, end).of(sql.text)),)
    if word == "ADD":
        return AlterTable(name, add_fields=first)
    if word == "DROP" or sql.key(end) != "WITH":
        return AlterTable(name, drop_fields=first)
    stop = next((at for at in range(end + 1, len(sql.tokens)) if sql.key(at) == "AS"), len(sql.tokens))
    return AlterTable(name, drop_fields=first, add_fields=(partition_field(sql.span(end + 1, stop).of(sql.text)),))


def _altered_column(sql: Sql, name: Parts, i: int) -> AlterTable:
    """ALTER COLUMN: SET and DROP NOT NULL are known, a comment or a place changes nothing that matters."""
    start = _past(sql, i + 1, "COLUMN")
    column = read_name(sql, start)
    words = [sql.key(column.stop + ahead) for ahead in range(3)]
    if words in (["SET", "NOT", "NULL"], ["DROP", "NOT", "NULL"]):
        return AlterTable(name, not_null={column.dotted.casefold(): words[0] == "SET"})
    harmless = words[0] == "COMMENT" or words[:2] in (["SET", "DEFAULT"], ["DROP", "DEFAULT"])
    return AlterTable(name, unclear=not harmless)


def _past(sql: Sql, i: int, *words: str) -> int:
    """The index after any of the words."""
    while sql.key(i) in words:
        i += 1
    return i


_READERS = {"USE": _use, "CREATE": _create, "REPLACE": _create, "ALTER": _alter}
