"""What a second run of a MERGE would do whose source reads its own target, by queries over what the first one has left.

No text proves that for every content of the target, as the source gives other rows once the first run has written: a
filter by the largest value of the target gives none, rows that are carried over from the target may be others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.merge.dry_run import deletes_once, dry_count
from merge_runner.engine.merge.duplicate_matches import has_several_matches
from merge_runner.engine.merge.statement import Bounded
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.project.schema.expect_merge import ExpectMerge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CHANGED_ROWS = ExpectMerge(max_inserts=0, max_updates=0, max_deletes=0)


def does_nothing(session: SparkSession, step: RunMerge, *, unique: bool) -> bool:
    """Return whether a MERGE would now change no row, and end without an error. Raises EngineError.

    `unique`: no two rows of its source have the same key of ON. Else the engines may refuse it, also where no clause
    applies to the rows: they judge several source rows for one target row by ON alone.
    """
    statement = step.judged.statement
    figures = dry_count(session, step.target, statement, Bounded(statement.text), _CHANGED_ROWS)
    if figures.inserted or figures.updated or figures.deleted:
        return False
    matched = any(clause.kind == "matched" for clause in statement.clauses)
    if unique or not matched or deletes_once(statement):
        return True
    return not has_several_matches(session, step.target, statement, step.judged.scope)
