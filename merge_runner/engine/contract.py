"""A model's contract: its table has the declared columns and types, or the model does not run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from merge_runner.engine.drift import column_differences
from merge_runner.engine.failures import EngineError, engine_error
from merge_runner.engine.java_class import java_class
from merge_runner.engine.statements import analyse
from merge_runner.engine.tables import Catalog
from merge_runner.formats.types import DataType, parse_type
from merge_runner.plan.steps import EnforceContract
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

    from merge_runner.merge.statement import MergeStatement


def enforce_contract(session: SparkSession, catalog: Catalog, step: EnforceContract) -> None:
    """Compares what a table has, and what its statement would make of it, with the declared columns.

    Raises EngineError `broken-contract` with each difference at the place of its column in the YAML, and the engine's
    own error for a statement that it cannot analyse.
    """
    found: dict[str, str] = {}
    if step.query is not None:
        found |= _differences(session, step, analyse(session, step.query).fields)
    exists = catalog.adopt(session, step.layout)
    if step.existing and exists:
        found |= _differences(session, step, session.table(str(step.layout.relation)).schema.fields)
    if step.merge is not None and not found:
        found |= dict(_added(session, step, step.merge, exists))
    if found:
        places = {name.lower(): place for name, place in step.places.items()}
        (first, words), *others = ((places.get(name.lower(), step.place), words) for name, words in found.items())
        raise EngineError(
            "broken-contract",
            "; ".join((words, *(f"{place}: {more}" for place, more in others))),
            hint="declare what the table shall have, or alter the table: nothing was written",
            place=first,
        )


def _differences(session: SparkSession, step: EnforceContract, fields: Iterable[StructField]) -> dict[str, str]:
    return dict(column_differences(session, step.layout.columns, fields))


def _added(
    session: SparkSession, step: EnforceContract, merge: MergeStatement, exists: bool
) -> Iterator[tuple[str, str]]:
    """What the MERGE would add to its target or widen there, beyond what is declared."""
    delta = step.layout.format == "delta"
    if exists and step.existing and delta and hasattr(session, "_jsparkSession"):
        migrated = _migrated(session, merge)
        for name, words in _differences(session, step, migrated).items() if migrated else ():
            yield name, f"{words}: the MERGE would make it so"
        return
    evolves = merge.schema_evolution or (delta and str(session.conf.get(_AUTO_MERGE, "false")).lower() == "true")
    if not evolves:
        return
    declared = {column.name.lower(): parse_type(column.data_type) for column in step.layout.columns}
    for name, data_type in _written(session, merge, exists=exists and step.existing):
        own, given = declared.get(name.lower()), parse_type(data_type)
        if name.lower() not in declared:
            yield name, f"column {name} is not declared: the MERGE would add it"
        elif not delta and own is not None and given is not None and _widens(own, given):
            yield name, f"column {name} is declared {own}: the MERGE would make it {given}"


def _migrated(session: SparkSession, merge: MergeStatement) -> list[StructField]:
    """The columns that Delta would give the target; none where it leaves them as they are.

    They stand in the analysed command (MergeIntoCommand.migratedSchema, Delta 4.4.0), which is not run.
    """
    from pyspark.sql.types import StructType

    state = session._jsparkSession.sessionState()
    skip = java_class(session, "org.apache.spark.sql.execution.CommandExecutionMode").SKIP()
    try:
        plan: Any = state.executePlan(state.sqlParser().parsePlan(merge.text), skip).analyzed()
        schema = plan.migratedSchema()
        return list(StructType.fromJson(json.loads(schema.get().json())).fields) if schema.isDefined() else []
    except Exception as error:
        raise engine_error(error, merge.text) from error


def _written(session: SparkSession, merge: MergeStatement, exists: bool) -> Iterator[tuple[str, str]]:
    """The columns that the clauses of a MERGE write, with the types of what they write.

    The statement itself is not asked: to analyse it alters an Iceberg table (Spark 4.1.4 with Iceberg 1.12.0). The type
    of what SET writes is known where the target `exists`, and empty elsewhere.
    """
    source = merge.source.span.of(merge.text)
    target = merge.target.span.of(merge.text)
    asked = [("*", source)] if any(clause.star for clause in merge.clauses) else []
    for clause in merge.clauses:
        given = [item for item in clause.assignments if item.value.text.strip().upper() != "DEFAULT"]
        values = ", ".join(f"({item.value.text}) AS {quote(item.column[-1])}" for item in given)
        if values and clause.action == "insert":
            asked.append((values, source))
        elif values and exists:
            asked.append((values, f"{target} CROSS JOIN {source}"))
        else:
            yield from ((item.column[-1], "") for item in clause.assignments)
    for values, rows in asked:
        for field in analyse(session, f"{merge.with_text}SELECT {values} FROM {rows}").fields:
            yield field.name, field.dataType.simpleString()


def _widens(declared: DataType, given: DataType) -> bool:
    """Whether an Iceberg table takes a type in place of its own where the schema evolves, or a field more.

    Measured: int to bigint, a decimal of more digits, a new field of a struct; float to double by Iceberg's spec.
    """
    if given.fields or declared.fields:
        return str(declared) != str(given)
    if declared.name == given.name == "decimal":
        return (given.precision or 0) > (declared.precision or 0)
    return (declared.name, given.name) in {("int", "bigint"), ("float", "double")}


_AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
