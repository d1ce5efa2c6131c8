"""Runs the MERGE of a model, and gathers what the engine says of it."""

from __future__ import annotations

from merge_runner.engine.delta_log import files_passing, snapshot
from merge_runner.engine.held import verdict_held
from merge_runner.engine.metrics import SHORT_NAMES, merge_metrics
from merge_runner.engine.statements import run_statement
from merge_runner.engine.workplace import Workplace
from merge_runner.plan.steps import RunMerge


def run_merge(step: RunMerge, place: Workplace) -> None:
    """Runs the statement; what it did is in the response of `place`. Raises EngineError."""
    before = snapshot(place.session, step.target)
    rows = run_statement(place.session, step.sql)
    metrics = merge_metrics(place.session, step.target, place.stamp, place.description)
    response = place.response
    response["operation"] = "MERGE"
    response.update({short: metrics.get(name) for short, name in SHORT_NAMES.items()})
    if rows:
        counted = rows[0].asDict()
        for kind in ("inserted", "updated", "deleted"):
            response[f"rows_{kind}"] = counted[f"num_{kind}_rows"]
        response["rows_affected"] = counted["num_affected_rows"]
    response["table_version"] = metrics.pop("version", None)
    response["verdict"] = step.judged.judgement.verdict
    response["verdict_held"] = verdict_held(
        step.judged, response["files_total"], response["files_scanned"], lambda asked: files_passing(before, asked)
    )
    response["metrics"] = metrics
