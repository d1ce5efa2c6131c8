"""The change feed of a Delta table as a source: which changes a model has not consumed yet, each of them once.

How far a model has read is kept by its own table, in the commit of the MERGE that has consumed the changes
(batches.py): a crash before that commit leaves them unread, one after it does not. The record names both tables by what
their formats identify tables by. So a table that is recreated has consumed nothing, and a position in one table is
never taken for one in another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.context import Batch, NodeContext
from merge_runner.engine.merge.restored import restored_version
from merge_runner.engine.response import Changes
from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.spark.sql import run_command
from merge_runner.engine.table_format.protocol import Snapshot, TableFormat
from merge_runner.formats import Format
from merge_runner.plan.steps.inputs import Feed
from merge_runner.relation import Relation, string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_FEED = "delta.enableChangeDataFeed"
_REBUILD = "build the model with --full-refresh: it then reads the whole table"


@dataclass(frozen=True)
class Unread:
    """Changes that a model has not consumed: those of the versions `first` to `last` of the table.

    `first` None: nothing was consumed, and the rows of the version `last` are the changes. `batch` is what the MERGE
    that consumes them is stamped with, `at` when `last` was committed (milliseconds since the epoch), `folder` where
    the table lies. `read_at` is the state of the reader's table from which the record was read; None of Iceberg.
    """

    first: int | None
    last: int
    batch: Batch
    at: int
    folder: str
    read_at: Snapshot | None

    def consumed(self, feed: Feed) -> Changes:
        """Return what the response of the MERGE has of them."""
        return Changes(feed.table.name, self.first, self.last)

    @property
    def none(self) -> bool:
        """Whether there is nothing to consume."""
        return self.first is not None and self.first > self.last


def define_empty(session: SparkSession, feed: Feed) -> None:
    """Defines the view of a feed without rows. Raises EngineError."""
    columns = "CAST(NULL AS STRING) AS _change_type, CAST(NULL AS BIGINT) AS _commit_version"
    query = f"SELECT *, {columns}, CAST(NULL AS TIMESTAMP) AS _commit_timestamp FROM {feed.table} WHERE false"
    _define(session, feed.view, query)


def unread(context: NodeContext, feed: Feed, reader: Relation, format: Format | None) -> Unread:
    """What `reader`, a table of this format that the node writes, has not consumed yet.

    Raises EngineError where the next changes cannot be determined, or where the record is of another history of one of
    the tables.
    """
    session, parent_format, own_format = (
        context.session,
        context.table_format(feed.format),
        context.table_format(format),
    )
    parent = parent_format.snapshot(session, feed.table)
    if parent is None:
        raise EngineError(
            "changes-connect",
            f"the log of {feed.table.name} cannot be asked over Spark Connect, and changes() needs it",
            hint="run the project on a driver (`master`), or read the table itself with ref()",
        )
    if (parent.property(_FEED) or "false").lower() != "true":
        raise EngineError(
            "changes-off",
            f"{feed.table.name} keeps no change feed: its property {_FEED} is not set",
            hint=f"build the model of {feed.table.name}: that sets it",
        )
    own = own_format.snapshot(session, reader)
    # The snapshots of an Iceberg table that was replaced are no ancestors of the new ones.
    prefix = f"{feed.reader} changes {own.table_id} " if own is not None else f"{feed.reader} changes "
    words = f"the changes of {feed.table.name} up to version {parent.version} are consumed already"
    batch = Batch(prefix + parent.table_id, parent.version, words)
    records = own_format.recorded_batches(session, reader, prefix, own.version if own is not None else None)
    first = None
    if records:
        app = max(records, key=lambda application: records[application])
        _check_past(session, feed, parent_format, parent, app.removeprefix(prefix), records[app])
        first = records[app] + 1
        if own is not None:
            _check_not_restored(session, reader, own_format, context.stamp)
    elif own is None and own_format.state(session, reader).files:
        raise EngineError(
            "changes-unknown",
            f"{reader.name} has rows, and none of its snapshots says which changes of {feed.table.name} it has "
            "consumed (an Iceberg table forgets that with the snapshot, when it expires)",
            hint=_REBUILD,
        )
    return Unread(first, parent.version, batch, parent.milliseconds, parent.folder, own)


def define_changes(session: SparkSession, feed: Feed, changes: Unread) -> None:
    """Gives the view of a feed its rows: the same ones however often they are read. Raises EngineError."""
    if changes.first is None:
        # As a Delta stream begins (Delta 4.4.0): the rows of a version, as if this had inserted them.
        query = (
            f"SELECT *, 'insert' AS _change_type, CAST({changes.last} AS BIGINT) AS _commit_version, "
            f"timestamp_millis({changes.at}) AS _commit_timestamp FROM {feed.table} VERSION AS OF {changes.last}"
        )
    else:
        query = f"SELECT * FROM table_changes({string_literal(str(feed.table))}, {changes.first}, {changes.last})"
    try:
        _define(session, feed.view, query)
    except EngineError as error:
        raise unreadable(feed, changes, error) from error


def unreadable(feed: Feed, changes: Unread, error: EngineError) -> EngineError:
    """What to say where the engine refuses to read changes; the error itself where it is about something else."""
    is_gone = error.code == _NO_FILE and changes.folder in error.message
    if changes.first is None or error.kind is not Kind.USER or not (is_gone or error.code in _UNREADABLE):
        return error
    range_ = f"version {changes.first} to {changes.last}"
    return EngineError(
        "changes-unreadable",
        f"the changes of {feed.table.name} from {range_} cannot be read: {error.message}",
        hint=_REBUILD,
    )


def check_consumed(
    session: SparkSession, reader: Relation, table_format: TableFormat, changes: Unread, committed: int | None
) -> None:
    """Raise EngineError where another run has consumed the same changes as the MERGE that has `committed`."""
    if committed is not None and overtaken(session, reader, table_format, changes, committed):
        raise EngineError(
            "changes-twice",
            f"another run of this model has consumed changes just before version {committed} of {reader.name}: "
            "some may have been merged twice",
            hint="let one run at a time write the table, and build it with --full-refresh",
        )


def overtaken(
    session: SparkSession, reader: Relation, table_format: TableFormat, changes: Unread, committed: int
) -> bool:
    """Whether another run has consumed changes between our look at the record and our MERGE, its version `committed`.

    Delta stops a MERGE that meets such a commit, or that would commit no higher version; not one that begins after it.
    Raises EngineError.
    """
    read_at = changes.read_at
    if read_at is None or committed <= read_at.version + 1:
        return False
    prefix = changes.batch.app.rpartition(" ")[0]
    read_version, merged_version = (
        table_format.recorded_batches(session, reader, prefix, version) for version in (read_at.version, committed - 1)
    )
    before = table_format.snapshot(session, reader, committed - 1)
    return read_version != merged_version or before is None or before.table_id != read_at.table_id


def _check_past(
    session: SparkSession, feed: Feed, parent_format: TableFormat, parent: Snapshot, table_id: str, version: int
) -> None:
    """Raises EngineError where the version that was consumed is not one of this table's past."""
    if version <= parent.version:
        if table_id == parent.table_id:
            return
        # A table that was replaced has another id, and goes on with its versions.
        try:
            then = parent_format.snapshot(session, feed.table, version)
        except EngineError as error:
            if error.kind is not Kind.USER:
                raise
        else:
            if then is not None and then.table_id == table_id:
                return
    raise EngineError(
        "changes-of-another-table",
        f"{feed.table.name} is not the table whose changes were consumed up to version {version}: "
        f"the table was dropped and recreated (now at version {parent.version})",
        hint=_REBUILD,
    )


def _check_not_restored(session: SparkSession, reader: Relation, table_format: TableFormat, stamp: str) -> None:
    """Raise EngineError if the table was restored after its last MERGE: its rows went back, its record did not."""
    version = restored_version(session, reader, table_format, stamp)
    if version is not None:
        raise EngineError(
            "changes-restored",
            f"{reader.name} was restored in version {version}: which changes its rows hold is not known",
            hint=_REBUILD,
        )


def _define(session: SparkSession, view: Relation, query: str) -> None:
    run_command(session, f"CREATE OR REPLACE TEMPORARY VIEW {view} AS {query}")


_UNREADABLE = frozenset(
    {
        "DELTA_MISSING_CHANGE_DATA",
        "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA",
        "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE",
        "DELTA_VERSION_NOT_FOUND",
    }
)
"""Error conditions of changes that were not kept, or not in one form (Delta 4.4.0)."""

_NO_FILE = "FAILED_READ_FILE.FILE_NOT_EXIST"
"""What Spark 4.1.4 says of changes whose files VACUUM has removed: the MERGE that reads them fails."""
