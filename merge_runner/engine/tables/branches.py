"""Branches of Iceberg tables: begun by a build, and published or dropped afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from merge_runner.engine.spark.session_conf import temporary_confs
from merge_runner.engine.spark.sql import run_command
from merge_runner.engine.table_format.commit_metadata import of_hook
from merge_runner.engine.table_format.iceberg.log import COMMIT_METADATA_CONF, ancestry, branches
from merge_runner.engine.table_format.iceberg.procedures import call_procedure
from merge_runner.engine.tables import ddl
from merge_runner.formats.branches import CONF, GROUP_FILTER, MAIN, PROPERTY
from merge_runner.relation import Relation, quote, string_literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

State = Literal["ahead", "published", "moved"]
"""What publishing a branch would do: `ahead`, main is moved to the branch's newest snapshot; `published`, main has all
that the branch has; `moved`, main has got snapshots since the branch began that the branch does not have."""


@dataclass(frozen=True)
class Branch:
    """A branch of a table: the ids of its newest snapshot and of main's, which is None before its first."""

    table: Relation
    name: str
    head: int
    main: int | None
    state: State


def branch_confs(branch: str | None) -> Mapping[str, str]:
    """The confs of a session that writes and reads a branch; none for None."""
    return {CONF: branch, GROUP_FILTER: "false"} if branch is not None else {}


@contextmanager
def as_hook(session: SparkSession, hook: str) -> Iterator[None]:
    """What a session commits inside the block is a hook's, and not the statement's that its stamp is of."""
    told = session.conf.get(COMMIT_METADATA_CONF, None)
    with temporary_confs(session, {COMMIT_METADATA_CONF: of_hook(told, hook)} if told is not None else {}):
        yield


def begin_branch(session: SparkSession, table: Relation, branch: str) -> None:
    """Makes sure that a session with the branch writes it, and that it begins where main is now, unless it is there.

    Neither moves main: the property counts for sessions with a branch alone. Raises EngineError.
    """
    told = branches(session, table)
    if not told.isolated:
        run_command(session, ddl.set_properties(table, {PROPERTY: "true"}))
    if branch not in told.heads:
        run_command(session, f"ALTER TABLE {table} CREATE BRANCH IF NOT EXISTS {quote(branch)}")


def find_branch(session: SparkSession, table: Relation, branch: str) -> Branch | None:
    """A branch of a table as it is now, None where the table has none of that name. Raises EngineError."""
    heads = branches(session, table).heads
    if branch not in heads:
        return None
    head, main = heads[branch], heads.get(MAIN)
    state: State = "moved"
    if main is None or (head != main and main in ancestry(session, table, head)):
        state = "ahead"
    elif head in ancestry(session, table, main):
        state = "published"
    return Branch(table, branch, head, main, state)


def fast_forward(session: SparkSession, branch: Branch) -> None:
    """Moves main to the newest snapshot of a branch. Raises EngineError, also where main has moved meanwhile."""
    call_procedure(session, branch.table, "fast_forward", branch=string_literal(MAIN), to=string_literal(branch.name))


def drop_branch(session: SparkSession, table: Relation, branch: str) -> None:
    """Drops a branch; its snapshots go when they expire. Raises EngineError."""
    run_command(session, f"ALTER TABLE {table} DROP BRANCH IF EXISTS {quote(branch)}")
