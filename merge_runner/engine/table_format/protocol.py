"""What the engine asks of a table format, and the values of its answers.

Every method that takes a session asks the engine and raises EngineError. What is known of a format without a session is
in `merge_runner/formats`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from merge_runner.formats import Format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.relation import Relation

CHANGE_TYPE = "_change_type"
"""The column of a change feed that says what was done: `insert`, `update_preimage`, `update_postimage`, `delete`."""


@dataclass(frozen=True)
class Commit:
    """One commit: version (on Iceberg the snapshot's id), operation, the stamp it carries, metrics as text."""

    version: int
    operation: str
    stamp: str | None
    metrics: Mapping[str, str]


@dataclass(frozen=True)
class RealLayout:
    """How a table is laid out: partition and clustering columns, properties, and the sort order of an Iceberg table."""

    partition_by: tuple[str, ...]
    cluster_by: tuple[str, ...]
    properties: Mapping[str, str]
    sort_by: tuple[str, ...] = ()
    comment: str | None = None
    """None: not known."""


@dataclass(frozen=True)
class TableState:
    """`version` is what `VERSION AS OF` takes; None for an Iceberg table without a snapshot."""

    version: int | None
    files: int
    bytes: int


class Snapshot(Protocol):
    """A version of a table, kept to be asked after the table has changed."""

    @property
    def version(self) -> int:
        """Its number."""

    @property
    def table_id(self) -> str:
        """The id of the table. A table that is replaced, or dropped and recreated, gets another one."""

    @property
    def folder(self) -> str:
        """Where the table lies: its files are named by it."""

    @property
    def milliseconds(self) -> int:
        """When it was committed, since the epoch."""

    def property(self, key: str) -> str | None:
        """Return a property of the table as it is written in the log."""

    def files_passing(self, conditions: Sequence[str]) -> tuple[int, int]:
        """Return how many files the snapshot has, and how many of them pass all conditions.

        The conditions are SQL over `partitionValues` and `stats`. Raises EngineError.
        """


class TableFormat(Protocol):
    """A table format."""

    @property
    def name(self) -> Format:
        """The name in config and DDL."""

    @property
    def commit_metadata_conf(self) -> str:
        """The conf of a session whose commits carry a stamp (commit_metadata.py), as its value."""

    def layout(self, session: SparkSession, table: Relation) -> RealLayout:
        """Return how a table is laid out."""

    def state(self, session: SparkSession, table: Relation) -> TableState:
        """Return the newest state of a table as the session reads it, other processes' commits included."""

    def snapshot(self, session: SparkSession, table: Relation, version: int | None = None) -> Snapshot | None:
        """Return the table as it is now, other processes' commits included, or as of a version.

        None where the format, or this kind of session, cannot be asked for one.
        """

    def commits(self, session: SparkSession, table: Relation, limit: int) -> Iterator[Commit]:
        """Yield the latest commits, newest first, each read when it is asked for."""

    def commit_with(self, session: SparkSession, table: Relation, stamp: str) -> Commit | None:
        """Return the newest commit of a statement that carries the stamp; None where there is none.

        It is searched for in what the rows come from that the session reads, and not past 50 commits of other writers.
        """

    def changes(
        self, session: SparkSession, table: Relation, since: int | None, key: Sequence[str]
    ) -> AbstractContextManager[str]:
        """Return a relation of the rows that were changed after the version `since`; None: before its first version.

        It is there inside the block. The rows have the columns of the table and CHANGE_TYPE. `key` identifies a row
        where the format keeps no updates, but rows that are gone and rows that are new.
        """


TableFormats = Callable[[Format | None], TableFormat]
"""The lookup of a running driver (`Driver.table_format`); None, a format that is not known, is Delta."""


def no_changes(table: Relation) -> str:
    """Return a relation of the changes of a table where nothing was committed: there is no such version."""
    return f"(SELECT *, '' AS {CHANGE_TYPE} FROM {table} WHERE false)"
