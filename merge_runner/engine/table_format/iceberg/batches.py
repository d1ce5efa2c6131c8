"""The batches that an Iceberg table has committed, as its snapshots say.

Iceberg keeps no record of transactions: the number of a batch is in the summary of the snapshot that its MERGE writes,
and is searched for before the MERGE runs. It expires with the snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.snapshot_properties import PREFIX
from merge_runner.engine.spark.sql import run_command, run_statement, temporary_confs
from merge_runner.engine.table_format.iceberg.log import ancestry, branches, keeps_snapshots
from merge_runner.relation import Relation, string_literal

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_APP_KEY = "merge-runner.app"
_BATCH_KEY = "merge-runner.batch"
_BATCHES_KEY = "merge-runner.batches"
"""Keys of a snapshot's summary: an application and its batch, or those of many as a JSON object."""


@dataclass(frozen=True)
class Record:
    """The highest batch of an application; `written` is the time of the snapshot that says so, in ms."""

    app: str
    batch: int
    written: int


def batch_confs(app: str, batch: int) -> Mapping[str, str]:
    """Return the confs of a session whose commits are of a batch."""
    return {
        f"{PREFIX}{_APP_KEY}": app,
        f"{PREFIX}{_BATCH_KEY}": str(batch),
    }


def recorded_batches(session: SparkSession, table: Relation, prefix: str, version: int | None = None) -> dict[str, int]:
    """The highest batch of each application whose name begins with `prefix`.

    Raises EngineError, `batch-history` where the next commit of another writer would hide what is recorded.
    """
    if not keeps_snapshots(session, table):
        raise EngineError(
            "batch-history",
            f"the catalog of {table.name} keeps the newest snapshot alone: which batches it has committed is not known",
            hint="merge it without --batch-id, changes() and streams, or keep the table in another catalog",
        )
    return {record.app: record.batch for record in batch_records(session, table, prefix)}


def batch_records(session: SparkSession, table: Relation, prefix: str = "") -> tuple[Record, ...]:
    """What the snapshots of a table record: of each application its highest batch. Raises EngineError.

    These are the applications whose names begin with `prefix`.
    """
    app, batch, batches = (f"summary[{string_literal(key)}]" for key in (_APP_KEY, _BATCH_KEY, _BATCHES_KEY))
    rows = run_statement(
        session,
        f"SELECT snapshot_id, {app} AS app, {batch} AS batch, {batches} AS batches, unix_millis(committed_at) AS at "
        f"FROM {table}.snapshots WHERE startswith({app}, {string_literal(prefix)}) OR {batches} IS NOT NULL",
    )
    if not rows:
        return ()
    # A table that was rolled back or replaced has lost what the snapshots of its other past had written, and what
    # another branch has committed is not in this one.
    refs = branches(session, table)
    own = set(ancestry(session, table, refs.heads.get(refs.read_by(session))))
    entries = [
        Record(app, int(batch), int(row["at"]))
        for row in rows
        if row["snapshot_id"] in own
        for app, batch in _batches_in(row)
        if app.startswith(prefix)
    ]
    records: dict[str, Record] = {}
    for record in sorted(entries, key=lambda record: (record.batch, record.written)):
        records[record.app] = record
    return tuple(records.values())


def _batches_in(row: Row) -> Iterable[tuple[str, Any]]:
    """Return the applications in the summary of a snapshot with their batches. Raise EngineError where it is broken."""
    own = [(row["app"], row["batch"])] if row["app"] is not None else []
    try:
        return [*own, *((app, int(batch)) for app, batch in json.loads(row["batches"] or "{}").items())]
    except (ValueError, TypeError, AttributeError):
        message = f"{_BATCHES_KEY} in the summary of the snapshot {row['snapshot_id']} cannot be read"
        raise EngineError("batch-history", message, "another program has written it: roll the table back") from None


def write_again(session: SparkSession, table: Relation, records: Sequence[Record]) -> None:
    """Record batches once more, in one new snapshot without any file. Raises EngineError."""
    batches = json.dumps({record.app: record.batch for record in records})
    with temporary_confs(session, {f"{PREFIX}{_BATCHES_KEY}": batches}):
        run_command(session, f"INSERT INTO {table} SELECT * FROM {table} WHERE false")
