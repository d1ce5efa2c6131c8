"""Tables and views of the session's catalog: attached, created, replaced, and altered to what is declared.

The embedded default keeps its catalog in memory: tables are folders of the warehouse that each process attaches by
location, and the query of a view is kept in a file next to them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import singledispatchmethod
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.response import Operation
from merge_runner.engine.spark.errors import EngineError, engine_error, engine_errors
from merge_runner.engine.spark.sql import analyse, run_command, run_statement
from merge_runner.engine.spark.storage.files import has_table, read_text, remove_empty_log, write_text
from merge_runner.engine.table_format.protocol import TableFormats
from merge_runner.engine.tables import ddl
from merge_runner.engine.tables.alter import alter
from merge_runner.engine.tables.drift import check_drift
from merge_runner.engine.tables.table_location import check_location
from merge_runner.errors import did_you_mean
from merge_runner.formats.registry import capabilities
from merge_runner.location import Location
from merge_runner.plan.load.sample import PROPERTY
from merge_runner.plan.steps.inputs import FileInput, Input, StreamBatchInput, TableInput, ViewInput
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.relation import Relation, string_literal
from merge_runner.text import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_FINGERPRINT = "merge_runner.fingerprint"
_TEXT_FORMATS = ("csv", "json", "xml")
"""Formats whose columns have no types of their own, so that the declared ones are used to read them."""


@dataclass(frozen=True)
class Target:
    """A table that a model writes: whether it was created, else what was altered, and what differs still, as text.

    `emptied`: it was there, and all of its rows were taken out for the statement to come. `missing` is the part of
    `drift` that is about declared columns that the table lacks, by their names.
    """

    created: bool = False
    emptied: bool = False
    altered: tuple[str, ...] = ()
    drift: tuple[str, ...] = ()
    missing: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Replacement:
    """How the rows of a table were replaced, and the schema drift that is left, as text."""

    operation: Operation
    drift: tuple[str, ...] = ()


class Catalog:
    """What this process has attached and created in the catalog that its sessions share. Safe for many threads.

    `table_format` is the lookup of the driver whose sessions they are. `recreated_tables` are names of tables that
    count as created already: a full refresh does not replace them once more.
    """

    def __init__(self, table_format: TableFormats, recreated_tables: Iterable[str] = ()) -> None:
        self.table_format = table_format
        self._attached: set[str] = set()
        self._recreated = set(recreated_tables)
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    @property
    def recreated_tables(self) -> frozenset[str]:
        """The names of the tables that a full refresh no longer replaces."""
        return frozenset(self._recreated)

    def attach(self, session: SparkSession, item: Input) -> None:
        """Makes an input known to the catalog, once in the life of the process.

        Raises EngineError `missing-input` where the model that makes it has never been built, `other-location` where
        the catalog has another table of its name.
        """
        self._once(item.relation.name, lambda: self._attach(item, session))

    @singledispatchmethod
    def _attach(self, item: Input, session: SparkSession) -> None:
        raise TypeError(item)

    @_attach.register(TableInput)
    def _(self, item: TableInput, session: SparkSession) -> None:
        if item.location is None or self._exists(session, item.relation, item.location):
            return
        if not _has_table(session, item.location):
            if item.place is not None:
                raise _missing_files(item.relation, f"Delta table in {item.location}", item.place)
            raise EngineError(
                "missing-input",
                f"{item.relation.name} has not been built yet: there is no table in {item.location}",
                hint="build its model first",
            )
        self.ensure_schema(session, item.relation)
        run_command(
            session,
            f"CREATE TABLE IF NOT EXISTS {item.relation} USING {item.format} "
            f"LOCATION {string_literal(str(item.location))}",
        )

    @_attach.register(ViewInput)
    def _(self, item: ViewInput, session: SparkSession) -> None:
        if item.definition is None:
            return
        # A view that is there is created again: Spark keeps the columns that its tables had when it was created.
        query = read_text(session, item.definition)
        if query is None:
            raise EngineError(
                "missing-input", f"{item.relation.name} has not been built yet", hint="build its model first"
            )
        self.ensure_schema(session, item.relation)
        run_command(session, f"CREATE OR REPLACE VIEW {item.relation} AS\n{query}")

    @_attach.register(FileInput)
    def _(self, item: FileInput, session: SparkSession) -> None:
        fingerprint = hashlib.sha256(repr(item).encode()).hexdigest()[:16]
        if session.catalog.tableExists(str(item.relation)):
            rows = run_statement(session, f"SHOW TBLPROPERTIES {item.relation}")
            stored_fingerprint = {row["key"]: row["value"] for row in rows}.get(_FINGERPRINT)
            if stored_fingerprint == fingerprint:
                return
            if stored_fingerprint is None:
                raise EngineError(
                    "source-exists",
                    f"table {item.relation.name} already exists in the catalog and was not created from this source's "
                    "`path`",
                    hint="leave `path` out of the source, or give the source another `schema`",
                )
            run_command(session, f"DROP TABLE {item.relation}")  # external: the files stay
        _check_path(session, item)
        self.ensure_schema(session, item.relation)
        columns = _file_columns(session, item)
        options = dict(item.options)
        if columns and item.format == "csv" and str(options.get("header", "false")).lower() == "true":
            # A file whose header differs is an error then, and not a column under another's name.
            options.setdefault("enforceSchema", "false")
        run_command(
            session,
            f"CREATE TABLE IF NOT EXISTS {item.relation} {ddl.column_list(columns) if columns else ''} "
            f"USING {item.format} OPTIONS {ddl.options(options | {'path': item.path})} "
            f"TBLPROPERTIES {ddl.options({_FINGERPRINT: fingerprint})}",
        )

    @_attach.register(StreamBatchInput)
    def _(self, item: StreamBatchInput, session: SparkSession) -> None:
        if not session.catalog.tableExists(str(item.relation)):
            raise EngineError(
                "no-batch",
                f"{item.stream} is a stream, and no batch of it is being worked on",
                hint="`merge-runner stream` reads it",
            )

    def ensure_schema(self, session: SparkSession, relation: Relation) -> None:
        """Creates the schema of a relation where it is missing."""
        if relation.schema is None:
            return
        namespace = Relation(relation.schema, relation.catalog)
        self._once(f"schema {namespace.name}", lambda: run_command(session, f"CREATE SCHEMA IF NOT EXISTS {namespace}"))

    def create_target(self, session: SparkSession, layout: Layout, shape: str | None, replace: bool) -> Target:
        """Creates the table of a layout, or adopts the one that is there and alters what can be without writing rows.

        Of several models with one table, the first creates or replaces it, and the others adopt it.
        """
        with self._guard:
            lock = self._locks.setdefault(f"create {layout.relation.name}", threading.Lock())
        with lock:
            first = layout.relation.name not in self._recreated
            target = self._create_target(session, layout, shape, replace and first)
            self._recreated.add(layout.relation.name)
            return target

    def _create_target(self, session: SparkSession, layout: Layout, shape: str | None, replace: bool) -> Target:
        self.ensure_schema(session, layout.relation)
        exists = self.adopt(session, layout)
        if exists and not replace:
            return self._adopt(session, layout, shape)
        columns = _typed_columns(session, layout, shape)
        if exists:
            self._unmark(session, layout)
        if not exists and layout.location is not None:
            remove_empty_log(session, layout.location)
        run_command(session, ddl.create_table(layout, columns, replace=exists))
        if layout.sort_by:
            run_command(session, ddl.order_by(layout.relation, layout.sort_by))
        left = []
        for item in check_drift(layout, {}):
            for statement in item.remedy:
                run_command(session, statement)
            left += [] if item.remedy else [item.words]
        self._mark(layout.relation)
        return Target(created=True, drift=tuple(left))

    def _adopt(self, session: SparkSession, layout: Layout, shape: str | None) -> Target:
        """Alter a table that exists already; `shape` is as for a new one."""
        alteration = alter(session, layout, self.table_format(layout.format), shape)
        return Target(altered=alteration.altered, drift=alteration.left, missing=alteration.missing)

    def replace_table(self, session: SparkSession, layout: Layout, query: str) -> Replacement:
        """The rows of a table from a query, in one commit. Raises EngineError."""
        self.ensure_schema(session, layout.relation)
        if self.adopt(session, layout):
            self._unmark(session, layout)
        run_command(session, ddl.replace_table_as(layout, query))
        self._mark(layout.relation)
        return Replacement("CREATE OR REPLACE TABLE AS SELECT")

    def clone(self, session: SparkSession, layout: Layout, source: Relation, *, replace: bool) -> bool:
        """Make the table of a layout a shallow clone of another; False where it exists and is not to be replaced."""
        self.ensure_schema(session, layout.relation)
        exists = self.adopt(session, layout)
        if exists and not replace:
            return False
        if not exists and layout.location is not None:
            remove_empty_log(session, layout.location)
        if exists:
            run_command(
                session, f"DELETE FROM {layout.relation}"
            )  # Delta clones into a table without rows alone (4.4.0)
        run_command(session, ddl.clone_table(layout, source, replace=exists))
        self._mark(layout.relation)
        return True

    def _unmark(self, session: SparkSession, layout: Layout) -> None:
        """Take the mark of a sampled run off a table that is to be replaced, where it would keep it."""
        if PROPERTY in layout.properties or not capabilities(layout.format).replaced_keeps_properties:
            return
        if PROPERTY in self.table_format(layout.format).layout(session, layout.relation).properties:
            run_command(session, ddl.unset_property(layout.relation, PROPERTY))

    def define_view(self, session: SparkSession, relation: Relation, query: str, definition: Location | None) -> None:
        """A view; in the embedded warehouse its query is kept in the file `definition`."""
        self.ensure_schema(session, relation)
        run_command(session, f"CREATE OR REPLACE VIEW {relation} AS\n{query}")
        if definition is not None:
            write_text(session, definition, query)
        self._mark(relation)

    def adopt(self, session: SparkSession, layout: Layout) -> bool:
        """Makes the table of a layout known to the catalog; False where there is none yet.

        Raises EngineError `other-location` where the catalog has another table of this name.
        """
        if self._exists(session, layout.relation, layout.location):
            return True
        if layout.location is None or not _has_table(session, layout.location):
            return False
        self._once(
            layout.relation.name,
            lambda: self._attach(TableInput(layout.relation, layout.format, layout.location), session),
        )
        return True

    def _exists(self, session: SparkSession, relation: Relation, location: Location | None) -> bool:
        """Whether the catalog has a table. Raises EngineError where it is another than the one at the location."""
        if not session.catalog.tableExists(str(relation)):
            return False
        if location is not None:
            self._once(f"location {relation.name}", lambda: check_location(session, relation, location))
        return True

    def _mark(self, relation: Relation) -> None:
        with self._guard:
            self._attached.add(relation.name)

    def _once(self, name: str, work: Callable[[], object]) -> None:
        with self._guard:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._attached:
                work()
                with self._guard:
                    self._attached.add(name)


@dataclass(frozen=True)
class CatalogSession:
    """A session, and what the process has attached in its catalog."""

    session: SparkSession
    catalog: Catalog


def no_columns(name: str, place: Place) -> EngineError:
    """Return the error of a table that does not exist and whose columns come from a source that reads it, at `read`."""
    return EngineError(
        "no-columns",
        f"USING reads {name}, the model's own table, which does not exist before the first run; "
        "without declared columns it cannot be created",
        hint="declare the columns with name and data_type in YAML, or read it only where it exists: "
        "{% if is_incremental() %} … {% endif %}",
        place=place,
    )


def table_exists(session: SparkSession, relation: Relation) -> bool:
    """Whether the session's catalog has a table. Raises EngineError."""
    with engine_errors():
        return session.catalog.tableExists(str(relation))


def _has_table(session: SparkSession, location: Location) -> bool:
    """Whether a folder has a table; in an object store its log is listed, as a killed CREATE leaves a folder too."""
    return table_folder(location) if isinstance(location, Path) else has_table(session, location)


def table_folder(location: Path) -> bool:
    """Whether the folder has a Delta or Iceberg table: one with a commit.

    A process that is killed while it creates a table leaves files, and with Delta an empty log folder.
    """
    # A commit and a checkpoint of Delta both begin with their version; the commit may have been cleaned up.
    commits = ((location / "_delta_log", "[0-9]*"), (location / "metadata", "*.metadata.json"))
    return any(next(folder.glob(pattern), None) is not None for folder, pattern in commits)


def _typed_columns(session: SparkSession, layout: Layout, shape: str | None) -> list[Column]:
    """The declared columns; where types are missing, those of the analysed `shape`, the declared ones on top."""
    if layout.has_all_types:
        return list(layout.columns)
    if shape is None:
        raise EngineError(
            "no-columns",
            f"{layout.relation.name} does not exist, and its columns are not known",
            hint="declare columns with data_type in YAML: the MERGE inserts nothing from which they could be derived",
        )
    own_columns = {column.name.lower(): column for column in layout.columns}
    columns = []
    for field in analyse(session, shape).fields:
        own = own_columns.pop(field.name.lower(), None) or Column(field.name)
        data_type = own.data_type or field.dataType.simpleString()
        columns.append(Column(own.name, data_type, own.nullable, own.comment, own.generated))
    if own_columns:
        name = next(iter(own_columns.values())).name
        raise EngineError(
            "unknown-column",
            f"column {name} is declared without a data_type, and the source has no such column",
            hint=did_you_mean(name, [column.name for column in columns]),
        )
    return columns


def _check_path(session: SparkSession, item: FileInput) -> None:
    """Raise EngineError where no file is at the path of a source.

    Spark reads a table over a path that does not exist as one without rows (4.1.4), where its columns are declared.
    """
    try:
        # To load a text analyses the path: it lists it as the reader of any format does, and reads nothing.
        session.read.format("text").option("recursiveFileLookup", "true").load(item.path).schema  # noqa: B018
    except Exception as error:
        failure = engine_error(error)
        if failure.code != "PATH_NOT_FOUND":
            raise failure from error
        raise _missing_files(item.relation, f"file at {item.path}", item.place) from error


def _missing_files(source: Relation, what: str, place: Place | None) -> EngineError:
    hint = "check its `path`, which is relative to the project"
    return EngineError("missing-source", f"source {source.name}: there is no {what}", hint, place=place)


def _file_columns(session: SparkSession, item: FileInput) -> list[Column]:
    """Columns to read files with, in the order of the files; empty: the format's own reader says what there is."""
    if item.format not in _TEXT_FORMATS or not any(data_type for _, data_type in item.columns):
        return []
    types = dict(item.columns)
    header = str(item.options.get("header", "false")).lower() == "true"
    if item.format != "csv" or (not header and all(types.values())):
        return [Column(name, data_type or "string") for name, data_type in item.columns]
    real = session.read.format("csv").options(**dict(item.options)).load(item.path).columns
    by_name = {name.lower(): data_type for name, data_type in item.columns}
    missing = [name for name in types if name.lower() not in {column.lower() for column in real}]
    if missing:
        raise EngineError(
            "unknown-column",
            f"source {item.relation.name} declares column {missing[0]}, which {item.path} does not have",
            hint=did_you_mean(missing[0], real),
        )
    return [Column(name, by_name.get(name.lower()) or "string") for name in real]
