"""Whether a model has written a Delta table since it was created or replaced, as its log says (Delta 4.4.0).

A MERGE that changes nothing leaves no commit: the next run is a first run again, since nothing has been loaded yet.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.commit_metadata import written_by
from merge_runner.engine.table_format.delta.catalog_managed import is_catalog_managed
from merge_runner.engine.table_format.delta.log import latest_commits
from merge_runner.engine.table_format.protocol import LOOK_BACK, Commit
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


RECREATED = ("CREATE", "REPLACE")
"""How the operations begin that write a table as a whole: with rows only where they end in AS SELECT."""
OF_METADATA = frozenset(
    {"ADD COLUMNS", "DROP COLUMNS", "RENAME COLUMN", "CHANGE COLUMN", "CHANGE COLUMNS", "REPLACE COLUMNS"}
    | {"UPDATE SCHEMA", "UPDATE COLUMN METADATA", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "CLUSTER BY"}
    | {"ADD CONSTRAINT", "DROP CONSTRAINT", "UPGRADE PROTOCOL", "DROP FEATURE", "DOMAIN METADATA CLEANUP"}
    | {"REMOVE DOMAIN METADATA", "ROW TRACKING BACKFILL", "ROW TRACKING UNBACKFILL", "VACUUM START", "VACUUM END"}
)
"""Operations (DeltaOperations of 4.4.0) that write no row, also on a table that never had one."""


def is_built(session: SparkSession, table: Relation, others: Collection[str]) -> bool:
    """Return whether a node other than `others`, by a separate statement, has written rows. Raises EngineError."""
    return wrote_rows(_readable(latest_commits(session, table, LOOK_BACK)), others)


def is_built_in(folder: Path, others: Collection[str]) -> bool | None:
    """Return the same of a table in a local folder, from its files alone; False where it has no commit.

    None where a catalog manages its commits: the files do not have all of them.
    """
    log = folder / "_delta_log"
    if is_catalog_managed(log):
        return None
    # A commit and a checkpoint both begin with their version; the commit may have been cleaned up.
    return any(log.glob("[0-9]*")) and wrote_rows(_commits(log), others)


def wrote_rows(commits: Iterable[Commit], others: Collection[str]) -> bool:
    """Return the same from a table's commits, newest first."""
    oldest: int | None = None
    for commit in commits:
        oldest = commit.version
        writer = written_by(commit.stamp)
        if commit.operation.startswith(RECREATED):
            if not commit.operation.endswith("AS SELECT"):
                return False
        elif commit.operation in OF_METADATA:
            continue
        if writer is None or (writer.of is None and writer.node not in others):
            return True
    # Commits that the log no longer has may have written it.
    return oldest is None or oldest > 0


def _readable(commits: Iterator[Commit]) -> Iterator[Commit]:
    """The commits up to the first one whose file the log has cleaned up."""
    try:
        yield from commits
    except EngineError as error:
        if "FileNotFound" not in error.code and "FILE_NOT_FOUND" not in error.code:
            raise


def _commits(log: Path) -> Iterator[Commit]:
    """The commits of a Delta log on a local disk, newest first, each read when it is needed."""
    for path in sorted(log.glob("[0-9]*.json"), reverse=True):
        if not path.stem.isdecimal():
            continue
        actions = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
        info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
        yield Commit(int(path.stem), info.get("operation", ""), info.get("userMetadata"), {})
