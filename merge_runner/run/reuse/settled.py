"""Whether another run of a MERGE would do nothing: by what it did, and by what its statement proves."""

from __future__ import annotations

from collections.abc import Sequence

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.inserted_keys import has_duplicates, keys_hold
from merge_runner.engine.merge.second_run import does_nothing
from merge_runner.engine.response import MergeFigures
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.judge.repetition import repetition
from merge_runner.run.reuse.stored_state import Stored


def unsettled(step: RunMerge, asked: RunMerge, context: NodeContext, target: Stored | None) -> str | None:
    """Return why another run of a MERGE with the same source may change rows; None: it does not. Raises EngineError.

    A run that changed no row shows it by itself. `asked` is the MERGE over those rows of the source that count.
    `target` is where its table is stored; None: not on this machine.
    """
    figures = context.output.response.statement
    if not isinstance(figures, MergeFigures):
        return "what its last run did is not known"
    inserted, updated, deleted = figures.rows_inserted, figures.rows_updated, figures.rows_deleted
    if inserted == updated == deleted == 0:
        return None

    def no_nulls(columns: Sequence[str]) -> bool:
        version = figures.table_version
        return target is not None and version is not None and target.added_without_nulls(version, columns)

    proof = repetition(step.judged)
    if proof.reads_target:
        done = does_nothing(context.session, asked, unique=proof.unique)
        return None if done else "a second run would change rows: its source reads the target"
    found = proof.updates
    if found is None and updated != 0 and not keys_hold(context.session, step, proof.set_keys, no_nulls=None):
        found = "a key that an UPDATE sets has another type than its value"
    if found is None and deleted != 0:
        found = proof.deletes
    if found is None and inserted != 0:
        found = proof.inserts
        if found is None and not keys_hold(context.session, step, proof.keys, no_nulls=no_nulls):
            found = "a key is NULL, or has another type than its value"
        if found is None and proof.one_row_each and has_duplicates(context.session, step, proof.keys):
            found = "several of its source rows have one key, though it is declared to be unique"
    return f"a second run may change rows: {found}" if found is not None else None
