"""What the steps of one node are performed with, and what they found out so far."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from merge_runner.engine.response import NodeResponse
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.formats import Format
from merge_runner.plan.batches.due import DueBatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class PastMerge:
    """An earlier run of a MERGE: the bytes of its target that it scanned, and how long the statement took."""

    bytes: int
    seconds: float


class ScanBudget:
    """The `most` bytes of their targets that all MERGEs of a build may read; several threads may ask."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._charges: dict[str, int] = {}
        self._charging = threading.Lock()

    def charge(self, node: str, size: int) -> bool:
        """Charge what a node will read, in place of what it was charged before; return False where too little is left.

        A node that is refused is not charged.
        """
        with self._charging:
            others = sum(charge for charged_node, charge in self._charges.items() if charged_node != node)
            if others + size > self.most:
                return False
            self._charges[node] = size
            return True


@dataclass(frozen=True)
class TestOutcome:
    """What a data test found: the number of failures, and whether that is `pass`, `warn` or `fail`.

    `words` say it where a number of failures does not. `rows` are failing rows as JSON texts, a few of
    them. `unread` is the relation or subquery that has them where they were not read; None elsewhere.
    """

    failures: int
    verdict: Literal["pass", "warn", "fail"]
    words: str | None = None
    rows: tuple[str, ...] = ()
    unread: str | None = None


@dataclass(frozen=True)
class Batch:
    """What a MERGE commits once: `id` is a whole number from 0 that grows with each batch of `app`.

    `words` say what a table has that skips it.
    """

    app: str
    id: int
    words: str = ""

    def __str__(self) -> str:
        return self.words or f"batch {self.id} or a later one is committed already"


@dataclass(frozen=True)
class WindowBatch:
    """What the MERGE of a batch commits: a window of time, under the name `application`."""

    application: str
    due: DueBatch


@dataclass
class NodeOutput:
    """The record of one node, which its steps write as they go.

    Steps do not return it: a step that fails half-way (a MERGE beyond `expect_merge`, a lost driver after the commit)
    has done and counted things that its node reports, and an exception would lose what was to be returned.
    """

    response: NodeResponse = field(default_factory=NodeResponse)
    """What the node reports."""
    warnings: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    """The warnings of columns that the target lacks, by column: a MERGE that adds them takes them back."""
    contract_pending: bool = False
    """Whether a contract is still to be enforced, once columns have been added."""
    past_record: bool = False
    """Whether the table has recorded this very batch, and was replaced since."""
    runtime_filter: str | None = None
    """The runtime filter that the node's MERGE had."""
    bounds_news: tuple[str, ...] = ()
    """Why there were no bounds, where that is not so on every run."""
    tested: TestOutcome | None = None
    no_op: str | None = None
    """Why the node's statement had nothing to do."""


@dataclass(frozen=True)
class NodeContext:
    """What the steps of one node are performed with. What they find out goes into `output`."""

    session: SparkSession
    catalog: Catalog
    shared: SharedInputs
    stamp: str
    """What the commits of this node's statement carry (engine/table_format/commit_metadata.py)."""
    description: str
    on_statement: Callable[[str], None] = lambda _: None
    """Receives the MERGE as it runs, with what was spliced into its compiled text."""
    earlier: tuple[str, ...] = ()
    """The stamps under which its MERGE may have committed in an invocation that this one goes on with."""
    node: str = ""
    """The id of the node."""
    alone: bool = False
    """Whether a lock guarantees that no other process writes the table."""
    branch: str | None = None
    """The branch that the session writes."""
    batch: Batch | WindowBatch | None = None
    """What its MERGE commits once."""
    past_merges: tuple[PastMerge, ...] = ()
    """Earlier runs of its MERGE, newest first."""
    scan_budget: ScanBudget | None = None
    """What the MERGEs of its build may read together; None: no limit."""
    output: NodeOutput = field(default_factory=NodeOutput)

    def table_format(self, name: Format | None) -> TableFormat:
        """Return what the running driver has as the table format of a name."""
        return self.catalog.table_format(name)
