"""Asks a table how old its newest row is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from merge_runner.engine.context import NodeContext, TestOutcome
from merge_runner.engine.response import Freshness
from merge_runner.engine.spark.sql import run_statement
from merge_runner.plan.steps.model_tests import MeasureFreshness
from merge_runner.project.syntax.duration import in_words

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NEVER = datetime(1, 1, 1, tzinfo=timezone.utc)
"""The timestamp of the newest row of an empty table, as in dbt: it is older than every threshold."""


def measure_freshness(step: MeasureFreshness, context: NodeContext) -> None:
    """Asks; the answer is in the response of `context`, with dbt's keys. Raises EngineError."""
    where = f"\nWHERE {step.freshness.filter}\n" if step.freshness.filter is not None else ""
    row = run_statement(
        context.session,
        f"SELECT unix_micros(max(CAST(({step.loaded_at}\n) AS TIMESTAMP))) AS loaded, "
        f"unix_micros(current_timestamp()) AS now FROM {step.relation}{where}",
    )[0]
    now = _EPOCH + timedelta(microseconds=row["now"])
    loaded_at = _EPOCH + timedelta(microseconds=row["loaded"]) if row["loaded"] is not None else _NEVER
    age = (now - loaded_at).total_seconds()
    context.output.response.freshness = Freshness(loaded_at.isoformat(), now.isoformat(), age)
    warn, error = step.freshness.warn_after, step.freshness.error_after
    if error is not None and age > error.seconds:
        context.output.tested = TestOutcome(
            0, "fail", f"{_words(row['loaded'], age)}, and is to be an error after {error}"
        )
    elif warn is not None and age > warn.seconds:
        context.output.tested = TestOutcome(
            0, "warn", f"{_words(row['loaded'], age)}, and is to be a warning after {warn}"
        )
    else:
        context.output.tested = TestOutcome(0, "pass", _words(row["loaded"], age))


def _words(newest: int | None, age: float) -> str:
    return "it has no row with a time" if newest is None else f"its newest row is {in_words(_round(age))} old"


def _round(age: float) -> float:
    """An age as people say it: whole minutes, hours or days, the larger the coarser."""
    unit = next((size for size in (86_400, 3600, 60) if age >= 2 * size), 1)
    return max(0, age // unit * unit)
