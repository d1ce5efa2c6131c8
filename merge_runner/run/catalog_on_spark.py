"""catalog.json of tables and views that an engine is asked for: those of catalogs and object stores."""

from __future__ import annotations

from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.table_format.stored_metadata import StoredColumn, StoredMetadata
from merge_runner.formats import Format
from merge_runner.plan.load.project_context import Prepared
from merge_runner.relation import Relation
from merge_runner.run.catalog import WrittenCatalog, write_catalog
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.results.events import Events


def write_catalog_on_spark(
    prepared: Prepared,
    invocation_id: str,
    events: Events,
    source: DriverSource,
) -> WrittenCatalog:
    """Write target/catalog.json, and return what is in it.

    Raises ProblemsError where Spark does not start, or the object store of the warehouse does not answer.
    """
    with driving(prepared, events, source) as running, running.session() as session:

        def read(relation: Relation, format: Format | None) -> StoredMetadata | None:
            try:
                with engine_errors():
                    fields = session.table(str(relation)).schema.fields
                    columns = tuple(
                        StoredColumn(column.name, column.dataType.simpleString(), column.metadata.get("comment"))
                        for column in fields
                    )
                    if format is None:
                        return StoredMetadata(columns)
                    table_format = running.table_format(format)
                    state = table_format.state(session, relation)
                    comment = table_format.layout(session, relation).comment  # an Iceberg table does not say it
                    return StoredMetadata(columns, comment, state.files, state.bytes)
            except EngineError:
                return None

        return write_catalog(prepared, invocation_id, read)
