"""Expires an Iceberg table's snapshots, and keeps what they say of batches (Iceberg 1.12.0).

The id of a batch stands in the summary of the snapshot that its MERGE wrote (engine/batches.py), and would go with it:
the batch would be merged a second time. So an id that stands in no younger snapshot is written again first, in a
snapshot without files; and what is not younger than the snapshots that hold ids is all that is expired. Snapshots
expire from the oldest on, for the ancestry of the newest one must not have a gap: an id below it would not be found.
"""

from __future__ import annotations

import time
from datetime import datetime, timezone

from merge_runner.engine.batches import batch_records, write_again
from merge_runner.engine.iceberg_procedures import call_procedure
from merge_runner.engine.workplace import Workplace
from merge_runner.relation import Relation

_FILES = ("deleted_data_files_count", "deleted_position_delete_files_count", "deleted_equality_delete_files_count")


def iceberg_expire(place: Workplace, table: Relation, retain: float, _stamp: str) -> None:
    """Expires the snapshots that are older than `retain` seconds, and deletes the files that only they need.

    The table's own `history.expire.min-snapshots-to-keep`, branches and tags hold. Raises EngineError.
    """
    session = place.session
    before = round(1000 * (time.time() - retain))
    for record in batch_records(session, table):
        if record.written < before:
            write_again(session, table, record.batch)
    held = min((record.written for record in batch_records(session, table)), default=before)
    if held < before:
        place.warnings.append(
            f"{table.name}: snapshots since {_utc(held)} are kept: they alone say which batches are committed"
        )
    told = call_procedure(
        session, table, "expire_snapshots", older_than=f"TIMESTAMP '{_utc(min(before, held))}'"
    ).asDict()
    place.response["files_deleted"] = sum(int(told[name] or 0) for name in _FILES)
    place.response["metrics"] = {
        **place.response.get("metrics", {}),
        **{f"expire_snapshots.{name}": value for name, value in told.items()},
    }


def _utc(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat(sep=" ", timespec="milliseconds")
