"""What was asked of a run of nodes: one value, from the command to the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from merge_runner.engine.context import Batch
from merge_runner.engine.table_format.commit_metadata import stamp
from merge_runner.graph.graph import ModelNode, Node
from merge_runner.plan.batches.window import Window
from merge_runner.plan.load.defer import BuiltNode
from merge_runner.plan.nodes.maintenance import Maintenance

Mode = Literal["auto", "fresh", "off"]
"""`auto`: nodes whose inputs have not changed are left out; `fresh`: all run, and are kept; `off`: neither."""


@dataclass(frozen=True)
class RunSettings:
    """What was asked of a run of nodes. `args` are the options of the invocation, kept in run_results.json."""

    threads: int | Literal["auto"] | None = None
    """How many nodes run at the same time; None: as many as the profile sets."""
    fail_fast: bool = False
    """Whether the first failure ends the run."""
    independent: bool = False
    """Whether the children of a node that failed run anyway."""
    batch_id: int | None = None
    """The batch that every MERGE commits with its rows, and at most once; None: no batches."""
    application: str | None = None
    """Whose batches these are, before the name of the node; None: each node numbers its own."""
    max_scanned: int | None = None
    """The most bytes of their targets that all MERGEs of the run may read together; None: no limit."""
    compares_tables: bool = False
    """Whether each table that was written is compared with its version before the run."""
    branch: str | None = None
    """The branch of their Iceberg tables that is written instead of main, and read where a table has it."""
    clones: Mapping[str, BuiltNode] | None = None
    """The models and seeds of the state whose tables are cloned, by id; None: this is no clone of them."""
    new_branch: str | None = None
    """The branch that `clone` makes of each Iceberg table instead."""
    maintenance: Maintenance | None = None
    """What `optimize` does to each table; None: nodes run."""
    available_now: bool = False
    """Whether a stream ends when all that is there at its start has been read."""
    earlier_invocations: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Nodes whose statement may have committed in earlier invocations, with the ids of these invocations."""
    recreated_tables: Sequence[str] = ()
    """The names of tables that other nodes recreated in these earlier invocations."""
    now: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    """When the run was asked for, or the run that it retries: batches are due up to then."""
    event_time: tuple[datetime, datetime | None] | None = None
    """The times from and before which batches run (None: up to now), due or not; None: those that are due."""
    batches_done: Mapping[str, Sequence[Window]] = field(default_factory=dict)
    """The batches that succeeded in the run that is retried, by model: they do not run again."""
    runs_partial: bool = False
    """Whether the children of a model run where only some of its batches succeeded."""
    reuse: Mode = "off"
    """Whether nodes are left out whose inputs have not changed."""
    args: Mapping[str, Any] = field(default_factory=dict)

    def batch(self, node: Node) -> Batch | None:
        """Return the batch that the MERGE of a node commits once; None: a plain MERGE."""
        consumes = isinstance(node, ModelNode) and node.changes_of is not None  # which it commits once as it is
        if self.batch_id is None or consumes:
            return None
        return Batch(self.application_of(node), self.batch_id)

    def application_of(self, node: Node) -> str:
        """Return what tables record the batches of a node under."""
        return node.application if self.application is None else f"{self.application}.{node.name}"

    def earlier(self, unique_id: str, batch: str | None = None) -> tuple[str, ...]:
        """Return the stamps under which the statement of a node may have committed in earlier invocations."""
        invocations = self.earlier_invocations.get(unique_id, ())
        return tuple(stamp(invocation, unique_id, batch=batch) for invocation in invocations)
