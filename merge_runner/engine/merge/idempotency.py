"""A MERGE that is stamped with the name of an application and a number commits once for it, however often it runs.

With --batch-id the application is the model and the number the batch; of a change feed it is the version up
to which it was consumed; of a batch of a model it is the window, and the number counts its commits. Delta keeps the
highest number of each application in the table's log and skips the statement itself. Iceberg keeps nothing of the kind:
the number is in the summary of the snapshot that the MERGE writes, and is searched for before the MERGE runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.context import Batch, NodeContext, WindowBatch
from merge_runner.engine.merge.batch_windows import committed_windows
from merge_runner.engine.merge.change_feed_source import Unread, define_changes, unread
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_command, temporary_confs
from merge_runner.engine.table_format.commit_metadata import of_hook, stamp_confs
from merge_runner.engine.table_format.protocol import Commit, TableFormat
from merge_runner.formats import Format
from merge_runner.formats.branches import CONF
from merge_runner.plan.batches.due import overlap_numbers
from merge_runner.plan.steps.inputs import Feed
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.table import EmptyWindow
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def recorded_batch(session: SparkSession, table: Relation, table_format: TableFormat, app: str) -> int | None:
    """The highest batch id that a table has committed of an application, None where there is none.

    Over Spark Connect the log of a Delta table cannot be asked, and None is said: the table skips by itself all the
    same. Raises EngineError.
    """
    return table_format.recorded_batches(session, table, app).get(app)


def outlives_replacement(session: SparkSession, table: Relation, table_format: TableFormat, batch: Batch) -> bool:
    """Whether a table that is about to be replaced will still say that it has committed the batch.

    A Delta table keeps its record then (Delta 4.4.0), and would skip the batches up to the highest one; so does a
    branch, which is emptied and not replaced. Raises EngineError `batch-recorded` where that is above this one: the new
    table would miss those between.
    """
    is_kept = table_format.capabilities.keeps_batches or session.conf.get(CONF, None) is not None
    recorded = recorded_batch(session, table, table_format, batch.app) if is_kept else None
    if recorded is not None and recorded > batch.id:
        raise EngineError(
            "batch-recorded",
            f"{table.name} has committed batch {recorded}, which a full refresh with batch {batch.id} does not undo",
            hint=f"give --batch-id {recorded} or a higher one, or drop the table first",
        )
    return recorded == batch.id


@contextmanager
def recording(session: SparkSession, batch: Batch, table_format: TableFormat) -> Iterator[None]:
    """What the session commits inside the block is stamped with the batch; afterwards its confs are as before.

    Only the MERGE may run inside: Delta would silently skip any other statement on the table as well.
    """
    with temporary_confs(session, table_format.batch_confs(batch.app, batch.id)):
        yield


def committed_earlier(context: NodeContext, table: Relation, format: Format | None) -> Commit | None:
    """Return the commit of the node's MERGE by an earlier invocation that this one goes on with. Raises EngineError."""
    commit_with = context.table_format(format).commit_with
    commits = (commit_with(context.session, table, stamp) for stamp in context.earlier)
    return next((commit for commit in commits if commit is not None), None)


@dataclass(frozen=True)
class Claim:
    """What a MERGE commits once, if it does: a batch, or `changes`, whose batch says up to which version.

    `skips` says why nothing is to run: the table has it already.
    """

    batch: Batch | None = None
    changes: Unread | None = None
    skips: str | None = None


def claim(step: RunMerge, context: NodeContext) -> Claim:
    """Return what the MERGE commits once, unless the table has it already. Raises EngineError."""
    if step.feed is not None:
        return _changes(step, step.feed, context)
    batch = context.batch
    if batch is None or context.output.past_record:
        # A table that was replaced keeps its record, which is of its former rows: the batch is merged without one.
        return Claim()
    table_format = context.table_format(step.judged.layout.format)
    if isinstance(batch, WindowBatch):
        return _window(context.session, step.target, table_format, batch)
    recorded = recorded_batch(context.session, step.target, table_format, batch.app)
    return Claim(skips=str(batch)) if recorded is not None and recorded >= batch.id else Claim(batch)


def _window(session: SparkSession, table: Relation, table_format: TableFormat, batch: WindowBatch) -> Claim:
    """Return the window that the MERGE commits, unless another run has committed it since it was found to be due.

    Delta refuses the later of two commits with one number itself; on Iceberg the record is read before the MERGE alone.
    """
    words = f"another run has committed {batch.due.window} meanwhile"
    committed = committed_windows(session, table, table_format, batch.application)
    # A window without rows need not have been emptied by a commit: Iceberg writes no snapshot where none is deleted.
    if overlap_numbers(batch.due.window, committed.windows) not in (batch.due.record, batch.due.record_before_merge):
        return Claim(skips=words)
    return Claim(Batch(f"{committed.prefix}{batch.due.window}", batch.due.number, words))


def empty_window(step: EmptyWindow, context: NodeContext) -> None:
    """Remove the rows of a batch from its table, once: the commit records that the window is to be merged.

    Raises EngineError, `batch-changed` where another run has committed it since it was found to be due.
    """
    session, table, batch = context.session, step.layout.relation, context.batch
    assert isinstance(batch, WindowBatch), "a step of a batch"
    if context.earlier and committed_earlier(context, table, step.layout.format) is not None:
        return  # the invocation that is retried has merged them again
    table_format = context.table_format(step.layout.format)
    committed = committed_windows(session, table, table_format, batch.application)
    numbers = overlap_numbers(batch.due.window, committed.windows)
    if numbers == batch.due.record_before_merge:
        return  # an earlier attempt has removed them
    if numbers != batch.due.record:
        message = f"another run has committed {batch.due.window} meanwhile: its rows are not removed"
        raise EngineError("batch-changed", message, hint="run it again")
    record = Batch(f"{committed.prefix}{batch.due.window}", batch.due.emptied_number)
    # The commit is not that of the statement: it would be taken for the MERGE where that fails.
    confs = stamp_confs(of_hook(context.stamp, "empty_window"))
    with temporary_confs(session, confs), recording(session, record, table_format):
        run_command(session, f"DELETE FROM {table} WHERE {step.condition}")


def has_committed(
    session: SparkSession, table: Relation, table_format: TableFormat, batch: Batch | WindowBatch
) -> bool:
    """Return whether a table says that it has committed a batch already. Raises EngineError."""
    if isinstance(batch, WindowBatch):
        return _window(session, table, table_format, batch).skips is not None
    recorded = recorded_batch(session, table, table_format, batch.app)
    return recorded is not None and recorded >= batch.id


def _changes(step: RunMerge, feed: Feed, context: NodeContext) -> Claim:
    """Give the view of a feed the changes that the table has not consumed.

    A MERGE that changes nothing commits all the same, and with it what was consumed: an Iceberg table (1.12.0) gets a
    snapshot, copy-on-write or merge-on-read, a Delta table (4.4.0) a version that holds the record alone.
    """
    changes = unread(context, feed, step.target, step.judged.layout.format)
    if changes.none:
        return Claim(skips=f"no changes of {feed.table.name} since version {changes.last}")
    define_changes(context.session, feed, changes)
    return Claim(changes.batch, changes)
