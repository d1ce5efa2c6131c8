"""Decides of each node whether it need not run, and keeps what a run leaves for the next decision.

A node is left out where all of it is as it was when it ran last: its compiled text and config, versions and confs, what
it reads and what it wrote; and where that run has shown, or its statement proves, that another one changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.inserted_keys import keys_hold
from merge_runner.engine.response import MergeFigures
from merge_runner.engine.table_format.stored_version import StoredVersion
from merge_runner.graph.graph import Node, SeedNode
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.steps.inputs import ViewInput
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import CreateTarget, DefineView, LoadSeed, ReplaceTable
from merge_runner.pruning.judge.repetition import repetition
from merge_runner.run.reuse.eligible import ineligible, inputs_of, view_reading
from merge_runner.run.reuse.fingerprint import fingerprint
from merge_runner.run.reuse.records import FILE, Record, Records
from merge_runner.run.reuse.stored_state import States, Stored, stored_input, stored_layout
from merge_runner.run.settings import Mode


@dataclass(frozen=True)
class Unchanged:
    """A node that need not run. `version` is that of its table, `since` when it ran last (UTC, ISO 8601)."""

    version: int | None
    since: str
    invocation_id: str

    def __str__(self) -> str:
        table = f"version {self.version}" if self.version is not None else self.since[:16].replace("T", " ") + " UTC"
        return f"inputs unchanged since {table}"


@dataclass(frozen=True)
class Changed:
    """A node that runs. `because` says why."""

    because: str
    fingerprint: str | None = None
    """None: what it leaves is not kept."""
    inputs: Mapping[str, str] | None = None
    before: StoredVersion | None = None


class Reuse:
    """The decisions of one invocation. Safe for many threads, each of which is about another node."""

    def __init__(self, prepared: Prepared, mode: Mode, invocation_id: str, records: Records | None = None) -> None:
        self._prepared = prepared
        self._mode = mode
        self._id = invocation_id
        self._scratch = Scratch.of(invocation_id)
        self._states = States()
        self._records = records or Records(prepared.target_path / FILE)

    def decide(self, plan: NodePlan) -> Unchanged | Changed:
        """Return whether a node runs, and why. To be asked when all that it reads has been written."""
        node = self._prepared.graph.nodes[plan.unique_id]
        if self._mode == "off":
            return Changed("reuse is off")
        reason = ineligible(node, plan)
        if reason is not None:
            return Changed(reason)
        text = fingerprint(self._prepared, node, plan, self._scratch)
        inputs, unknown = self._inputs(plan)
        target = self._target(plan)
        before = target.version() if target is not None else None
        if unknown is not None:
            return Changed(unknown)
        found = Changed("", text, inputs, before)
        record = self._records.get(plan.unique_id)
        if self._mode == "fresh":
            return replace(found, because="--fresh asks for it")
        if record is None:
            return replace(found, because="no run of it is known after which another one does nothing")
        because = self._difference(plan, record, text, inputs, target)
        if because is not None:
            return replace(found, because=because)
        return Unchanged(record.version, record.at, record.invocation_id)

    def _difference(
        self, plan: NodePlan, record: Record, text: str, inputs: Mapping[str, str], target: Stored | None
    ) -> str | None:
        if record.fingerprint != text:
            return "its text, config, confs or versions are others than in its last run"
        names = {str(stored): relation for relation, stored in self._named(plan)}
        for name in sorted({*record.inputs, *inputs}):
            if record.inputs.get(name) != inputs.get(name):
                return f"{names.get(name, 'what it reads')} has changed"
        if record.target != (str(target) if target is not None else None):
            return "it writes another table than in its last run"
        if target is not None and target.state() != record.left:
            return "what it writes has been changed since its last run"
        return None

    def _named(self, plan: NodePlan) -> Iterable[tuple[str, Stored]]:
        for item in inputs_of(plan):
            stored = stored_input(item, self._prepared)
            if stored is not None:
                yield item.relation.name, stored

    def _inputs(self, plan: NodePlan) -> tuple[dict[str, str], str | None]:
        """Return the states of what a node reads, and why one of them is not known."""
        found: dict[str, str] = {}
        if any(isinstance(step, DefineView) for step in plan.steps):
            return found, None  # its text alone makes it what it is
        known = [item.relation for item in inputs_of(plan)]
        for item in inputs_of(plan):
            stored = stored_input(item, self._prepared)
            if stored is None:
                return found, f"{item.relation.name} is not on this machine: whether it has changed is not known"
            state = self._states.of(stored)
            if state is None:
                return found, f"{item.relation.name} was written just now, or its state cannot be read"
            found[str(stored)] = state
            if isinstance(item, ViewInput) and (reason := _of_view(item, known)) is not None:
                return found, reason
        for step in plan.steps:
            if isinstance(step, LoadSeed):
                stored = Stored("text", str(step.path.absolute()))
                state = self._states.of(stored)
                if state is None:
                    return found, f"{step.path.name} cannot be read"
                found[str(stored)] = state
        return found, None

    def _target(self, plan: NodePlan) -> Stored | None:
        for step in plan.steps:
            if isinstance(step, (CreateTarget, ReplaceTable, LoadSeed)):
                return stored_layout(step.layout, self._prepared)
            if isinstance(step, DefineView) and step.definition is not None:
                return Stored("text", str(step.definition.absolute()))
        return None

    def ended(self, plan: NodePlan, decided: Changed, context: NodeContext) -> None:
        """Keep what a node that ran without a failure leaves, if another run of it would do nothing.

        Raises EngineError.
        """
        target = self._target(plan)
        if target is not None:
            self._states.written(target)
        if decided.fingerprint is None or decided.inputs is None or context.output.no_op is not None:
            return
        if context.output.tested is not None and context.output.tested.verdict != "pass":
            return
        left, version = None, None
        if target is None:
            if plan.writes is not None:
                return  # its table is not on this machine
        elif target.kind == "text":
            left = target.state()
        else:
            after = target.version()
            if after is None or not (after.stamp == context.stamp or after == decided.before):
                return  # another writer came between, or nothing is known of the table
            left, version = after.identity, after.version
        if target is not None and left is None:
            return
        for step in plan.steps:
            if isinstance(step, RunMerge) and not _settled(step, context):
                return
        if left is not None and target is not None and target.state() != left:
            return
        at = datetime.now(timezone.utc).isoformat()
        name = str(target) if target is not None else None
        record = Record(decided.fingerprint, decided.inputs, name, left, version, self._id, at)
        self._records.keep(plan.unique_id, record)

    def failed(self, plan: NodePlan) -> None:
        """A node has failed, and may have written before."""
        target = self._target(plan)
        if target is not None:
            self._states.written(target)

    def save(self) -> None:
        """Write what was kept. Raises OSError."""
        self._records.save()


def _of_view(item: ViewInput, known: list) -> str | None:  # type: ignore[type-arg]
    reading = view_reading(item)
    name = item.relation.name
    if reading is None or not reading.readable:
        return f"the view {name} cannot be read"
    if reading.reads_clock:
        return f"the view {name} may read the clock"
    if reading.varying is not None:
        return f"the view {name} has {reading.varying}, which may give other rows each time"
    for parts in reading.tables:
        if not any(relation.is_named_by(parts, default=False) for relation in known):
            return f"the view {name} reads {'.'.join(parts)} without ref() or source()"
    return None


def _settled(step: RunMerge, context: NodeContext) -> bool:
    """Whether another run of a MERGE with the same source changes nothing, by its proof and by what this run did."""
    figures = context.output.response.statement
    if not isinstance(figures, MergeFigures):
        return False
    inserted, updated, deleted = figures.rows_inserted, figures.rows_updated, figures.rows_deleted
    if inserted == updated == deleted == 0:
        return True
    proof = repetition(step.judged)
    if proof.updates is not None or (deleted != 0 and proof.deletes is not None):
        return False
    if updated != 0 and not keys_hold(context.session, step, proof.set_keys, no_nulls=False):
        return False
    return inserted == 0 or (proof.inserts is None and keys_hold(context.session, step, proof.keys, no_nulls=True))


def likely_unchanged(prepared: Prepared, ids: Iterable[str], mode: Mode) -> bool:
    """Whether none of these nodes is likely to run, as far as that is known before anything is planned."""
    records = Records(prepared.target_path / FILE)
    states = States()
    if mode != "auto":
        return False
    for unique_id in ids:
        node = prepared.graph.nodes[unique_id]
        if not _runs(node):
            continue
        record = records.get(unique_id)
        if record is None or any(states.of(Stored.of(name)) != state for name, state in record.inputs.items()):
            return False
        if record.target is not None and states.of(Stored.of(record.target)) != record.left:
            return False
    return True


def _runs(node: Node) -> bool:
    return node.resource_type in ("model", "seed", "test", "unit_test") and (
        isinstance(node, SeedNode) or node.materialized != "ephemeral"
    )
