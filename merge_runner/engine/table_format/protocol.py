"""What the engine asks of a table format, and the values of its answers.

Every method that takes a session asks the engine and raises EngineError. What is known of a format without a session is
in `merge_runner/formats`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from merge_runner.formats import Format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

    from merge_runner.comparison.report import FilesRead
    from merge_runner.engine.response import Compaction, MergeFigures
    from merge_runner.engine.spark.sql import StatementResult
    from merge_runner.engine.table_format.branches import Branches
    from merge_runner.engine.table_format.commit_figures import CommitFigures
    from merge_runner.engine.table_format.stored_metadata import StoredMetadata
    from merge_runner.engine.table_format.stored_version import StoredVersion
    from merge_runner.formats.capabilities import Capabilities
    from merge_runner.merge.statement import MergeStatement
    from merge_runner.plan.explain.shuffle_remedies import ShuffleRemedies
    from merge_runner.plan.steps.maintenance import OptimizeTable
    from merge_runner.plan.steps.merge import RunMerge
    from merge_runner.relation import Relation

LOOK_BACK = 1000
"""Commits that are read at most to find whether a table has been built: one with so many others has a long past."""
CHANGE_TYPE = "_change_type"
"""The column of a change feed that says what was done: `insert`, `update_preimage`, `update_postimage`, `delete`."""


@dataclass(frozen=True)
class Commit:
    """One commit: version (on Iceberg the snapshot's id), operation, the stamp it carries, metrics as text.

    `milliseconds` is when it was committed, since the epoch; None: not read.
    """

    version: int
    operation: str
    stamp: str | None
    metrics: Mapping[str, str]
    milliseconds: int | None = None


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
class RealColumn:
    """A column of a table as it is; `default` and `generated` are as in DDL, None: it has none.

    `readable`: whether the generation expression could be read.
    """

    nullable: bool
    comment: str | None
    default: str | None
    generated: str | None = None
    readable: bool = True


@dataclass(frozen=True)
class TableState:
    """`version` is what `VERSION AS OF` takes; None for an Iceberg table without a snapshot.

    `has_present_columns`: that version is known to have the columns that the table has now.
    """

    version: int | None
    files: int
    bytes: int
    has_present_columns: bool = True


@dataclass(frozen=True)
class ScanSize:
    """How many files a scan reads, and their size; `bytes` None: not known."""

    files: int
    bytes: int | None


@dataclass(frozen=True)
class VacuumResult:
    """What VACUUM has deleted; `files_deleted` None: not known.

    `metrics` are by the engine's own names. `retention_warning` says what had to stay longer.
    """

    files_deleted: int | None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    retention_warning: str | None = None


@dataclass(frozen=True)
class TableVersion:
    """A table as of a version; None: as it is now."""

    table: Relation
    version: int | None = None

    def __str__(self) -> str:
        return str(self.table) if self.version is None else f"{self.table} VERSION AS OF {self.version}"


Ask = Callable[[str], str]
"""Gives the engine's plan of a statement. Raises EngineError where it has none."""


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
    def capabilities(self) -> Capabilities:
        """What is true of it without asking the engine."""

    @property
    def quick_read_confs(self) -> Mapping[str, str]:
        """Confs of a session that reads small tables faster, though not all of them; empty: there are none."""

    @property
    def branches(self) -> Branches:
        """The branches of its tables. Raises TypeError where the capabilities say that they have none."""

    def batch_confs(self, app: str, batch: int) -> Mapping[str, str]:
        """Return the confs of a session whose commits are of a batch of an application."""

    @property
    def replaced_rows_metric(self) -> str:
        """The metric of a commit that replaces the rows of a table: how many it has then."""

    def layout(self, session: SparkSession, table: Relation) -> RealLayout:
        """Return how a table is laid out."""

    def protocol_properties(self, session: SparkSession, table: Relation) -> Mapping[str, str]:
        """Return the protocol of a table as the properties by which a version or a feature of it is asked for."""

    def columns(self, session: SparkSession, table: Relation) -> Mapping[str, RealColumn]:
        """Return the columns of a table by their folded names."""

    def state(self, session: SparkSession, table: Relation) -> TableState:
        """Return the newest state of a table as the session reads it, other processes' commits included."""

    def snapshot(self, session: SparkSession, table: Relation, version: int | None = None) -> Snapshot | None:
        """Return the table as it is now, other processes' commits included, or as of a version.

        None where the format, or this kind of session, cannot be asked for one.
        """

    def commits(self, session: SparkSession, table: Relation, limit: int) -> Iterator[Commit]:
        """Yield the latest commits, newest first, each read when it is asked for."""

    def earlier_states(self, session: SparkSession, table: Relation) -> Iterator[Commit]:
        """Yield the states that a table had, newest first, each with the time since when.

        Those before it was replaced are among them; what a branch of it holds is not.
        """

    def commit_with(self, session: SparkSession, table: Relation, stamp: str) -> Commit | None:
        """Return the newest commit of a statement that carries the stamp; None where there is none.

        It is searched for in what the rows come from that the session reads, and not past 50 commits of other writers.
        """

    def recorded_batches(
        self, session: SparkSession, table: Relation, prefix: str, version: int | None = None
    ) -> Mapping[str, int]:
        """Return the highest batch that a table has committed of each application whose name begins with `prefix`.

        `version` asks as of a version where the format has a `snapshot` of it.
        """

    def merge_figures(
        self, session: SparkSession, table: Relation, stamp: str, result: StatementResult
    ) -> MergeFigures:
        """Return what a MERGE did, from its commit and from the plan that ran."""

    def commit_figures(self, commit: Commit) -> CommitFigures:
        """Return the rows, files and bytes that a commit has added, changed and removed, as its metrics have them."""

    def columns_after(self, session: SparkSession, merge: MergeStatement) -> Sequence[StructField] | None:
        """Return the columns that schema evolution would give the target, none where it leaves them as they are.

        Nothing runs. None where the engine cannot be asked for them.
        """

    def target_files(
        self, session: SparkSession, merge: RunMerge, whole: TableState, notes: list[str]
    ) -> ScanSize | None:
        """Return which part of its target a MERGE would read, of the table `whole`; None where that is not known.

        Nothing runs. `notes` gets what limits the answer.
        """

    def shuffles(
        self,
        session: SparkSession,
        merge: RunMerge,
        plan: str,
        conf: Mapping[str, str],
        declared: Mapping[str, str],
        ask: Ask,
    ) -> tuple[ShuffleRemedies, ...] | None:
        """Return the shuffles and sorts in the engine's plan of a MERGE, with what takes each away.

        None where a plan does not show how the MERGE runs. `conf` and `declared` are the confs and properties of the
        model's config.
        """

    def unshared_files(
        self, session: SparkSession, left: TableVersion, right: TableVersion, names: tuple[str, str]
    ) -> AbstractContextManager[FilesRead | None]:
        """Define two temporary views, inside the block, of the rows in the files that one of two tables has alone.

        The rows in the other files are the same in both. None where that is not known of any file: no view is defined.
        """

    def optimize(self, session: SparkSession, step: OptimizeTable, stamp: str) -> Compaction:
        """Compact the files of a table; the commit carries the stamp where the format's statement takes one."""

    def vacuum(self, session: SparkSession, table: Relation, retain: float, stamp: str) -> VacuumResult:
        """Delete what no version of the last `retain` seconds needs; the commits carry the stamp."""

    def is_built(self, session: SparkSession, table: Relation, others: Collection[str]) -> bool:
        """Return whether a statement of a node has written rows since the table was created, replaced or emptied.

        `others` are nodes that write the table as well, and do not count.
        """

    def is_built_in(self, folder: Path, others: Collection[str]) -> bool | None:
        """Return the same of a table in a local folder, from its files alone; None where these do not say it."""

    def stored_versions(self, path: Path) -> Iterator[StoredVersion]:
        """Yield the commits that may have changed rows or columns, newest first, from files alone.

        They end with the first one, or where the next one is not known. `path` is the folder of the table, or its
        metadata file where a catalog names one.
        """

    def versions(self, session: SparkSession, table: Relation) -> Iterator[StoredVersion]:
        """Yield the same of a table as the engine has it; they end where it cannot say more."""

    def stored_metadata(self, path: Path) -> StoredMetadata | None:
        """Return columns and sizes of the newest version, from files alone; None where these do not say it.

        `path` is that of `stored_versions`.
        """

    def merges_since_compaction(self, session: SparkSession, table: Relation, limit: int) -> Iterator[bool]:
        """Yield of each commit since the table was compacted or created, newest first, whether it is a MERGE.

        At most `limit` commits are read.
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
