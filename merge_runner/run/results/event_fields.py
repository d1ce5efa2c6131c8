"""The events of the journal: when each is written, and its fields.

Docs only: docs/reference/journal-events.md is made of it, and a test compares it with what the code emits.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal


class EveryEvent:
    """Every event."""

    event: str
    """The name of the event."""
    at: str
    """When it happened: UTC, ISO 8601."""
    level: Literal["debug", "info", "warn", "error"]
    """Its severity."""


class InvocationStarted:
    """An invocation starts."""

    invocation_id: str
    """The id that run_results.json and the commits of the tables have too."""
    command: str
    """The command: `build`, `run`, `test`, …"""
    args: dict[str, Any]
    """The options of the command; `retry` uses them."""
    nodes: list[str]
    """The ids of the nodes that will run."""


class InvocationFinished:
    """An invocation has ended, and its artifacts are written."""

    counts: dict[str, int]
    """How many nodes have each status."""
    ok: bool
    """Whether no node failed."""


class InvocationFailed:
    """An invocation ended before anything ran."""

    problems: list[str]
    """What is wrong, one text each."""


class SparkStarting:
    """Spark is starting, or the warm driver or Spark Connect server is being connected."""

    master: str
    """The master, or the address of the server."""


class SparkStarted:
    """Spark is ready."""

    seconds: float
    """How long that took. Unit: seconds"""


class Running:
    """The nodes start to run."""

    nodes: int
    """How many nodes. Unit: nodes"""
    threads: int
    """How many run at the same time. Unit: threads"""


class OfNode:
    """What events about a node have."""

    node: str
    """The unique id."""
    name: str
    """The name."""
    label: str
    """The name as it is displayed."""


class NodeStarted(OfNode):
    """A node starts."""

    group: str
    """The Spark job group of the node."""
    expected: float | None
    """How long it took in the last run. Unit: seconds"""


class NodeFinished(OfNode):
    """A node has ended."""

    result: dict[str, Any]
    """Its entry in run_results.json, with its `adapter_response`."""


class NodeRetried(OfNode):
    """A statement failed and will be run again."""

    code: str
    """The error code."""
    kind: Literal["conflict", "transient", "commit_unknown", "lost"]
    """What kind of failure it was."""
    message: str
    """The message of the error."""
    attempt: int
    """How often the statement has been tried. Unit: attempts"""
    pause: float
    """The pause before the next attempt: exponential backoff with jitter. Unit: seconds"""


class NodeWaiting:
    """A node waits for another process that writes its table."""

    node: str
    """The unique id."""
    message: str
    """Which process it waits for."""


class Message:
    """A message for the user."""

    message: str
    """The text."""


class MergesSummarised:
    """The table of merges at the end of a build."""

    merges: list[dict[str, Any]]
    """The merges, slowest first: node, seconds, files scanned, rows by kind, rows copied per change, hints."""
    hidden: int
    """How many other merges there were. Unit: merges"""
    hidden_hints: int
    """How many of these have hints. Unit: merges"""


class AuditWritten:
    """The audit table has the rows of the invocation."""

    table: str
    """The audit table."""
    rows: int
    """How many rows were written. Unit: rows"""


class AuditFailed:
    """The audit table could not be written; no result changes."""

    table: str
    """The audit table."""
    message: str
    """Why."""


class FreshnessStarted:
    """`source freshness` starts."""

    invocation_id: str
    """The id of the invocation."""
    nodes: list[str]
    """The ids of the sources that are checked."""


class FreshnessFinished:
    """`source freshness` has ended."""

    counts: dict[str, int]
    """How many sources have each status."""
    ok: bool
    """Whether none failed."""


class BatchStarted:
    """A micro-batch of a stream starts."""

    stream: str
    """The stream, `source.table`."""
    batch_id: int
    """The number of the batch in the checkpoint."""
    rows: int
    """Rows of the batch. Unit: rows"""
    nodes: int
    """How many nodes it feeds. Unit: nodes"""
    threads: int
    """How many run at the same time. Unit: threads"""


class BatchFinished:
    """A micro-batch has ended."""

    stream: str
    """The stream, `source.table`."""
    batch_id: int
    """The number of the batch in the checkpoint."""
    rows: int
    """Rows of the batch. Unit: rows"""
    seconds: float
    """How long it took. Unit: seconds"""
    ok: bool
    """Whether all its nodes succeeded."""
    targets: list[dict[str, Any]]
    """Each node with `status`, `seconds`, rows by kind, `table_version`, `lag_ms` (milliseconds)."""


class StreamProgress:
    """Spark measured a micro-batch."""

    stream: str
    """The stream, `source.table`."""
    progress: dict[str, Any]
    """Spark's `StreamingQueryProgress`."""


class StreamFinished:
    """A stream has ended."""

    stream: str
    """The stream, `source.table`."""
    batches: int
    """Micro-batches of this invocation. Unit: batches"""
    rows: int
    """Rows of all batches. Unit: rows"""
    p50: float | None
    """The median time of a batch. Unit: seconds"""
    p99: float | None
    """The 99th percentile of the time of a batch. Unit: seconds"""


class PublishStarted:
    """`publish` starts."""

    branch: str
    """The branch."""
    drop: bool
    """Whether the branch is dropped instead of published."""


class TablePublished:
    """main of a table was moved to the branch."""

    table: str
    """The table."""
    branch: str
    """The branch."""
    snapshot: int | None
    """The snapshot that main has now."""
    before: int | None
    """The snapshot that main had."""


class BranchDropped:
    """A branch was dropped."""

    table: str
    """The table."""
    branch: str
    """The branch."""
    snapshot: int | None
    """The snapshot that the branch had."""


class PublishRefused:
    """Nothing, or not everything, is published."""

    branch: str
    """The branch."""
    message: str
    """Why, and what to do."""
    table: str
    """The table that is the reason, where it is one."""


class PublishFinished:
    """`publish` has ended."""

    branch: str
    """The branch."""
    published: list[str]
    """Tables whose main was moved."""
    already: list[str]
    """Tables whose main was at the branch already."""
    dropped: list[str]
    """Tables whose branch was dropped."""
    ok: bool
    """Whether everything was done."""


EVENTS: Mapping[str, Any] = MappingProxyType(
    {
        "invocation_started": InvocationStarted,
        "spark_starting": SparkStarting,
        "spark_started": SparkStarted,
        "running": Running,
        "node_started": NodeStarted,
        "node_waiting": NodeWaiting,
        "node_retried": NodeRetried,
        "node_finished": NodeFinished,
        "message": Message,
        "merges_summarised": MergesSummarised,
        "audit_written": AuditWritten,
        "audit_failed": AuditFailed,
        "invocation_failed": InvocationFailed,
        "invocation_finished": InvocationFinished,
        "freshness_started": FreshnessStarted,
        "freshness_finished": FreshnessFinished,
        "batch_started": BatchStarted,
        "batch_finished": BatchFinished,
        "stream_progress": StreamProgress,
        "stream_finished": StreamFinished,
        "publish_started": PublishStarted,
        "table_published": TablePublished,
        "branch_dropped": BranchDropped,
        "publish_refused": PublishRefused,
        "publish_finished": PublishFinished,
    }
)
"""The fields of each event, besides those of every event."""
