"""The stamp that our writes carry in the table itself, by which their commits are found again.

Delta keeps it in the history's `userMetadata`, Iceberg (1.12.0, Spark 4.1) in the snapshot's summary; both take it from
confs of the writing session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.spark.session_conf import temporary_confs
from merge_runner.engine.table_log.commit import Commit
from merge_runner.engine.table_log.delta_log import latest_commits
from merge_runner.engine.table_log.iceberg_log import SUMMARY_KEY, latest_snapshots
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WRITES = frozenset({"MERGE", "CREATE OR REPLACE TABLE AS SELECT", "CREATE TABLE AS SELECT"})
"""Delta's operations that are a model's own statement."""
_ICEBERG_CONF = f"spark.sql.iceberg.snapshot-property.{SUMMARY_KEY}"
FULL_REFRESH = "full_refresh"
"""The hook that takes the rows out of a branch before a full refresh (engine/tables/branch_catalog.py)."""
_RECENT = 50
"""The search for our latest commit ends after this many commits of other writers."""


def stamp(invocation_id: str, node: str) -> str:
    """The stamp of a node's statement."""
    return json.dumps({"merge_runner": {"invocation_id": invocation_id, "node": node}})


def of_hook(stamp: str, hook: str) -> str:
    """The stamp of a hook (`pre_hook`, `post_hook`) of that node, whose commits are not the statement's."""
    return _beside(stamp, "hook", hook)


def of_maintenance(stamp: str, what: str) -> str:
    """The stamp of what changes no row of that node's table (`optimize`, `vacuum`), and is not the statement's."""
    return _beside(stamp, "maintenance", what)


@dataclass(frozen=True)
class Writer:
    """Who has written a commit: the id of the node, and which hook or maintenance (`of`); None: its own statement."""

    node: str
    of: str | None


def written_by(stamp: str | None) -> Writer | None:
    """Return what a stamp says; None for no stamp and for other writers' texts."""
    try:
        told = json.loads(stamp or "")["merge_runner"]
        return Writer(told["node"], told.get("hook") or told.get("maintenance"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def is_of_a_statement(stamp: str | None) -> bool:
    """Whether a stamp is that of a node's own statement, whichever node's; False for other writers' texts."""
    writer = written_by(stamp)
    return writer is not None and writer.of is None


def _beside(stamp: str, key: str, value: str) -> str:
    told = json.loads(stamp)
    return json.dumps({"merge_runner": {**told["merge_runner"], key: value}})


def stamp_confs(stamp: str) -> Mapping[str, str]:
    """The confs of a session whose commits shall carry the stamp."""
    return {
        "spark.databricks.delta.commitInfo.userMetadata": stamp,
        _ICEBERG_CONF: stamp,
    }


@contextmanager
def as_hook(session: SparkSession, hook: str) -> Iterator[None]:
    """What a session commits inside the block is a hook's, and not the statement's that its stamp is of."""
    told = session.conf.get(_ICEBERG_CONF, None)
    with temporary_confs(session, stamp_confs(of_hook(told, hook)) if told is not None else {}):
        yield


def same_node(stamp: str | None, other: str) -> bool:
    """Whether the stamp of a commit is of the same node as another, of whatever invocation; False for no stamp."""
    try:
        return bool(json.loads(stamp or "{}")["merge_runner"]["node"] == json.loads(other)["merge_runner"]["node"])
    except (ValueError, KeyError, TypeError):
        return False


def stamped_commit(session: SparkSession, table: Relation, format: str | None, stamp: str) -> Commit | None:
    """The newest commit of a table that carries the stamp and wrote data; None where there is none.

    On Iceberg it is one that what the session reads of the table comes from (engine/table_log/iceberg_log.py).

    Raises EngineError.
    """
    if format == "iceberg":
        # Rewriting files changes no row; procedures may carry a session's properties as well.
        found = (one for one in latest_snapshots(session, table, _RECENT) if one.operation != "replace")
    else:
        found = (one for one in latest_commits(session, table, _RECENT) if one.operation in _WRITES)
    return next((one for one in found if one.stamp == stamp), None)


def maintained_version(session: SparkSession, table: Relation, stamp: str) -> int | None:
    """The newest version of a Delta table that carries a stamp `of_maintenance`; None without one. Raises EngineError.

    Iceberg's procedures carry no stamp (engine/maintenance/iceberg_optimize.py).
    """
    return next((one.version for one in latest_commits(session, table, _RECENT) if one.stamp == stamp), None)
