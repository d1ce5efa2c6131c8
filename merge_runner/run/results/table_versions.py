"""The commits of the tables that a run may have written: its own, and those of others since the runs before."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.spark.errors import EngineError, from_engine
from merge_runner.engine.table_format.commit_metadata import written_by
from merge_runner.engine.table_format.protocol import Commit, TableFormat
from merge_runner.graph.artifact import utc
from merge_runner.pages.runs.history import known_versions, version_key
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.maintenance import has_table
from merge_runner.run.results.event_types import TableVersionsRead
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import Result

MOST = 20
"""Commits of one table that a run reads; what is older is left out."""
_SECONDS = 5.0
"""How long all tables may take: a commit is read in some milliseconds, over Spark Connect in a query."""


def has_written(result: Result) -> bool:
    """Whether a node may have written its table: also one that failed after its commit."""
    return result.status == "success" or result.response.table_version is not None


def read_versions(driver: Driver, prepared: Prepared, results: Iterable[Result], events: Events) -> None:
    """Emit the new commits of each table whose node has run, up to the newest one that the kept runs have.

    They are for the page alone: where the engine cannot be asked, a table has none, and nothing fails.
    """
    nodes = prepared.graph.nodes
    run_nodes = (nodes[result.unique_id] for result in results if has_written(result))
    tables = [(node, node.relation) for node in run_nodes if has_table(node) and node.relation is not None]
    if not tables:
        return
    ids = frozenset(node.unique_id for node, _ in tables)
    newest = known_versions(prepared.target_path, prepared.files.profile.target, ids)
    end = time.monotonic() + _SECONDS
    try:
        with driver.session() as session:
            for node, table in tables:
                if time.monotonic() > end:
                    break
                table_format = driver.table_format(node.config.format)
                commits = table_format.commits(session, table, MOST)
                versions, is_cut = _new_commits(commits, table_format, newest.get(node.unique_id))
                if versions:
                    events.emit(TableVersionsRead(node=node.unique_id, table=table.name, versions=versions, cut=is_cut))
    except Exception as error:
        if not from_engine(error):
            raise


def _new_commits(
    commits: Iterable[Commit], table_format: TableFormat, newest: str | None
) -> tuple[list[dict[str, Any]], bool]:
    """The commits after the known one, newest first, and whether there may be older ones that are not among them."""
    versions: list[dict[str, Any]] = []
    try:
        for commit in commits:
            entry = _entry(commit, table_format)
            if newest is not None and version_key(entry) == newest:
                return versions, False
            versions.append(entry)
    except EngineError:  # what is older was cleaned up, or the table cannot be read now
        return versions, True
    return versions, len(versions) == MOST


def _entry(commit: Commit, table_format: TableFormat) -> dict[str, Any]:
    """A commit as JSON. The version is a text: the ids of Iceberg's snapshots are no exact numbers in JavaScript."""
    writer = written_by(commit.stamp)
    values = {
        "version": str(commit.version),
        "at": None if commit.milliseconds is None else _time(commit.milliseconds),
        "operation": commit.operation,
        "run": writer.invocation_id if writer is not None else None,
        "node": writer.node if writer is not None else None,
        "of": writer.of if writer is not None else None,
        **asdict(table_format.commit_figures(commit)),
    }
    return {key: value for key, value in values.items() if value is not None}


def _time(milliseconds: int) -> str:
    return utc(datetime.fromtimestamp(milliseconds / 1000, timezone.utc))
