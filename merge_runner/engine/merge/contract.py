"""Models that stop where their table has other columns: by a contract, or by `on_schema_change: fail`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.context import NodeContext
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import analyse
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.drift import ColumnDifference, column_differences
from merge_runner.formats.types import DataType, parse_type
from merge_runner.plan.steps.table import CheckSchema, EnforceContract
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

    from merge_runner.merge.statement import MergeStatement


def enforce_contract(step: EnforceContract, context: NodeContext) -> None:
    """Enforce a contract; before the MERGE, or where that has yet to add columns, after it. Raises EngineError."""
    if not step.after_adding:
        context.output.contract_pending = _enforce(context.session, context.catalog, step)
    elif context.output.contract_pending:
        _enforce(context.session, context.catalog, step)


def _enforce(session: SparkSession, catalog: Catalog, step: EnforceContract) -> bool:
    """Compare what a table has, and what its statement would make of it, with the declared columns.

    Return whether columns are still to be added to the table (`on_schema_change: append_new_columns`): what the MERGE
    would make of it is compared after that. Raises EngineError `broken-contract` with each difference at the place of
    its column in the YAML, and the engine's own error for a statement that it cannot analyse.
    """
    breaches: dict[str, str] = {}
    adds = lacks = False
    if step.query is not None:
        breaches |= _words(_differences(session, step, analyse(session, step.query).fields))
    exists = catalog.adopt(session, step.layout)
    if step.existing and exists:
        differences = _differences(session, step, session.table(str(step.layout.relation)).schema.fields)
        lacks = any(difference.missing for difference in differences)
        if step.layout.on_schema_change == "append_new_columns" and not step.after_adding:
            adds, lacks = lacks, False
            differences = [difference for difference in differences if not difference.missing]
        breaches |= _words(differences)
    if step.merge is not None and not breaches and not adds:
        breaches |= dict(_additions(session, catalog.table_format(step.layout.format), step, step.merge, exists))
    if breaches:
        hint = _HINT.format("no row" if step.after_adding else "nothing")
        raise _error("broken-contract", breaches, step, f"{hint}; {_APPEND}" if lacks else hint)
    return adds


def check_schema(step: CheckSchema, context: NodeContext) -> None:
    """Raise EngineError `schema-change` where the table exists with other columns than a first build would give it."""
    session, layout = context.session, step.layout
    if not context.catalog.adopt(session, layout):
        return
    fields = session.table(str(layout.relation)).schema.fields
    breaches = _words(column_differences(session, layout.columns, fields)) if layout.columns else {}
    if step.shape is not None and not (layout.columns and all(column.data_type for column in layout.columns)):
        real = {field.name.lower() for field in fields}
        new = (name for name in analyse(session, step.shape.query).names if name.lower() not in real)
        breaches = {name: f"column {name} of the source is not in the table" for name in new} | breaches
    if breaches:
        raise _error(
            "schema-change", breaches, step, f"`on_schema_change` is fail: {_HINT.format('nothing')}; {_APPEND}"
        )


_HINT = "declare what the table shall have, or alter the table: {} was written"
_APPEND = "`on_schema_change: append_new_columns` adds missing columns, and --full-refresh builds the table again"


def _error(code: str, breaches: Mapping[str, str], step: EnforceContract | CheckSchema, hint: str) -> EngineError:
    """Return the error of differing columns, at the place of the first in the YAML; the others with theirs."""
    places = {name.lower(): place for name, place in step.places.items()}
    (first, words), *others = ((places.get(name.lower(), step.place), words) for name, words in breaches.items())
    return EngineError(code, "; ".join((words, *(f"{place}: {more}" for place, more in others))), hint, place=first)


def _words(differences: Iterable[ColumnDifference]) -> dict[str, str]:
    return {difference.column: difference.words for difference in differences}


def _differences(session: SparkSession, step: EnforceContract, fields: Iterable[StructField]) -> list[ColumnDifference]:
    return list(column_differences(session, step.layout.columns, fields))


def _additions(
    session: SparkSession, table_format: TableFormat, step: EnforceContract, merge: MergeStatement, exists: bool
) -> Iterator[tuple[str, str]]:
    """What the MERGE would add to its target or widen there, beyond what is declared."""
    migrated = table_format.columns_after(session, merge) if exists and step.existing else None
    if migrated is not None:
        for difference in _differences(session, step, migrated) if migrated else ():
            yield difference.column, f"{difference.words}: the MERGE would make it so"
        return
    conf = table_format.capabilities.schema_evolution_conf
    evolves = merge.schema_evolution or (conf is not None and str(session.conf.get(conf, "false")).lower() == "true")
    if not evolves:
        return
    widens = table_format.capabilities.evolution_widens
    types = {column.name.lower(): parse_type(column.data_type) for column in step.layout.columns}
    for name, data_type in _columns_written(session, merge, exists=exists and step.existing):
        own, written_type = types.get(name.lower()), parse_type(data_type)
        if name.lower() not in types:
            yield name, f"column {name} is not declared: the MERGE would add it"
        elif widens and own is not None and written_type is not None and _widens(own, written_type):
            yield name, f"column {name} is declared {own}: the MERGE would make it {written_type}"


def _columns_written(session: SparkSession, merge: MergeStatement, exists: bool) -> Iterator[tuple[str, str]]:
    """The columns that the clauses of a MERGE write, with the types of what they write.

    The statement itself is not asked: to analyse it alters an Iceberg table (Spark 4.1.4 with Iceberg 1.12.0). The type
    of what SET writes is known where the target `exists`, and empty elsewhere.
    """
    source = merge.source.span.of(merge.text)
    target = merge.target.span.of(merge.text)
    selections = [("*", source)] if any(clause.star for clause in merge.clauses) else []
    for clause in merge.clauses:
        assignments = [item for item in clause.assignments if item.value.text.strip().upper() != "DEFAULT"]
        values = ", ".join(f"({item.value.text}) AS {quote(item.column[-1])}" for item in assignments)
        if values and clause.action == "insert":
            selections.append((values, source))
        elif values and exists:
            selections.append((values, f"{target} CROSS JOIN {source}"))
        else:
            yield from ((item.column[-1], "") for item in clause.assignments)
    for values, rows in selections:
        for field in analyse(session, f"{merge.with_text}SELECT {values} FROM {rows}").fields:
            yield field.name, field.dataType.simpleString()


def _widens(declared: DataType, given: DataType) -> bool:
    """Whether schema evolution lets an Iceberg column take another type, or a further field.

    Measured: int to bigint, a decimal of more digits, a new field of a struct; float to double by Iceberg's spec.
    """
    if given.fields or declared.fields:
        return str(declared) != str(given)
    if declared.name == given.name == "decimal":
        return (given.precision or 0) > (declared.precision or 0)
    return (declared.name, given.name) in {("int", "bigint"), ("float", "double")}
