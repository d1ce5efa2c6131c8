"""Decides of each node whether it need not run, and keeps what a run leaves for the next decision.

A node is left out where all of it is as it was when it ran last: its compiled text and config, versions and confs, what
it reads and what it wrote; and where that run has shown, or its statement proves, that another one changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from merge_runner.engine.context import NodeContext
from merge_runner.engine.table_format.stored_version import StoredVersion
from merge_runner.graph.graph import Node, SeedNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.reuse.eligible import ineligible
from merge_runner.run.reuse.fingerprint import fingerprint
from merge_runner.run.reuse.reads import names_of_inputs, states_of_inputs, stored_target
from merge_runner.run.reuse.records import FILE, Record, Records
from merge_runner.run.reuse.settled import unsettled
from merge_runner.run.reuse.stored_state import States, Stored
from merge_runner.run.settings import Mode


@dataclass(frozen=True)
class Unchanged:
    """A node that need not run. `version` is that of its table, `since` when it ran last (UTC, ISO 8601)."""

    version: int | None
    since: str

    def __str__(self) -> str:
        ago = f"version {self.version}" if self.version is not None else f"{self.since[:16].replace('T', ' ')} UTC"
        return f"inputs unchanged since {ago}"


@dataclass(frozen=True)
class Changed:
    """A node that runs, and `because` of what. `never`: it does so in every build.

    The rest is what it is about to read: its fingerprint, the states of its inputs, the version of its table.
    """

    because: str
    never: bool = False
    fingerprint: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    before: StoredVersion | None = None


class Reuse:
    """The decisions of one invocation. Safe for many threads, each of which is about another node."""

    def __init__(self, prepared: Prepared, mode: Mode, invocation_id: str) -> None:
        self._prepared = prepared
        self._mode = mode
        self._id = invocation_id
        self._scratch = Scratch.of(invocation_id)
        self._states = States()
        self._records = Records(prepared.target_path / FILE)

    def decide(self, plan: NodePlan) -> Unchanged | Changed:
        """Return whether a node runs, and why. To be asked once all that it reads has been written."""
        node = self._prepared.graph.nodes[plan.unique_id]
        reason = ineligible(node, plan)
        if reason is not None:
            return Changed(reason, never=True)
        inputs = states_of_inputs(plan, self._prepared, self._states)
        if isinstance(inputs, str):
            return Changed(inputs, never=True)
        target = stored_target(plan, self._prepared)
        if target is None and plan.writes is not None:
            return Changed(
                f"the state of {plan.writes.name} is not known: it is not stored on this machine", never=True
            )
        version = target.version() if target is not None else None
        text = fingerprint(self._prepared, node, plan, self._scratch)
        changed = Changed("--fresh asks for it", False, text, inputs, version)
        if self._mode == "fresh":
            return changed
        record = self._records.get(plan.unique_id)
        if record is None:
            doubt = self._records.doubt(plan.unique_id)
            return replace(changed, because=doubt or "no earlier run of it is known")
        because = self._difference(plan, record, changed, target)
        return Unchanged(record.version, record.at) if because is None else replace(changed, because=because)

    def _difference(self, plan: NodePlan, record: Record, now: Changed, target: Stored | None) -> str | None:
        if record.fingerprint != now.fingerprint:
            return "its compiled text, config, confs or versions have changed"
        names = names_of_inputs(plan, self._prepared)
        for name in sorted({*record.inputs, *now.inputs}):
            if record.inputs.get(name) != now.inputs.get(name):
                return f"{names.get(name, 'what it reads')} has changed"
        if record.target != _name(target):
            return "it writes another table than before"
        if target is not None and target.state() != record.left:
            return "its table has been changed by another writer" if target.is_table else "its view has changed"
        return None

    def ended(self, plan: NodePlan, decided: Changed, context: NodeContext) -> None:
        """Keep what a node leaves that ran without a failure. Raises EngineError."""
        target = stored_target(plan, self._prepared)
        if target is not None:
            self._states.written(target)
        if not decided.never:
            self._records.keep(plan.unique_id, self._left(plan, decided, context, target))

    def failed(self, plan: NodePlan) -> None:
        """Note that a node has failed, which may have written before."""
        target = stored_target(plan, self._prepared)
        if target is not None:
            self._states.written(target)

    def _left(self, plan: NodePlan, decided: Changed, context: NodeContext, target: Stored | None) -> Record | str:
        """Return the record of a run after which another one does nothing, or why it may do something."""
        output = context.output
        if output.no_op is not None:
            return "its last run had nothing to do"
        if output.tested is not None and output.tested.verdict != "pass":
            return "it did not pass"
        left, version = target.state() if target is not None else None, None
        if target is not None and target.is_table:
            after = target.version()
            if after is None or not (after.stamp == context.stamp or after == decided.before):
                return "another writer has changed its table meanwhile"
            left, version = after.identity, after.version
        for step in plan.steps:
            if isinstance(step, RunMerge) and (doubt := unsettled(step, context)) is not None:
                return doubt
        if target is not None and (left is None or target.state() != left):
            return "another writer has changed its table meanwhile"
        at = datetime.now(timezone.utc).isoformat()
        return Record(decided.fingerprint, decided.inputs, _name(target), left, version, self._id, at)

    def save(self) -> None:
        """Write what was kept. Raises OSError."""
        self._records.save()


def _name(target: Stored | None) -> str | None:
    return str(target) if target is not None else None


def likely_unchanged(prepared: Prepared, ids: Iterable[str]) -> bool:
    """Whether none of these nodes is likely to run, as far as that is known before anything is planned."""
    records, states = Records(prepared.target_path / FILE), States()
    for unique_id in ids:
        if not _is_run(prepared.graph.nodes[unique_id]):
            continue
        record = records.get(unique_id)
        if record is None:
            return False
        stored = dict(record.inputs)
        if record.target is not None and record.left is not None:
            stored[record.target] = record.left
        if any(states.of(Stored.of(name)) != state for name, state in stored.items()):
            return False
    return True


def _is_run(node: Node) -> bool:
    of_kind = node.resource_type in ("model", "seed", "test", "unit_test")
    return of_kind and (isinstance(node, SeedNode) or node.materialized != "ephemeral")
