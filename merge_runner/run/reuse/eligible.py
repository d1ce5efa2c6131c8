"""Which nodes may be left out at all: those of which a second run with the same inputs gives the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from merge_runner.graph.graph import ModelNode, Node, run_config
from merge_runner.plan.batches.batch_values import schedule_of
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import (
    AttachInputs,
    FileInput,
    Input,
    OpenFeed,
    StreamBatchInput,
    TableInput,
    ViewInput,
)
from merge_runner.plan.steps.maintenance import VacuumTable
from merge_runner.plan.steps.merge import RunHook, RunMerge
from merge_runner.plan.steps.model_tests import MeasureFreshness, RunTest, RunUnitTest
from merge_runner.plan.steps.node_plan import NodePlan, RaiseError
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import CreateTarget, KeepHistory, ReplaceTable
from merge_runner.pruning.runtime_filter.source_determinism import (
    SourceReading,
    query_reading,
    varying_part,
    varying_word,
)
from merge_runner.relation import Relation
from merge_runner.run.reuse.stored_state import stored_input
from merge_runner.sql.names import HIDDEN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEVER: tuple[tuple[type, str], ...] = (
    (RunHook, "its hooks may do anything"),
    (OpenFeed, "it consumes the changes of a table, each once"),
    (MeasureFreshness, "it reads the clock"),
    (VacuumTable, "it removes old files"),
)

_HIDDEN = re.compile(rf"\b({'|'.join(sorted(HIDDEN))})\b", re.IGNORECASE)


def inputs_of(plan: NodePlan) -> tuple[Input, ...]:
    """Return what the steps of a plan read, in all of its forms."""
    steps = (step for step in _steps(plan) if isinstance(step, AttachInputs))
    return tuple({item.relation: item for step in steps for item in step.inputs}.values())


def asked_for(node: Node, plan: NodePlan) -> str | None:
    """Return why a node is to run whatever its inputs are: its text, its config or the command says so; else None."""
    if isinstance(node, ModelNode) and schedule_of(node) is not None:
        return "its batches are due by the clock"
    if run_config(node).reuse == "off":
        return "its config says `reuse: off`"
    if any(form.asks is not None for form in plan.forms):
        return "its text depends on what a query returns"
    for step in _steps(plan):
        if isinstance(step, RaiseError):
            return "its template stops it"
        if isinstance(step, KeepHistory) or (isinstance(step, CreateTarget) and step.replace):
            return "a full refresh is asked for"
    return None


def ineligible(plan: NodePlan, prepared: Prepared, session: SparkSession | None = None) -> str | None:
    """Return why a run of a node may always do something; None: it may be left out where its inputs are the same."""
    for step in _steps(plan):
        for kind, reason in _NEVER:
            if isinstance(step, kind):
                return reason
        own_doubt = _of_step(step)
        if own_doubt is not None:
            return own_doubt
    relations = [item.relation for item in inputs_of(plan)]
    if any(isinstance(item, StreamBatchInput) for item in inputs_of(plan)):
        return "it reads a stream"
    if (own_doubt := _hidden_column(plan, prepared, session)) is not None:
        return own_doubt
    own = [plan.writes] if plan.writes is not None else []
    doubts = (query_doubt(reading, [*relations, *own]) for reading in _readings(plan))
    return next((doubt for doubt in doubts if doubt is not None), None)


def _hidden_column(plan: NodePlan, prepared: Prepared, session: SparkSession | None) -> str | None:
    """Return that a node reads where or when rows were stored: compaction changes that, and `checksum` ignores it."""
    inputs = inputs_of(plan)
    if not any(isinstance(item, TableInput) or (isinstance(item, FileInput) and item.checksum) for item in inputs):
        return None
    texts = [step.sql for step in _steps(plan) if isinstance(step, (RunMerge, ReplaceTable, RunTest))]
    texts += [view_text(item, prepared, session) or "" for item in inputs if isinstance(item, ViewInput)]
    occurrence = next((match for text in texts if (match := _HIDDEN.search(text)) is not None), None)
    return f"it reads `{occurrence[0]}`, which changes where no row does" if occurrence is not None else None


def _steps(plan: NodePlan) -> Iterator[Step]:
    for form in plan.forms:
        yield from form.steps


def _of_step(step: Step) -> str | None:
    if isinstance(step, RunMerge):
        if step.expect is not None:
            return "`expect_merge` counts what it does"
        return varying_part(step.judged.statement)
    if isinstance(step, RunTest) and step.store is not None:
        return "it stores its failures"
    if isinstance(step, RunUnitTest) and (word := varying_word(step.sql)) is not None:
        return f"`{word}` may give another value each time"
    return None


def _readings(plan: NodePlan) -> Iterator[SourceReading]:
    for step in _steps(plan):
        if isinstance(step, RunMerge):
            yield step.judged.reading
        elif isinstance(step, (ReplaceTable, RunTest)):
            yield query_reading(step.sql)


def view_reading(item: ViewInput, prepared: Prepared, session: SparkSession | None = None) -> SourceReading | None:
    """Return what a view reads, as its file has it; None where there is none that can be read."""
    text = view_text(item, prepared, session)
    return query_reading(text) if text is not None else None


def view_text(item: ViewInput, prepared: Prepared, session: SparkSession | None = None) -> str | None:
    """Return the query of a view, as its file has it; None where there is none that can be read."""
    state = stored_input(item, prepared)
    return state.text(session) if state is not None else None


def query_doubt(reading: SourceReading, relations: Iterable[Relation], what: str = "its query") -> str | None:
    """Return why a query may give other rows though the tables of `relations` have not changed; None: it does not."""
    if not reading.readable:
        return reading.unread or f"{what} cannot be read"
    if reading.reads_clock:
        return f"{what} may read the clock"
    if reading.varying is not None:
        return f"{what} has {reading.varying}, which may give other rows each time"
    for parts in reading.tables:
        if not any(relation.is_named_by(parts, default=False) for relation in relations):
            return f"{what} reads {'.'.join(parts)} without ref() or source()"
    return None
