"""What a node reports: a typed value that its steps fill in, and the one place that makes `adapter_response` of it.

The names of the fields are the keys, the docstrings below them their reference (docs/reference/adapter-response.md). A
field with the default None is missing from the JSON while it is None; any other one is null then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Final, Literal

from merge_runner.plan.steps.merge_variants import Name
from merge_runner.plan.steps.prediction import Prediction

Operation = Literal[
    "MERGE",
    "CREATE OR REPLACE TABLE AS SELECT",
    "INSERT OVERWRITE",
    "CREATE VIEW",
    "OPTIMIZE",
    "SHALLOW CLONE",
    "CREATE BRANCH",
]

_KEYS: Final = {"keys": True}
"""Metadata of a part whose fields are themselves keys of the node's response."""


@dataclass(frozen=True)
class NoFigures:
    """Statements without figures.

    Views, a MERGE that had nothing to do, a commit that only the table's log shows.
    """

    operation: Operation | None = None
    """The kind of statement."""
    rows_affected: int | None = None
    """0 where a MERGE had nothing to do. Unit: rows"""
    table_version: int | None = None
    """The version of the commit (Delta) or the id of the snapshot (Iceberg)."""


@dataclass(frozen=True)
class TableFigures:
    """Tables and seeds."""

    operation: Operation
    """The kind of statement."""
    rows_affected: int | None
    """Rows of the table after the statement. Unit: rows"""
    table_version: int | None
    """The version of the commit (Delta) or the id of the snapshot (Iceberg)."""


@dataclass(frozen=True)
class MergeFigures:
    """MERGE statements."""

    operation: Operation
    """The kind of statement."""
    rows_source: int | None
    """Rows of the source; null on Iceberg. Unit: rows"""
    rows_inserted: int | None
    """Rows inserted. Unit: rows"""
    rows_updated: int | None
    """Rows updated. Unit: rows"""
    rows_deleted: int | None
    """Rows deleted. Unit: rows"""
    rows_copied: int | None
    """Rows that were rewritten unchanged, since they are in the same files as changed ones. Unit: rows"""
    rows_affected: int | None
    """Rows inserted, updated and deleted. Unit: rows"""
    files_total: int | None
    """Data files of the target before the MERGE. Unit: files"""
    files_scanned: int | None
    """Data files that were left to scan after data skipping. Unit: files"""
    bytes_scanned: int | None
    """Size of these files. Unit: bytes"""
    files_added: int | None
    """Data files written. Unit: files"""
    files_removed: int | None
    """Data files replaced. Unit: files"""
    bytes_added: int | None
    """Size of the files written; with delete files on Iceberg. Unit: bytes"""
    bytes_removed: int | None
    """Size of the files replaced; with delete files on Iceberg. Unit: bytes"""
    scan_ms: int | None
    """Time to find the files with matches; null on Iceberg, where the MERGE is one plan. Unit: milliseconds"""
    rewrite_ms: int | None
    """Time to write the files; null on Iceberg. Unit: milliseconds"""
    execution_ms: int | None
    """Time of the statement. Unit: milliseconds"""
    table_version: int | None
    """The version of the commit (Delta) or the id of the snapshot (Iceberg); null where nothing was committed."""
    metrics: Mapping[str, Any]
    """All metrics of the engine, by the engine's own names."""

    @classmethod
    def of(cls, figures: Mapping[str, int | None], metrics: Mapping[str, Any]) -> MergeFigures:
        """Return the figures of a MERGE that has run, by their names here; what is missing is not known."""
        values: dict[str, Any] = {name: figures.get(name) for name in MERGE_FIGURES}
        return cls(operation="MERGE", metrics=metrics, **values)

    @classmethod
    def unknown(cls) -> MergeFigures:
        """Return the figures of a MERGE of which nothing is known but that it ran."""
        return cls.of({}, {})


MERGE_FIGURES = tuple(figure.name for figure in fields(MergeFigures) if figure.name not in ("operation", "metrics"))
"""The figures that a MERGE reports on every format; None where the format does not report one."""


@dataclass(frozen=True, kw_only=True)
class Compaction:
    """`merge-runner optimize`."""

    operation: Operation = "OPTIMIZE"
    """The kind of statement."""
    files_added: int
    """Data files written. Unit: files"""
    files_removed: int
    """Data files replaced. Unit: files"""
    bytes_added: int
    """Size of the files written. Unit: bytes"""
    bytes_removed: int
    """Size of the files replaced. Unit: bytes"""
    delete_files_removed: int | None = None
    """Delete files that compaction removed; Iceberg. Unit: files"""
    table_version: int | None
    """The version of the commit (Delta) or the id of the snapshot (Iceberg); null where there was nothing to do."""
    metrics: Mapping[str, Any]
    """All metrics of the engine, by the engine's own names."""


@dataclass(frozen=True)
class Vacuum:
    """`merge-runner optimize --vacuum`."""

    files_deleted: int | None
    """Old files that were deleted. Unit: files"""


@dataclass(frozen=True)
class Target:
    """The target of a MERGE before it runs."""

    created: bool
    """Whether the target was created."""
    history_replaced: bool | None = None
    """`true` where a full refresh replaced rows that only the table had."""
    emptied: bool | None = None
    """`true` where `--full-refresh` emptied the branch before the MERGE."""
    altered: list[str] | None = None
    """What was altered of an existing table: properties, comments, constraints, columns."""

    @property
    def is_new(self) -> bool:
        """Whether the target has no rows of an earlier run."""
        return self.created or bool(self.emptied)


@dataclass(frozen=True)
class RuntimeFilter:
    """The runtime filter of a MERGE."""

    bounds: dict[str, str]
    """The runtime filter: columns and what they were restricted to, as `{"flight_date": "2 values"}`."""
    pins: dict[str, Any]
    """The version at which each source table was read (`VERSION AS OF`)."""
    bounds_left_out: list[str]
    """Why a column, or the whole MERGE, got no runtime filter."""
    staged: bool
    """Whether the source was materialized before the MERGE."""
    variant: Name
    """Which statement was sent, by what was added to the author's text."""


@dataclass(frozen=True)
class MergeCounts:
    """`expect_merge` in a response."""

    counted_by: Literal["query", "branch"]
    """Whether a query counted the rows before the MERGE, or the MERGE itself did on a branch."""
    rows_source: int | None = None
    """Rows of the source. Unit: rows"""
    rows_target: int | None = None
    """Rows of the target before the MERGE. Unit: rows"""
    rows_inserted: int | None = None
    """Rows that the MERGE inserts. Unit: rows"""
    rows_updated: int | None = None
    """Rows that the MERGE updates. Unit: rows"""
    rows_deleted: int | None = None
    """Rows that the MERGE deletes. Unit: rows"""
    source_read_twice: str | None = None
    """Why the source could not be pinned for the count and the MERGE."""


@dataclass(frozen=True)
class Verdict:
    """The static analysis of a MERGE, compared with what the engine scanned."""

    verdict: Literal["static", "runtime", "none", "unknown"]
    """The verdict of the static analysis on the scan of the target, as lint reports it."""
    verdict_held: bool | None
    """Whether the engine skipped files as the verdict says; null where that is not known."""


@dataclass(frozen=True)
class Changes:
    """`changes` in a response."""

    of: str
    """The table whose changes were consumed."""
    from_version: int | None
    """The first version; null where the table was read as a whole."""
    to_version: int
    """The last version."""


@dataclass(frozen=True)
class TestRun:
    """Data tests and unit tests."""

    __test__ = False  # pytest takes a class of this name for tests

    failures_table: str | None = None
    """The table with all failing rows (`store_failures`)."""
    differences: list[dict[str, Any]] | None = None
    """Of a unit test: rows that are `missing`, `unexpected` or `changed`."""


@dataclass(frozen=True)
class FailingRows:
    """Data tests that do not pass."""

    failing_rows: list[Mapping[str, Any]] | None = None
    """Up to five failing rows."""
    more_failing_rows: bool | None = None
    """Whether there are other failing rows."""
    compiled_path: str | None = None
    """The file with the query of the test."""


@dataclass(frozen=True)
class Freshness:
    """`merge-runner source freshness` (in sources.json, as in dbt)."""

    max_loaded_at: str
    """The time of the newest row, in ISO 8601."""
    snapshotted_at: str
    """When it was measured, in ISO 8601."""
    max_loaded_at_time_ago_in_s: float
    """The age of the newest row. Unit: seconds"""


@dataclass(frozen=True)
class StreamFigures:
    """Models that a stream feeds."""

    stream: str
    """The stream, `source.table`."""
    lag_ms: int | None = None
    """Time from the start of the micro-batch until the target had it. Unit: milliseconds"""


@dataclass(frozen=True)
class Remarks:
    """Nodes with warnings, and skipped nodes."""

    warnings: str | None = None
    """The warnings of the node, one after the other in lines of their own."""
    cause: str | None = None
    """The id of the node that is to blame for a skip."""

    def as_json(self) -> dict[str, Any]:
        """Return what they add to the node's `adapter_response`."""
        return _as_json(self)


@dataclass
class NodeResponse:
    """All nodes."""

    branch: str | None = None
    """The branch that was written (`--branch`)."""
    is_incremental: bool | None = None
    """Whether the text of an incremental run was used; only where the text of a first run differs."""
    pre_hooks_left_out: int | None = None
    """Hooks that did not run, since the MERGE had already been committed. Unit: hooks"""
    target: Target | None = field(default=None, metadata=_KEYS)
    runtime_filter: RuntimeFilter | None = field(default=None, metadata=_KEYS)
    expect_merge: MergeCounts | None = None
    """What was counted for `expect_merge` before the commit: `counted_by` (`query` or `branch`), row counts."""
    predicted: Prediction | None = None
    """What the MERGE was expected to cost before it ran: `files` and `bytes` that it reads of its target,
    `rewritten_bytes` at most, `seconds` by its earlier runs; null: not known."""
    statement: NoFigures | TableFigures | MergeFigures | Compaction | None = field(default=None, metadata=_KEYS)
    verdict: Verdict | None = field(default=None, metadata=_KEYS)
    batch_id: int | None = None
    """The batch of `--batch-id`, or of a stream."""
    changes: Changes | None = None
    """The consumed range of a Change Data Feed: `of`, `from_version`, `to_version`."""
    optimized: Compaction | None = None
    """The response of the compaction after the MERGE (`optimize.after`)."""
    vacuum: Vacuum | None = field(default=None, metadata=_KEYS)
    test: TestRun | None = field(default=None, metadata=_KEYS)
    freshness: Freshness | None = field(default=None, metadata=_KEYS)
    attempts: int | None = None
    """How often the statement was tried; more than 1 after conflicts or transient failures."""
    failing: FailingRows | None = field(default=None, metadata=_KEYS)
    place: dict[str, Any] | None = None
    """`path`, `line` and `column` of the test, or of the error in a query or hook."""
    stream: StreamFigures | None = field(default=None, metadata=_KEYS)
    batches: list[dict[str, Any]] | None = None
    """The batches that were due, in their order: `start`, `end`, `reason` (why it was due), `status`, `rows`,
    `version`, `seconds`, `message`."""
    totals: dict[str, Any] | None = None
    """Sums over all micro-batches of the invocation: rows, files, bytes."""

    @property
    def operation(self) -> Operation | None:
        """The kind of statement, where one has run."""
        return self.statement.operation if self.statement is not None else None

    @property
    def table_version(self) -> int | None:
        """What the node's statement has committed, where that is known."""
        return self.statement.table_version if self.statement is not None else None

    @property
    def merge(self) -> MergeFigures | None:
        """The figures of a MERGE that has run."""
        return self.statement if isinstance(self.statement, MergeFigures) else None

    def found_commit(self, version: int, operation: Operation | None = None) -> None:
        """Note a version that only the table's log shows to be the commit of the node's statement."""
        statement = self.statement if self.statement is not None else NoFigures()
        statement = replace(statement, table_version=version)
        self.statement = statement if operation is None else replace(statement, operation=operation)

    def as_json(self) -> dict[str, Any]:
        """Return the node's `adapter_response`."""
        return _as_json(self)

    def with_texts(self, change: Callable[[Any], Any]) -> NodeResponse:
        """Return the response with each of its JSON values changed, as `change` does it to their texts."""
        changed: NodeResponse = _map_values(self, change)
        return changed


PARTS: tuple[type, ...] = (
    *(NodeResponse, NoFigures, TableFigures, MergeFigures, Target, RuntimeFilter, Verdict, Compaction, Vacuum),
    *(StreamFigures, TestRun, FailingRows, Freshness, Remarks),
)
"""The types whose fields are keys of adapter responses, in the order of the reference."""


def _as_json(part: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for entry in fields(part):
        value = getattr(part, entry.name)
        if value is None and entry.default is None:
            continue
        if entry.metadata == _KEYS:
            values |= _as_json(value)
        else:
            values[entry.name] = _as_json(value) if is_dataclass(value) else value
    return values


def _map_values(part: Any, change: Callable[[Any], Any]) -> Any:
    values = {entry.name: getattr(part, entry.name) for entry in fields(part)}
    return replace(
        part,
        **{
            name: _map_values(value, change) if is_dataclass(value) else change(value) for name, value in values.items()
        },
    )
