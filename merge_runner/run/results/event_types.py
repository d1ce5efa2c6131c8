"""The events of the journal: one class each, with its fields.

docs/reference/journal-events.md is made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from merge_runner.run.results.events import Event, Level

RetriedKind = Literal["conflict", "transient", "commit_unknown", "lost"]


@dataclass(frozen=True, kw_only=True)
class InvocationStarted(Event):
    """An invocation starts."""

    invocation_id: str
    """The id that run_results.json and the commits of the tables have too."""
    command: str
    """The command: `build`, `run`, `test`, …"""
    args: dict[str, Any]
    """The options of the command; `retry` uses them."""
    nodes: list[str]
    """The ids of the nodes that will run."""


@dataclass(frozen=True, kw_only=True)
class SparkStarting(Event):
    """Spark is starting, or the warm driver or Spark Connect server is being connected."""

    master: str
    """The master, or the address of the server."""


@dataclass(frozen=True, kw_only=True)
class SparkStarted(Event):
    """Spark is ready."""

    seconds: float
    """How long that took. Unit: seconds"""


@dataclass(frozen=True, kw_only=True)
class Running(Event):
    """The nodes start to run."""

    nodes: int
    """How many nodes. Unit: nodes"""
    threads: int
    """How many run at the same time; 0: no node needs to run, and no Spark is started. Unit: threads"""


@dataclass(frozen=True, kw_only=True)
class OfNode:
    """What events about a node have."""

    node: str
    """The unique id."""
    name: str
    """The name."""
    label: str
    """The name as it is displayed."""


@dataclass(frozen=True, kw_only=True)
class NodeStarted(OfNode, Event):
    """A node starts."""

    group: str
    """The Spark job group of the node."""
    expected: float | None
    """How long it took in the last run. Unit: seconds"""


@dataclass(frozen=True, kw_only=True)
class NodeWaiting(Event):
    """A node waits for another process that writes its table."""

    level: Level = "warn"
    node: str
    """The unique id."""
    message: str
    """Which process it waits for."""


@dataclass(frozen=True, kw_only=True)
class NodeRetried(OfNode, Event):
    """A statement failed and will be run again."""

    level: Level = "warn"
    code: str
    """The error code."""
    kind: RetriedKind
    """What kind of failure it was."""
    message: str
    """The message of the error."""
    attempt: int
    """How often the statement has been tried. Unit: attempts"""
    pause: float
    """The pause before the next attempt: exponential backoff with jitter. Unit: seconds"""


@dataclass(frozen=True, kw_only=True)
class NodeBatchFinished(OfNode, Event):
    """A batch of a model has ended."""

    batch: dict[str, Any]
    """The entry of the batch in `adapter_response.batches`."""


@dataclass(frozen=True, kw_only=True)
class NodeFinished(OfNode, Event):
    """A node has ended."""

    result: dict[str, Any]
    """Its entry in run_results.json, with its `adapter_response`."""
    warnings: list[str] = field(default_factory=list)
    """The warnings of the node."""


@dataclass(frozen=True)
class Message(Event):
    """A message for the user."""

    message: str
    """The text."""


@dataclass(frozen=True, kw_only=True)
class HookFinished(Event):
    """A hook of the run (`on-run-start`, `on-run-end`) has ended."""

    result: dict[str, Any]
    """Its entry in run_results.json."""
    message: str
    """Which hook it is, and how it has ended."""


@dataclass(frozen=True, kw_only=True)
class MergesSummarised(Event):
    """The table of merges at the end of a build."""

    merges: list[dict[str, Any]]
    """The merges, slowest first: node, seconds, files scanned, rows by kind, rows copied per change, hints."""
    hidden: int
    """How many other merges there were. Unit: merges"""
    hidden_hints: int
    """How many of these have hints. Unit: merges"""


@dataclass(frozen=True, kw_only=True)
class AuditWritten(Event):
    """The audit table has the rows of the invocation."""

    table: str
    """The audit table."""
    rows: int
    """How many rows were written. Unit: rows"""


@dataclass(frozen=True, kw_only=True)
class AuditFailed(Event):
    """The audit table could not be written; no result changes."""

    level: Level = "warn"
    table: str
    """The audit table."""
    message: str
    """Why."""


@dataclass(frozen=True, kw_only=True)
class TableVersionsRead(Event):
    """The commits of a node's table were read at the end of a run, up to the newest that an earlier run has read."""

    node: str
    """The id of the node."""
    table: str
    """The name of its table."""
    versions: list[dict[str, Any]]
    """Newest first: `version`, `at`, `operation`, `rows` by kind, `files_added`, `files_removed`, `bytes_added`,
    `bytes_removed`, and of merge-runner's own commits the invocation (`run`), the `node`, and which hook or maintenance
    it was (`of`)."""
    cut: bool
    """Whether there may be older ones that no run has read."""


@dataclass(frozen=True, kw_only=True)
class TableCompared(Event):
    """The table of a node was compared with its version before the run (`--diff`)."""

    node: str
    """The unique id."""
    message: str
    """How they differ, in words."""
    difference: dict[str, Any]
    """The model in the JSON of `diff`, without examples."""


@dataclass(frozen=True, kw_only=True)
class ReportWritten(Event):
    """The record of the run is kept, and the page of runs shows it."""

    path: str
    """The page."""


@dataclass(frozen=True, kw_only=True)
class NotificationSent(Event):
    """A webhook or a command of `notify` has been notified of the end of the run."""

    level: Level = "debug"
    receiver: str
    """The host of the webhook, or the program."""
    content: str
    """What it got."""


@dataclass(frozen=True, kw_only=True)
class NotificationFailed(Event):
    """A webhook or a command of `notify` could not be notified; no result changes."""

    level: Level = "warn"
    receiver: str
    """The host of the webhook, or the program."""
    message: str
    """Why."""


@dataclass(frozen=True, kw_only=True)
class InvocationFailed(Event):
    """An invocation ended before anything ran."""

    level: Level = "error"
    problems: list[str]
    """What is wrong, one text each."""


@dataclass(frozen=True, kw_only=True)
class InvocationFinished(Event):
    """An invocation has ended, and its artifacts are written."""

    counts: dict[str, int]
    """How many nodes have each status."""
    ok: bool
    """Whether no node failed."""
    stopped: bool = False
    """Whether it was ended before its nodes were, as by Ctrl-C."""


@dataclass(frozen=True, kw_only=True)
class FreshnessStarted(Event):
    """`source freshness` starts."""

    invocation_id: str
    """The id of the invocation."""
    nodes: list[str]
    """The ids of the sources that are checked."""


@dataclass(frozen=True, kw_only=True)
class FreshnessFinished(Event):
    """`source freshness` has ended."""

    counts: dict[str, int]
    """How many sources have each status."""
    ok: bool
    """Whether none failed."""


@dataclass(frozen=True, kw_only=True)
class BatchStarted(Event):
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


@dataclass(frozen=True, kw_only=True)
class BatchFinished(Event):
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


@dataclass(frozen=True, kw_only=True)
class StreamProgress(Event):
    """Spark measured a micro-batch."""

    level: Level = "debug"
    stream: str
    """The stream, `source.table`."""
    progress: dict[str, Any]
    """Spark's `StreamingQueryProgress`."""


@dataclass(frozen=True, kw_only=True)
class StreamFinished(Event):
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


@dataclass(frozen=True, kw_only=True)
class PublishStarted(Event):
    """`publish` starts."""

    branch: str
    """The branch."""
    drop: bool
    """Whether the branch is dropped instead of published."""


@dataclass(frozen=True, kw_only=True)
class TablePublished(Event):
    """main of a table was moved to the branch."""

    table: str
    """The table."""
    branch: str
    """The branch."""
    snapshot: int | None
    """The snapshot that main has now."""
    before: int | None
    """The snapshot that main had."""


@dataclass(frozen=True, kw_only=True)
class BranchDropped(Event):
    """A branch was dropped."""

    table: str
    """The table."""
    branch: str
    """The branch."""
    snapshot: int | None
    """The snapshot that the branch had."""


@dataclass(frozen=True, kw_only=True)
class PublishRefused(Event):
    """Nothing, or not everything, is published."""

    level: Level = "error"
    branch: str
    """The branch."""
    message: str
    """Why, and what to do."""
    table: str = ""
    """The table that is the reason, where it is one."""

    @property
    def data(self) -> dict[str, Any]:
        """The fields, without `table` where no table is the reason."""
        return super().data if self.table else {"branch": self.branch, "message": self.message}


@dataclass(frozen=True, kw_only=True)
class PublishFinished(Event):
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


EVENTS: Mapping[str, type[Event]] = {kind.event: kind for kind in Event.__subclasses__()}
"""The events by their names, in the order of their page."""
