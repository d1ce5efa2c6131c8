"""Decides of each node whether it need not run, and keeps what a run leaves for the next decision.

A node is left out where all of it is as it was when it ran last: its compiled text and config, versions and confs, what
it reads and what it wrote; and where the engine has said that another run changes nothing: that run changed no row, or
the query of engine/merge/second_run.py, which was asked after it, gave none. No text proves it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.second_run import second_run
from merge_runner.engine.response import MergeFigures
from merge_runner.engine.table_format.commit_metadata import same_writer
from merge_runner.formats.branches import CONF as BRANCH
from merge_runner.graph.graph import Graph, Node, run_config
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.run.reuse.build_after import waiting_parents, waiting_time
from merge_runner.run.reuse.decision import ReuseDecision, RunDecision
from merge_runner.run.reuse.eligible import asked_for, ineligible
from merge_runner.run.reuse.fingerprint import defaults, difference, environment_of, fingerprint
from merge_runner.run.reuse.reads import defined_relation, names_of_inputs, needs_spark, states_of_inputs, stored_target
from merge_runner.run.reuse.records import FILE, MOST_DAYS, Record, Records
from merge_runner.run.reuse.stored_state import States, StoredState
from merge_runner.run.settings import Mode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OF_CATALOGS = ("spark.sql.catalog.", "spark.hadoop.", "fs.")
"""The beginnings of the confs that say which tables Spark means."""


class Reuse:
    """The decisions of one invocation. Safe for many threads, each of which is about another node."""

    def __init__(self, prepared: Prepared, mode: Mode, invocation_id: str) -> None:
        self._prepared = prepared
        self._mode = mode
        self._id = invocation_id
        self._scratch = Scratch.of(invocation_id)
        self._states = States()
        self._records = Records(prepared.target_path / FILE)
        self._environment = environment_of(prepared)
        self._confs = {**defaults(prepared), **prepared.files.profile.conf}

    def needs_spark(self, plan: NodePlan) -> bool:
        """Return whether `decide` needs a session: of a node that runs whatever it reads nothing is asked."""
        node = self._prepared.graph.nodes[plan.unique_id]
        return asked_for(node, plan) is None and needs_spark(plan, self._prepared)

    def decide(
        self, plan: NodePlan, above: Collection[str] = (), session: SparkSession | None = None
    ) -> ReuseDecision | RunDecision:
        """Return whether a node runs, and why. To be asked once all that it reads has been written.

        `above` are nodes that it reads, of which it is not known yet what they will write. Without a `session`, what
        Spark alone knows may have changed.
        """
        node = self._prepared.graph.nodes[plan.unique_id]
        own_request = request = asked_for(node, plan)
        if request is None and self._prepared.files.profile.reuse == "off":
            request = "its profile says `reuse: off`"
        if request is None and self._mode == "fresh":
            request = "--fresh asks for it"
        target = stored_target(plan, self._prepared)
        now = self._now(node, plan, own_request, target, session)
        if request is not None:
            return replace(now, because=request)
        record = self._records.get(plan.unique_id)
        if record is None:
            return replace(now, because=now.doubt or "no earlier run of it is known")
        because = self._other_table_or_text(record, now, target, session)
        if because is not None:
            return replace(now, because=because)
        changed = self._changed_inputs(plan, record, now, above)
        doubt = now.doubt or record.doubt or (_OLD if record.is_old() else None)
        if not changed and doubt is None:
            return ReuseDecision(record.version, f"inputs unchanged since {_since(record)}")
        new_data = changed if now.doubt is None else None
        waits = self._reason_to_wait(node, record, new_data)
        if waits is not None:
            return ReuseDecision(record.version, waits)
        return replace(now, because=_news(changed, above, self._prepared.graph) or doubt or "")

    def _now(
        self,
        node: Node,
        plan: NodePlan,
        request: str | None,
        target: StoredState | None,
        session: SparkSession | None,
    ) -> RunDecision:
        """Return what a node would read now, without a reason to run; `request` is why it always runs."""
        doubt = request or ineligible(plan, self._prepared, session)
        if BRANCH in {**self._confs, **run_config(node).conf}:
            doubt = doubt or f"`{BRANCH}` has it read and write a branch, of which no version is known here"
        if any(key.startswith(_OF_CATALOGS) for key in run_config(node).conf):
            doubt = doubt or "its config sets confs of a catalog or file system, by which a name may be another table"
        inputs = states_of_inputs(plan, self._prepared, self._states, session) if doubt is None else {}
        if isinstance(inputs, str):
            doubt, inputs = inputs, {}
        relation = defined_relation(plan)
        if doubt is None and target is None and relation is not None:
            doubt = f"the state of {relation.name} is not known"
        text = fingerprint(self._environment, node, plan, self._scratch)
        before = target.version(session) if target is not None else None
        return RunDecision("", doubt, text, inputs, before)

    def _other_table_or_text(
        self, record: Record, now: RunDecision, target: StoredState | None, session: SparkSession | None
    ) -> str | None:
        """Return what is not as it was, the inputs aside."""
        if (other := difference(record.fingerprint, now.fingerprint)) is not None:
            return other
        if record.target != _name(target):
            return "it writes another table than before"
        if target is None:
            return None
        if target.needs_spark and session is None:
            return "whether its table or view has changed is not known before Spark runs"
        if not target.is_table:
            return "its view has changed" if target.state(session) != record.left else None
        if (now.before.identity if now.before is not None else None) == record.left:
            return None
        return "its table has been changed by another writer"

    def _changed_inputs(self, plan: NodePlan, record: Record, now: RunDecision, above: Collection[str]) -> list[str]:
        """Return the names of the inputs that have changed, or may, as nodes `above` run."""
        if now.doubt is not None:
            return []
        names = names_of_inputs(plan, self._prepared)
        names_stored = {*record.inputs, *now.inputs}
        other = (name for name in names_stored if record.inputs.get(name) != now.inputs.get(name))
        changed = {names.get(name, "what it reads") for name in other}
        relations = (self._prepared.graph.nodes[unique_id].relation for unique_id in above)
        return sorted(changed | {relation.name for relation in relations if relation is not None})

    def _reason_to_wait(self, node: Node, record: Record, changed: Collection[str] | None) -> str | None:
        """Return for what a node with new data waits; `changed` None: it is not known which data is new."""
        build_after = run_config(node).build_after
        if build_after is None:
            return None
        waits = waiting_time(build_after, datetime.fromisoformat(record.at), datetime.now(timezone.utc))
        if waits is None and changed is not None:
            waits = waiting_parents(build_after, node, self._prepared.graph, changed)
        return waits

    def note_start(self, plan: NodePlan) -> None:
        """Forget a node whose table is not seen from here: if this run is killed, the next one must not wait."""
        if stored_target(plan, self._prepared) is None and self._records.get(plan.unique_id) is not None:
            node = self._prepared.graph.nodes[plan.unique_id]
            if run_config(node).build_after is not None:
                self._records.drop(plan.unique_id)
                with suppress(OSError):  # `save` at the end of the run says so
                    self._records.save()

    def note_end(self, plan: NodePlan, decision: RunDecision, context: NodeContext) -> None:
        """Keep what a node leaves that ran without a failure. Raises EngineError."""
        target = stored_target(plan, self._prepared)
        if target is not None:
            self._states.forget(target)
        self._records.keep(plan.unique_id, self._record_of(plan, decision, context, target))

    def note_failure(self, plan: NodePlan) -> None:
        """Note that a node has failed, which may have written before."""
        target = stored_target(plan, self._prepared)
        if target is not None:
            self._states.forget(target)
        self._records.drop(plan.unique_id)

    def _record_of(
        self, plan: NodePlan, decision: RunDecision, context: NodeContext, target: StoredState | None
    ) -> Record:
        """Return the record of a run, with the reason why another one may do something."""
        session = context.session
        left, version = None, None
        doubt = decision.doubt or _shows_nothing(context)
        if target is not None and not target.is_table:
            left = target.state(session)
        elif target is not None and (after := target.version(session)) is not None:
            left, version = after.identity, after.version
            if doubt is None and not (same_writer(after.stamp, context.stamp) or after == decision.before):
                doubt = _MEANWHILE
        if doubt is None and target is not None and left is None:
            doubt = "the state of its table or view cannot be read"
        for step in plan.steps:
            if isinstance(step, RunMerge) and doubt is None:
                # Delta commits a MERGE that has not seen rows which another writer appended while it ran.
                alone = target is None or target.changed_only_by(context.stamp, decision.before, session)
                doubt = _changes_again(step, context) if alone else _MEANWHILE
        if doubt is None and target is not None and target.state(session) != left:
            doubt = _MEANWHILE
        doubt = doubt or self._changed_meanwhile(plan, decision.inputs, session)
        at = datetime.now(timezone.utc)
        return Record(
            decision.fingerprint, decision.inputs, _name(target), left, version, self._id, at.isoformat(), doubt
        )

    def _changed_meanwhile(self, plan: NodePlan, inputs: Mapping[str, str], session: SparkSession) -> str | None:
        """Return which table was changed while a node ran; None: it has read the versions that were looked at before.

        A later change may take that one back. Between the versions that were looked at no row differs then.
        """
        for name, state in inputs.items():
            state_of_input = StoredState.of(name)
            if state_of_input.is_table and state_of_input.state(session) != state:
                return f"{names_of_inputs(plan, self._prepared).get(name, 'a table')} was changed while it was read"
        return None

    def save(self) -> None:
        """Write what was kept. Raises OSError."""
        self._records.save()


_OLD = f"its last run is more than {MOST_DAYS} days old"
_MEANWHILE = "another writer has changed its table meanwhile"


def _shows_nothing(context: NodeContext) -> str | None:
    """Return why a run shows nothing about the next one: it had nothing to do, another text, or did not pass."""
    if context.output.response.is_incremental is False:
        return "its last run was its first one, in which `is_incremental()` is false: the next one has another text"
    if context.output.no_op is not None:
        return "its last run had nothing to do"
    tested = context.output.tested
    return "it did not pass" if tested is not None and tested.verdict != "pass" else None


def _since(record: Record) -> str:
    version = record.version
    return f"version {version}" if version is not None else f"{record.at[:16].replace('T', ' ')} UTC"


def _changes_again(step: RunMerge, context: NodeContext) -> str | None:
    """Return why another run of a MERGE may change rows; None: the engine says that it does not. Raises EngineError."""
    figures = context.output.response.statement
    if not isinstance(figures, MergeFigures):
        return "what its last run did is not known"
    if figures.rows_inserted == figures.rows_updated == figures.rows_deleted == 0:
        return None
    return second_run(context.session, step, context.output.runtime_filter)


def _news(changed: Sequence[str], above: Collection[str], graph: Graph) -> str | None:
    """Return which data is new; None: none is."""
    if above:
        names = sorted(graph.nodes[unique_id].name for unique_id in above)
        return f"{', '.join(names)}, which it reads, would run"
    return f"{changed[0]} has changed" if changed else None


def _name(target: StoredState | None) -> str | None:
    return str(target) if target is not None else None
