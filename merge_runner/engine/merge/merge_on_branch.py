"""Runs a MERGE into an Iceberg table on a temporary branch, and fast-forwards main if it did what is expected.

Measured on Iceberg 1.12.0 and Spark 4.1.4: MERGE INTO table.branch_x writes and reads the branch, without the property
that write-audit-publish needs, and the snapshot's summary has the rows of each kind. `fast_forward` commits against
the metadata that it has looked at, and refuses where main does not lead to the branch. What becomes main is the very
snapshot that was looked at, with its stamp and its batch.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from merge_runner.engine.merge.dry_run import Figures
from merge_runner.engine.merge.guardrails import check_branch, check_source
from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.spark.sql import run_command, run_statement
from merge_runner.engine.table_format.iceberg.log import branches
from merge_runner.engine.table_format.iceberg.merge_metrics import changed_rows
from merge_runner.engine.tables.branches import drop_branch, fast_forward, find_branch
from merge_runner.formats.branches import CONF
from merge_runner.formats.failures import MOST_RETRIES
from merge_runner.relation import Relation, quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.context import NodeContext
    from merge_runner.engine.merge.statement import Bounded
    from merge_runner.plan.steps.guardrails import Expectation
    from merge_runner.plan.steps.merge import RunMerge

_NAME = re.compile(r"merge_runner_expects_([0-9a-f]{12})_(\d+)\Z")
_DEAD = 24 * 3600
"""Seconds after which a branch of the same node is taken for one of a dead run, where there is no lock to check."""


def runs_on_branch(expect: Expectation, session: SparkSession) -> bool:
    """Whether the MERGE runs on a temporary branch: not in a session that writes a branch already."""
    return expect.on_branch and session.conf.get(CONF, None) is None


@contextmanager
def checked_on_branch(step: RunMerge, expect: Expectation, made: Bounded, context: NodeContext) -> Iterator[Bounded]:
    """The statement, which runs inside on a temporary branch: what it did is checked, then published.

    The branch is gone afterwards. Raises EngineError where that is not as expected, or where main has moved meanwhile
    (a conflict: it may run again).
    """
    session, table = context.session, step.target
    source = check_source(step, expect, made, context).source if expect.limits.about_source else None
    _drop_left_over(context, table)
    name = f"merge_runner_expects_{_node(context)}_{time.time_ns() // 1_000_000}"
    run_command(session, f"ALTER TABLE {table} CREATE BRANCH {quote(name)}")
    try:
        begun = branches(session, table).heads[name]
        yield _on_branch(step, made, name)
        head = branches(session, table).heads.get(name)
        if head is None:
            raise _conflict(table)
        check_branch(expect, replace(_figures(session, step, expect, begun, head), source=source), context)
        _publish(session, table, name)
    finally:
        _drop(context, table, name)


def _on_branch(step: RunMerge, made: Bounded, name: str) -> Bounded:
    """The statement with its target's branch in place of the table."""
    target = step.judged.statement.target
    alias = f" AS {quote(target.parts[-1])}" if target.alias is None else ""
    edit = (target.relation, f"{step.target}.{quote(f'branch_{name}')}{alias}")
    return replace(made, edits=[*made.edits, edit])


def _figures(session: SparkSession, step: RunMerge, expect: Expectation, begun: int, head: int) -> Figures:
    """Return the row counts of the snapshot at the head of the branch, and of the snapshot that it began at."""
    before = None
    if expect.limits.about_share or expect.limits.about_inserts:
        before = run_statement(session, f"SELECT count(*) FROM {step.target} VERSION AS OF {begun}")[0][0]
    if head == begun:
        return Figures(target=before, inserted=0, updated=0, deleted=0)
    query = f"SELECT operation, summary FROM {step.target}.snapshots WHERE snapshot_id = {head}"
    snapshot = run_statement(session, query)[0]
    summary = {name: int(value) for name, value in snapshot["summary"].items() if value.isdigit()}
    told = changed_rows(summary, snapshot["operation"])
    return Figures(None, before, told["rows_inserted"], told["rows_updated"], told["rows_deleted"])


def _publish(session: SparkSession, table: Relation, name: str) -> None:
    """Moves main to the branch. Raises EngineError: a conflict where main has moved since the branch began."""
    refused = None
    found = find_branch(session, table, name)
    if found is not None and found.state == "ahead":
        try:
            fast_forward(session, found)
        except EngineError as error:
            if error.kind is not Kind.USER:
                raise
            refused, found = error, find_branch(session, table, name)
    if found is None or found.state == "moved":
        raise _conflict(table) from refused
    if refused is not None and found.state == "ahead":
        raise refused


def _conflict(table: Relation) -> EngineError:
    return EngineError(
        "expect-merge-conflict",
        f"another writer has committed to {table.name} while the MERGE was tried on a branch; nothing is committed",
        kind=Kind.CONFLICT,
        most_retries=MOST_RETRIES[Kind.CONFLICT],
    )


def _drop_left_over(context: NodeContext, table: Relation) -> None:
    """Drop branches of killed runs: all where no other process can be writing, else old ones of this node."""
    for name in branches(context.session, table).heads:
        found = _NAME.match(name)
        if found is None:
            continue
        is_old = time.time() - int(found[2]) / 1000 > _DEAD
        if context.alone or (found[1] == _node(context) and is_old):
            drop_branch(context.session, table, name)


def _drop(context: NodeContext, table: Relation, name: str) -> None:
    """Drops the branch; where that fails, the next run does it."""
    try:
        drop_branch(context.session, table, name)
    except EngineError as error:
        context.output.warnings.append(
            f"the branch {name} of {table.name} is left, and goes with the next run: {error.message}"
        )


def _node(context: NodeContext) -> str:
    return hashlib.sha256(context.node.encode()).hexdigest()[:12]
