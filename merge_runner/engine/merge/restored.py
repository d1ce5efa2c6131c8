"""Whether a table was restored: its rows go back then, and what it records of batches and consumed changes does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.table_format.commit_metadata import same_node
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RECENT = 50
"""Commits of other writers after which the last MERGE of a node is not searched for any more."""


def restored_version(session: SparkSession, table: Relation, table_format: TableFormat, stamp: str) -> int | None:
    """Return the version in which a table was restored after the last MERGE of the node of a stamp; None: it was not.

    Raises EngineError.
    """
    for commit in table_format.commits(session, table, _RECENT):
        if commit.operation == "MERGE" and same_node(commit.stamp, stamp):
            return None
        if commit.operation == "RESTORE":
            return commit.version
    return None
