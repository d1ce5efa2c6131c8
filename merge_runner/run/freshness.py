"""Asks the sources how fresh they are, and writes target/sources.json in dbt's shape."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from merge_runner.atomic import write_atomic
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.response import Freshness as Measured
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import Problems
from merge_runner.graph.artifact import Metadata
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.model_tests import MeasureFreshness
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.project.schema.freshness import Freshness, Threshold
from merge_runner.run.execution.dag_run import NodeRun
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.node.run_context import Nodes
from merge_runner.run.results.event_types import FreshnessFinished, FreshnessStarted, Running
from merge_runner.run.results.events import Events
from merge_runner.run.results.journal import Journal
from merge_runner.run.results.results import Result, RunResults
from merge_runner.run.settings import RunSettings
from merge_runner.version import version

_STATUSES = {"pass": "pass", "warn": "warn", "fail": "error"}
"""dbt's words; any other status of ours is its `runtime error`."""
_MEASURED = tuple(item.name for item in fields(Measured))


def source_freshness(
    prepared: Prepared,
    ids: Sequence[str],
    events: Events,
    source: DriverSource,
    *,
    threads: int | None = None,
    output: Path | None = None,
) -> RunResults:
    """Asks the sources among `ids` that say how fresh they are to be; `fail` is a source that is too old.

    `output` is the file that is written, None: target/sources.json. Raises ProblemsError, before anything is asked.
    """
    planner, problems = Planner(prepared), Problems()
    plans: dict[str, NodePlan] = {}
    for unique_id in ids:
        with problems.collecting():
            plan = planner.freshness(unique_id)
            if plan is not None:
                plans[unique_id] = plan
    problems.check()
    invocation, started = str(uuid.uuid4()), datetime.now(timezone.utc)
    node_run = NodeRun(prepared, Nodes(plans), RunSettings(threads, independent=True), invocation, events)
    with Journal(prepared.target_path / "journal.jsonl") as journal:
        events.listen(journal)
        try:
            events.emit(FreshnessStarted(invocation_id=invocation, nodes=list(plans)))
            if plans:
                with driving(prepared, events, source) as running:
                    events.emit(Running(nodes=len(plans), threads=node_run.threads))
                    node_run.run(running, Catalog(running.table_format))
            end = datetime.now(timezone.utc)
            outcome = RunResults(invocation, "source freshness", started, end, {}, tuple(node_run.results))
            write_atomic(output or prepared.target_path / "sources.json", json.dumps(_document(outcome, plans)))
            events.emit(FreshnessFinished(counts=outcome.counts(), ok=outcome.ok))
        finally:
            events.forget(journal)
    return outcome


def _document(outcome: RunResults, plans: Mapping[str, NodePlan]) -> dict[str, Any]:
    return {
        "metadata": Metadata(outcome.completed_at, outcome.invocation_id, version(), outcome.started_at).as_json(
            "sources/v3"
        ),
        "results": [_entry(result, _freshness_of(plans[result.unique_id])) for result in outcome.results],
        "elapsed_time": (outcome.completed_at - outcome.started_at).total_seconds(),
    }


def _entry(result: Result, limits: Freshness) -> dict[str, Any]:
    """A result as dbt has it: one that could not be asked has its error alone."""
    if result.status not in _STATUSES:
        return {"unique_id": result.unique_id, "error": result.message, "status": "runtime error"}
    entry = result.as_json()
    response = entry["adapter_response"]
    return {
        "unique_id": result.unique_id,
        **{key: response.pop(key) for key in _MEASURED},
        "status": _STATUSES[result.status],
        "criteria": {
            "warn_after": _threshold(limits.warn_after),
            "error_after": _threshold(limits.error_after),
            "filter": limits.filter,
        },
        **{key: entry[key] for key in ("adapter_response", "timing", "thread_id", "execution_time")},
    }


def _threshold(age: Threshold | None) -> dict[str, Any]:
    return {"count": age.count if age else None, "period": age.period if age else None}


def _freshness_of(plan: NodePlan) -> Freshness:
    return next(step.freshness for step in plan.steps if isinstance(step, MeasureFreshness))
