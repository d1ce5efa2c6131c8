"""Runs the MERGE of a model that reads changes, unless there are none."""

from __future__ import annotations

from merge_runner.engine.failures import EngineError
from merge_runner.engine.feeds import define_changes, overtaken, unread, unreadable
from merge_runner.engine.merging import run_merge
from merge_runner.engine.workplace import Workplace
from merge_runner.plan.steps import Feed, RunMerge


def merge_changes(step: RunMerge, feed: Feed, place: Workplace) -> None:
    """Runs the MERGE over the changes that its table has not consumed; `place.no_op` says where there are none.

    Which these are is asked anew each time: another attempt may have been needed because another run consumed some.
    A MERGE that changes nothing commits all the same, and with it what was consumed: an Iceberg table (1.12.0) gets a
    snapshot, copy-on-write or merge-on-read, a Delta table (4.4.0) a version that holds the record alone.
    Raises EngineError.
    """
    session, format = place.session, step.judged.layout.format
    changes = unread(session, feed, step.target, format, place.stamp)
    if changes.none:
        place.no_op = f"no changes of {feed.table.name} since version {changes.last}"
        place.response |= {"operation": "MERGE", "rows_affected": 0}
        return
    define_changes(session, feed, changes)
    place.batch = changes.batch
    try:
        run_merge(step, place)
    except EngineError as error:
        raise unreadable(feed, changes, error) from error
    if place.no_op is not None:
        return
    place.response["changes"] = {"of": feed.table.name, "from_version": changes.first, "to_version": changes.last}
    committed = place.response.get("table_version")
    if committed is not None and overtaken(session, step.target, changes, int(committed)):
        raise EngineError(
            "changes-twice",
            f"another run of this model has consumed changes just before version {committed} of {step.target.name}: "
            "some may have been merged twice",
            hint="let one run at a time write the table, and build it with --full-refresh",
        )
