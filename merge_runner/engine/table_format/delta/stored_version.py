"""The commits to a Delta table that may have changed rows or columns, read from its log with or without an engine.

A commit of Delta is a file of JSON lines that is put into place whole, and whose `commitInfo` has a `txnId` of its own
(Delta 4.4.0).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.delta.catalog_managed import is_catalog_managed
from merge_runner.engine.table_format.delta.first_run import OF_METADATA, RECREATED
from merge_runner.engine.table_format.delta.log import commit_texts
from merge_runner.engine.table_format.stored_version import Rows, StoredVersion
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOVES_FILES = frozenset({"OPTIMIZE", "VACUUM START", "VACUUM END"})
"""Operations after which the table has the same rows, where no action of the commit says otherwise."""
_CHANGED_ROWS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
"""The metrics of a MERGE: where all are 0, it has copied rows at most."""


def stored_versions(folder: Path) -> Iterator[StoredVersion]:
    """Yield the commits of the table in a folder, newest first, of which the log has the files.

    No commit where a catalog manages them: the newest ones may not be among the files.
    """
    log = folder / "_delta_log"
    return iter(()) if is_catalog_managed(log) else _versions(_files(log))


def versions(session: SparkSession, table: Relation) -> Iterator[StoredVersion]:
    """Yield the same of a table as Spark has it; none where a session has no JVM here."""
    return _versions((version, text.encode()) for version, text in commit_texts(session, table))


def _files(log: Path) -> Iterator[tuple[int, bytes]]:
    names = (path.stem for path in log.glob("[0-9]*.json"))
    for version in sorted((int(name) for name in names if name.isdecimal()), reverse=True):
        yield version, (log / f"{version:020}.json").read_bytes()


def _versions(commits: Iterator[tuple[int, bytes]]) -> Iterator[StoredVersion]:
    try:
        for version, text in commits:
            actions = [json.loads(line) for line in text.splitlines() if line.strip()]
            info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
            if not _keeps_rows(info, actions):
                identity = hashlib.sha256(text).hexdigest()[:32]
                yield StoredVersion(version, identity, info.get("userMetadata"), _rows(info.get("operation") or ""))
    except (EngineError, OSError, ValueError, TypeError, AttributeError, RecursionError):
        return  # cleaned up meanwhile, or no log of Delta's: nothing is known of it


def _rows(operation: str) -> Rows:
    """What an operation does to rows. After RESTORE and CLONE they are those of a version that may be any other."""
    if operation.startswith(RECREATED):
        return "replaced" if operation.endswith("AS SELECT") else "emptied"
    if operation in ("RESTORE", "CLONE"):
        return "replaced"
    return "kept" if operation in OF_METADATA else "changed"


def _keeps_rows(info: dict[str, Any], actions: Sequence[dict[str, Any]]) -> bool:
    """Whether the table has the same rows and columns after a commit as before."""
    if any("metaData" in action or "protocol" in action for action in actions):
        return False
    if info.get("operation") == "MERGE":
        metrics = info.get("operationMetrics") or {}
        return all(metrics.get(name) == "0" for name in _CHANGED_ROWS)
    files = (action.get("add") or action.get("remove") or {} for action in actions)
    return info.get("operation") in _MOVES_FILES and not any(file.get("dataChange", False) for file in files)
