"""Delta's VACUUM: the statement, and how many files it has deleted, as its own commit says (Delta 4.4.0)."""

from __future__ import annotations

import math

from merge_runner.engine.delta_log import latest_commits
from merge_runner.engine.statements import run_command
from merge_runner.engine.temporary_confs import temporary_confs
from merge_runner.engine.workplace import Workplace
from merge_runner.relation import Relation

_CONFS = {
    # The commits VACUUM START and VACUUM END say what was done; on S3 they are left out unless asked for.
    "spark.databricks.delta.vacuum.logging.enabled": "true",
    # Delta 4.4.0 takes no RETAIN into account but 0 hours: what is kept is what the table's property says.
    "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled": "false",
}
_RECENT = 20


def delta_vacuum(place: Workplace, table: Relation, retain: float, stamp: str) -> None:
    """Deletes the files that no version of the last `retain` seconds needs; rounded up to hours. Raises EngineError."""
    with temporary_confs(place.session, _CONFS):
        run_command(place.session, f"VACUUM {table} RETAIN {math.ceil(retain / 3600)} HOURS")
    latest = latest_commits(place.session, table, _RECENT)
    commit = next((one for one in latest if one.operation == "VACUUM END" and one.stamp == stamp), None)
    deleted = commit.metrics.get("numDeletedFiles") if commit is not None else None
    place.response["files_deleted"] = int(deleted) if deleted is not None else None
