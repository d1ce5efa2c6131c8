"""Where a real table differs from the layout that the project declares, and what resolves it without writing rows.

Partitioning, clustering, sort order, properties, comments, columns; and what columns and checks promise: NOT NULL,
defaults, generated columns. A promise is made where ALTER can. One that is no longer declared stays, and the statement
that would remove it is reported: another model or program may rely on it. NOT NULL comes back with a new table only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from merge_runner.engine.spark.sql import analyse
from merge_runner.engine.table_format.protocol import RealColumn, RealLayout, TableFormat
from merge_runner.engine.tables import ddl
from merge_runner.formats.constraints import UNALTERABLE, Unalterable
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.lexer import lex
from merge_runner.plan.layout.declared_schema import generated_expression
from merge_runner.plan.load.sample import EMPTY, PROPERTY
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.project.schema.config import OnSchemaChange
from merge_runner.pruning.layout.layout import partition_field
from merge_runner.relation import quote, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField


_FEATURE = "delta.feature."
_NULLS = re.compile(r"(?<=\s)nulls[\s_]+(first|last)\Z", re.IGNORECASE)
_VERSIONS = ("delta.minreaderversion", "delta.minwriterversion")
_CHECK = "delta.constraints."
_DEFAULT = re.compile(r"\s*default\s+(.+?)\s*\Z", re.IGNORECASE | re.DOTALL)
_IDENTITY = re.compile(r"\s*generated\s+(always|by\s+default)\s+as\s+identity\b", re.IGNORECASE)


@dataclass(frozen=True)
class Drift:
    """A difference as text, and the statements that resolve it, in order, without writing a row.

    No statement: it stays as it is, and the words say why. `violating` is a query of how many rows keep it from being
    altered: with any nothing is done. `undo` brings back what was, where a statement after the first is refused.
    `done` is how it reads once it is altered, None: as `words`. `missing` are the columns that the table lacks.
    """

    words: str
    remedy: tuple[str, ...] = ()
    violating: str | None = None
    undo: str | None = None
    done: str | None = None
    missing: tuple[str, ...] = ()
    stops: str | None = None
    """What to do, where the model may not write the table while it has rows."""


def drift(session: SparkSession, layout: Layout, table_format: TableFormat) -> list[Drift]:
    """Where the real table differs from the layout that the project declares. Raises EngineError."""
    real = table_format.layout(session, layout.relation)
    properties = {key.lower(): value for key, value in real.properties.items()}
    if any(_is_of_protocol(key.lower()) for key in layout.properties):
        properties |= {
            key.lower(): value for key, value in table_format.protocol_properties(session, layout.relation).items()
        }
    return [
        *_of_columns(session, layout),
        *_of_sample(layout, properties),
        *_of_properties(layout, properties),
        *_of_fields(layout, real),
        *_of_comment(layout, real),
        *constraint_drift(session, layout, properties, table_format),
    ]


def _of_sample(layout: Layout, properties: Mapping[str, str]) -> Iterator[Drift]:
    sample = properties.get(PROPERTY)
    if sample is not None and PROPERTY not in layout.properties:
        option = "--empty" if sample == EMPTY.text else f"--sample {string_literal(sample)}"
        yield Drift(
            f"it was made by a run with {option}",
            (ddl.unset_property(layout.relation, PROPERTY),),
            stops="build it with --full-refresh, or drop it: not all rows of its inputs are in it",
        )


def _is_of_protocol(key: str) -> bool:
    return key.startswith(_FEATURE) or key in _VERSIONS


def _of_fields(layout: Layout, real: RealLayout) -> Iterator[Drift]:
    if _fields(layout.partition_by) != _fields(real.partition_by):
        yield Drift(_differing("partitioned by", real.partition_by, layout.partition_by))
    if _fields(layout.cluster_by) != _fields(real.cluster_by):
        # A model that says nothing has not asked for a clustering to end.
        remedy = (ddl.cluster_by(layout.relation, layout.cluster_by),) if layout.cluster_by else ()
        yield Drift(_differing("clustered by", real.cluster_by, layout.cluster_by), remedy)
    if [sort_key(item) for item in layout.sort_by] != [sort_key(item) for item in real.sort_by]:
        order = (ddl.order_by(layout.relation, layout.sort_by),) if layout.sort_by else ()
        yield Drift(_differing("sorted by", real.sort_by, layout.sort_by), order)


def _of_comment(layout: Layout, real: RealLayout) -> Iterator[Drift]:
    if layout.comment and real.comment is not None and layout.comment != real.comment:
        yield Drift(
            "its comment is another than the description", (ddl.comment_table(layout.relation, layout.comment),)
        )


def _differing(what: str, real: Sequence[str], declared: Sequence[str]) -> str:
    return f"{what} ({', '.join(real)}), declared ({', '.join(declared)})"


def _of_properties(layout: Layout, properties: Mapping[str, str]) -> Iterator[Drift]:
    # A protocol's versions can no longer be raised once it has features.
    for key, value in sorted(layout.properties.items(), key=lambda item: item[0].lower() not in _VERSIONS):
        real = properties.get(key.lower())
        if real is None or not _same_value(key.lower(), real.lower(), value.lower()):
            words = f"property {key} is {real or 'not set'}, declared {value}"
            yield Drift(words, (ddl.set_properties(layout.relation, {key: value}),))


def _same_value(key: str, real: str, declared: str) -> bool:
    if key.startswith(_FEATURE):
        return True  # a table has a feature, or has not: "supported" and "enabled" are the same
    if key in _VERSIONS and declared.isdecimal():
        return int(real) >= int(declared)
    return real == declared


def _fields(columns: Sequence[str]) -> list[tuple[str, str, int | None]]:
    """Columns, and the transforms of a partitioning, however they are spelled."""
    fields = [partition_field(column) for column in columns]
    return [(field.column.lower(), field.transform, field.parameter) for field in fields]


def sort_key(item: str) -> tuple[str, str, int | None, str, str]:
    """An item of a sort order, however it is spelled: column, transform and its number, direction, place of NULLs."""
    term, direction = item.strip(), "asc"
    nulls = _NULLS.search(term)
    if nulls is not None:
        term = term[: nulls.start()].rstrip()
    words = term.rsplit(None, 1)
    if len(words) == 2 and words[1].lower() in ("asc", "desc"):
        term, direction = words[0], words[1].lower()
    field = partition_field(term)
    place = nulls[1].lower() if nulls is not None else "first" if direction == "asc" else "last"
    return field.column.lower(), field.transform, field.parameter, direction, place


class ColumnDifference(NamedTuple):
    """How one column of a table differs from the declared one, as text; `missing`: the table has no such column."""

    column: str
    words: str
    missing: bool = False


def column_differences(
    session: SparkSession, declared: Sequence[Column], fields: Iterable[StructField]
) -> Iterator[ColumnDifference]:
    """Yield where real columns differ from the declared ones. Raises EngineError.

    Where a declared column has no type there may be others that are not declared.
    """
    real = {field.name.lower(): field for field in fields}
    types = _simple_types(session, [column.data_type for column in declared if column.data_type is not None])
    for column in declared:
        field = real.pop(column.name.lower(), None)
        if field is None:
            yield ColumnDifference(column.name, f"column {column.name} is missing", missing=True)
        elif column.data_type is not None and field.dataType.simpleString() != types[column.data_type]:
            real_type = field.dataType.simpleString()
            words = f"column {column.name} is {real_type}, declared {types[column.data_type]}"
            yield ColumnDifference(column.name, words)
    if all(column.data_type for column in declared):
        for field in real.values():
            yield ColumnDifference(field.name, f"column {field.name} is not declared")


def new_columns(session: SparkSession, layout: Layout, shape: str | None) -> Iterator[Drift]:
    """Yield the columns that a first build would give the table of a layout and that it lacks. Raises EngineError.

    `shape` is the query whose columns a new table gets where none are declared. A column is added without NOT NULL, a
    default and checks: the rows that are there have no value in it.
    """
    real = {name.lower() for name in session.table(str(layout.relation)).columns}
    columns = [column for column in layout.columns if column.data_type is not None]
    untyped = {column.name.lower(): column for column in layout.columns if column.data_type is None}
    if shape is not None and (untyped or not layout.columns):
        column_names = {column.name.lower() for column in columns}
        for field in analyse(session, shape).fields:
            own = untyped.pop(field.name.lower(), None) or Column(field.name)
            if field.name.lower() not in column_names:
                columns.append(replace(own, data_type=field.dataType.simpleString()))
    for column in untyped.values():
        if column.name.lower() not in real:
            words = f"column {column.name} is missing: declare its data_type, and the next build adds it"
            yield Drift(words, missing=(column.name,))
    missing = [column for column in columns if column.name.lower() not in real]
    for column in missing:
        if is_generated(column):
            words = f"column {column.name} is missing: no ALTER adds a generated column; build with --full-refresh"
            yield Drift(words, missing=(column.name,))
    additions = [replace(column, nullable=True, generated=None) for column in missing if not is_generated(column)]
    if additions:
        names = ", ".join(column.name for column in additions)
        subject = f"column {names}" if len(additions) == 1 else f"columns {names}"
        yield Drift(
            f"{subject} could not be added",
            (ddl.add_columns(layout.relation, additions),),
            done=f"{subject} added",
            missing=tuple(column.name for column in additions),
        )


def _of_columns(session: SparkSession, layout: Layout) -> Iterator[Drift]:
    if layout.columns:
        fields = session.table(str(layout.relation)).schema.fields
        for difference in column_differences(session, layout.columns, fields):
            if difference.missing:
                yield Drift(f"{difference.words}: {_ADVICE[layout.on_schema_change]}", missing=(difference.column,))
            else:
                yield Drift(difference.words)


_APPEND = "write `on_schema_change: append_new_columns` in the model's config to add it, or build with --full-refresh"
_ADVICE: Mapping[OnSchemaChange, str] = {
    "ignore": _APPEND,
    "fail": _APPEND,
    "append_new_columns": "a build without --branch adds it",
}


def _simple_types(session: SparkSession, types: Sequence[str]) -> dict[str, str]:
    """Spark's short name of each type text, as the schema of a table has it: a varchar is a string there."""
    if not types:
        return {}
    casts = ", ".join(f"CAST(NULL AS {data_type})" for data_type in types)
    fields = analyse(session, f"SELECT {casts}").fields
    return {data_type: field.dataType.simpleString() for data_type, field in zip(types, fields, strict=True)}


def constraint_drift(
    session: SparkSession, layout: Layout, properties: Mapping[str, str], table_format: TableFormat
) -> Iterator[Drift]:
    """Yield what the table of a layout promises otherwise. `properties` are its own, by folded names.

    Raises EngineError.
    """
    checks = {key.removeprefix(_CHECK): text for key, text in properties.items() if key.startswith(_CHECK)}
    real = table_format.columns(session, layout.relation) if layout.columns else {}
    present = [(column, real[column.name.lower()]) for column in layout.columns if column.name.lower() in real]
    for column, own in present:
        yield from _of_null(layout, column, own, [*checks.values(), *layout.checks.values()])
        yield from _of_default(layout, column, own)
        if own.readable:
            yield from _of_generation(layout, column, own)
    yield from _of_comments(layout, present)
    yield from check_drift(layout, checks)


def check_drift(layout: Layout, real: Mapping[str, str]) -> Iterator[Drift]:
    """Which checks the table of a layout has otherwise than declared; `real` are their expressions by folded names."""
    without = _unalterable(layout).check
    if without is not None:
        yield from (Drift(f"check {name} is missing: {without}") for name in layout.checks)
        return
    table = layout.relation
    for name, expression in layout.checks.items():
        existing, add = real.get(name.lower()), ddl.add_check(table, name, expression)
        if existing is None:
            yield Drift(f"check {name} is missing", (add,))
        elif not _same(existing, expression):
            # Two commits. In between the table has no check: its rows are looked at before.
            yield Drift(
                f"check {name} is ({existing}), declared ({expression})",
                (ddl.drop_check(table, name), add),
                violating=f"SELECT count(*) FROM {table} WHERE ({expression}\n) IS NOT TRUE",
                undo=ddl.add_check(table, name, existing),
            )
    if layout.columns and all(column.data_type for column in layout.columns):
        for name in sorted(real.keys() - {name.lower() for name in layout.checks}):
            drop = ddl.drop_check(table, name)
            yield Drift(f"check {name} ({real[name]}) is not declared: it stays; {drop} would take it away")


def _of_null(layout: Layout, column: Column, own: RealColumn, checks: list[str]) -> Iterator[Drift]:
    if not column.nullable and own.nullable:
        if not any(_same(check, f"{quote(column.name)} is not null") for check in checks):
            advice = _unalterable(layout).not_null.format(column.name)
            yield Drift(f"column {column.name} takes NULL, declared NOT NULL: {advice}")
    elif column.nullable and column.data_type is not None and not own.nullable:
        drop = ddl.alter_column(layout.relation, column.name, "DROP NOT NULL")
        yield Drift(f"column {column.name} is NOT NULL, declared without: it stays; {drop} would take it away")


def _of_default(layout: Layout, column: Column, own: RealColumn) -> Iterator[Drift]:
    default, without = _DEFAULT.match(column.generated or ""), _unalterable(layout).default
    if default is not None:
        if own.default is None or not _same(own.default, default[1]):
            words = f"default of column {column.name} is {own.default or 'not set'}, declared {default[1]}"
            set_default = ddl.alter_column(layout.relation, column.name, f"SET DEFAULT {default[1]}")
            yield Drift(words, (set_default,)) if without is None else Drift(f"{words}: {without}")
    elif own.default is not None and column.data_type is not None and without is None:
        drop = ddl.alter_column(layout.relation, column.name, "DROP DEFAULT")
        words = f"default of column {column.name} is {own.default}, declared without"
        yield Drift(f"{words}: it stays; {drop} would take it away")


def _of_generation(layout: Layout, column: Column, own: RealColumn) -> Iterator[Drift]:
    generation = _generation(column.generated or "")
    if (generation is not None or column.data_type is not None) and not _same(own.generated or "", generation or ""):
        real = own.generated or "not generated"
        words = f"column {column.name} is {real}, declared {generation or 'not generated'}"
        yield Drift(f"{words}: {_unalterable(layout).generated}")


def _of_comments(layout: Layout, present: list[tuple[Column, RealColumn]]) -> Iterator[Drift]:
    """One statement for all: each is a commit."""
    comments = {column.name: column.comment for column, own in present if column.comment not in (None, "", own.comment)}
    if comments:
        words = f"comment of {', '.join(comments)} is another than the description"
        yield Drift(words, (ddl.comment_columns(layout.relation, comments),))


def is_generated(column: Column) -> bool:
    """Return whether a declared column is generated or an identity: no default is."""
    return _generation(column.generated or "") is not None


def _generation(text: str) -> str | None:
    """How a column is generated, as DDL has it; None where it is not."""
    expression = generated_expression(text)
    if expression is not None:
        return f"generated always as ({expression})"
    identity = _IDENTITY.match(text)
    return f"generated {' '.join(identity[1].lower().split())} as identity" if identity else None


def _unalterable(layout: Layout) -> Unalterable:
    return UNALTERABLE[layout.format]


def _same(text: str, other: str) -> bool:
    """Whether two expressions differ in blanks, comments and case alone, as Spark reads them."""
    return _tokens(text) == _tokens(other)


def _tokens(text: str) -> list[str]:
    try:
        tokens = lex(text)
    except MergeSyntaxError:
        return text.split()
    return [_token(token.kind, token.span.of(text)) for token in tokens]


def _token(kind: str, text: str) -> str:
    if kind == "string":
        return text
    return text.strip("`").replace("``", "`").casefold() if kind == "name" else text.casefold()
