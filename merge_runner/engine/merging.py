"""Runs the MERGE of a model, and gathers what the engine says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.batches import recording, skipped
from merge_runner.engine.bounded import Bounded, bounded
from merge_runner.engine.delta_log import files_passing, snapshot
from merge_runner.engine.failures import EngineError
from merge_runner.engine.held import verdict_held
from merge_runner.engine.metrics import SHORT_NAMES, merge_metrics
from merge_runner.engine.statements import run_statement
from merge_runner.engine.workplace import Workplace
from merge_runner.merge.parse import parse
from merge_runner.merge.splice import origin
from merge_runner.plan.steps import RunMerge
from merge_runner.pruning.judged import JudgedMerge, judge_merge

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def run_merge(step: RunMerge, place: Workplace) -> None:
    """Runs the statement; what it did is in the response of `place`. Raises EngineError."""
    response = place.response
    with bounded(step, place.session) as made:
        before = snapshot(place.session, step.target)
        place.on_merge(made.sql)
        response["bounds"], response["pins"] = dict(made.bounds), dict(made.pins)
        response["bounds_left_out"], response["staged"] = list(made.left_out), made.staged
        with recording(place.session, place.batch):
            rows = _run(place.session, made)
    if place.batch is not None and not rows and step.judged.layout.format != "iceberg":
        # Another process has committed the batch since it was asked for: Delta skips the statement, and says nothing.
        skipped(place, place.batch)
        return
    metrics = merge_metrics(place.session, step.target, place.stamp, place.description)
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
        _as_it_ran(step.judged, made),
        response["files_total"],
        response["files_scanned"],
        lambda asked: files_passing(before, asked),
    )
    response["metrics"] = metrics


def _run(session: SparkSession, made: Bounded) -> list[Row]:
    try:
        return run_statement(session, made.sql)
    except EngineError as error:
        if error.statement == made.sql and error.offset is not None:
            # What the engine says of the text that ran is told of the author's.
            error.statement, error.offset = made.text, origin(made.edits, error.offset)
        raise


def _as_it_ran(merge: JudgedMerge, made: Bounded) -> JudgedMerge:
    """What the judge says of the statement with its bounds: they prune by the text, as a verdict `runtime` promised."""
    return judge_merge(parse(made.sql), merge.layout, merge.lookup) if made.bounds else merge
