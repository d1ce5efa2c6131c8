"""Reads how real tables are laid out, for a recorded catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.protocol import RealColumn, TableFormat
from merge_runner.engine.table_format.stored_version import commits_by_text
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.formats.registry import table_format_of
from merge_runner.formats.types import parse_type
from merge_runner.plan.layout.declared_schema import generated_expression, is_filled
from merge_runner.plan.steps.inputs import TableInput
from merge_runner.project.schema.layout_file import FileColumn, FileTable
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DECLARED = (
    "delta.dataskipping",
    "delta.columnmapping.mode",
    "delta.enablechangedatafeed",
    "delta.enabledeletionvectors",
    "delta.enablerowtracking",
    "write.metadata.metrics.",
    "write.merge.",
    "write.distribution-mode",
    "format-version",
)
"""How the names of properties begin that have to do with what a MERGE reads and rewrites. Others may hold secrets."""


@dataclass(frozen=True)
class Record:
    """The tables that are there, and the names of those that are not yet."""

    tables: tuple[FileTable, ...]
    missing: tuple[str, ...]


def record(session: SparkSession, catalog: Catalog, tables: Iterable[TableInput]) -> Record:
    """The layouts of tables. Raises EngineError where one that is there cannot be read."""
    tables_read: list[FileTable] = []
    missing: list[str] = []
    for item in tables:
        try:
            if _exists(session, catalog, item):
                tables_read.append(_table(session, catalog, item.relation))
            else:
                missing.append(item.relation.name)
        except EngineError as error:
            error.hint = error.hint or f"in reading {item.relation.name}"
            raise
    return Record(tuple(tables_read), tuple(missing))


def _exists(session: SparkSession, catalog: Catalog, item: TableInput) -> bool:
    try:
        with engine_errors():
            catalog.attach(session, item)
            return session.catalog.tableExists(str(item.relation))
    except EngineError as error:
        if error.code == "missing-input":
            return False
        raise


def _table(session: SparkSession, catalog: Catalog, relation: Relation) -> FileTable:
    described = run_statement(session, f"DESCRIBE TABLE EXTENDED {relation}")
    provider = next((row["data_type"] for row in described if row["col_name"] == "Provider"), "").lower()
    format = table_format_of(provider)
    if format is not None:
        return _laid_out(session, relation, catalog.table_format(format))
    is_file_format = provider in ("parquet", "orc", "avro", "csv", "json", "xml", "text")
    return FileTable(
        str(relation), cast("None", provider if is_file_format else None), columns=_columns(session, relation, {})
    )


def _laid_out(session: SparkSession, relation: Relation, table_format: TableFormat) -> FileTable:
    real, state = table_format.layout(session, relation), table_format.state(session, relation)
    columns = _columns(session, relation, table_format.columns(session, relation))
    sort_by = real.sort_by if table_format.capabilities.sort_order else None
    layout = (str(relation), table_format.name, real.partition_by, real.cluster_by, sort_by, columns)
    commits = commits_by_text(table_format.versions(session, relation))
    properties = _own_properties(real.properties)
    return FileTable(*layout, None, properties, files=state.files, bytes=state.bytes, commits=commits)


def _columns(session: SparkSession, relation: Relation, real: Mapping[str, RealColumn]) -> tuple[FileColumn, ...]:
    with engine_errors():
        fields = session.table(str(relation)).schema.fields
    columns = []
    for field in fields:
        type_text = field.dataType.simpleString()
        data_type = type_text if parse_type(type_text) is not None else None
        own = real.get(field.name.lower())
        generated = generated_expression(own.generated or "") if own is not None else None
        filled = own is not None and is_filled((own.generated or "", f"default {own.default or 'null'}"))
        columns.append(FileColumn(field.name, data_type, field.nullable, generated, filled))
    return tuple(columns)


def _own_properties(properties: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in properties.items() if key.lower().startswith(_DECLARED)}
