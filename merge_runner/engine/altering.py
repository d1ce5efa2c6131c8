"""Makes an adopted table what the project declares, as far as that touches metadata alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.drift import drift
from merge_runner.engine.failures import EngineError, Kind
from merge_runner.engine.statements import run_command, run_statement
from merge_runner.formats.failures import HINTS, VIOLATED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.difference import Drift
    from merge_runner.plan.steps import Layout


def alter(session: SparkSession, layout: Layout) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was altered of a table, and what differs still, in words.

    What cannot be altered, or is refused, stays as it is: the MERGE may well succeed. Raises EngineError where the
    statement is not at fault: done again, this alters what is left.
    """
    altered: list[str] = []
    left: list[str] = []
    for item in drift(session, layout):
        if not item.remedy:
            left.append(item.words)
            continue
        try:
            _make_good(session, item)
        except EngineError as error:
            if error.kind is not Kind.USER:
                raise
            left.append(f"{item.words}: {error.message}" + (f"; {error.hint}" if error.hint else ""))
        else:
            altered.append(item.words)
    return tuple(altered), tuple(left)


def _make_good(session: SparkSession, item: Drift) -> None:
    if item.violating is not None:
        rows = run_statement(session, item.violating)[0][0]
        if rows:
            message = f"{rows:,} {'row violates' if rows == 1 else 'rows violate'} it"
            raise EngineError(VIOLATED, message, hint=HINTS[VIOLATED])
    for number, statement in enumerate(item.remedy):
        try:
            run_command(session, statement)
        except EngineError as error:
            if number and item.undo is not None and error.kind is Kind.USER:
                run_command(session, item.undo)
            raise
