"""Runs a MERGE into an Iceberg table on a temporary branch, and fast-forwards main if it did what is expected.

A MERGE whose source reads the target runs so as well, where nothing else makes sure that the target stays as it is.

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

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.dry_run import Figures
from merge_runner.engine.merge.guardrails import check_branch, check_source
from merge_runner.engine.merge.statement import RewrittenMerge
from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.spark.sql import run_statement
from merge_runner.formats.branches import CONF
from merge_runner.formats.failures import MOST_RETRIES
from merge_runner.plan.steps.guardrails import Expectation
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.relation import Relation, quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.table_format.branches import Branches

_NAME = re.compile(r"merge_runner_expects_([0-9a-f]{12})_(\d+)\Z")
_DEAD = 24 * 3600
"""Seconds after which a branch of the same node is taken for one of a dead run, where there is no lock to check."""


def writes_main(session: SparkSession) -> bool:
    """Whether a session writes the main branch of tables: then a MERGE can run on a temporary one."""
    return session.conf.get(CONF, None) is None


@contextmanager
def checked_on_branch(
    step: RunMerge, expect: Expectation | None, rewritten: RewrittenMerge, context: NodeContext
) -> Iterator[RewrittenMerge]:
    """The statement, which runs inside on a temporary branch: what it did is checked, then published.

    `expect` None: it is published if main has not moved. The branch is gone afterwards. Raises EngineError where that
    is not as expected, or where main has moved meanwhile (a conflict: it may run again).
    """
    session, table = context.session, step.target
    branches = context.table_format(step.judged.layout.format).branches
    source = None
    if expect is not None and expect.limits.about_source:
        source = check_source(step, expect, rewritten, context).source
    _drop_left_over(context, branches, table)
    name = f"merge_runner_expects_{_node(context)}_{time.time_ns() // 1_000_000}"
    branches.create(session, table, name)
    try:
        base = branches.heads(session, table)[name]
        yield _on_branch(step, rewritten, branches.reference(table, name))
        head = branches.heads(session, table).get(name)
        if head is None:
            raise _conflict(table)
        if expect is not None:
            figures = _figures(context, branches, step, expect, (base, head))
            check_branch(expect, replace(figures, source=source), context)
        _publish(session, branches, table, name)
    finally:
        _drop(context, branches, table, name)


def _on_branch(step: RunMerge, rewritten: RewrittenMerge, reference: str) -> RewrittenMerge:
    """The statement with its target's branch in place of the table."""
    target = step.judged.statement.target
    alias = f" AS {quote(target.parts[-1])}" if target.alias is None else ""
    return replace(rewritten, edits=[*rewritten.edits, (target.relation, f"{reference}{alias}")])


def _figures(
    context: NodeContext, branches: Branches, step: RunMerge, expect: Expectation, snapshots: tuple[int, int]
) -> Figures:
    """Return the row counts of the snapshot that the branch began at, and of that at its head."""
    session, before, (base, head) = context.session, None, snapshots
    if expect.limits.about_share or expect.limits.about_inserts:
        before = run_statement(session, f"SELECT count(*) FROM {step.target} VERSION AS OF {base}")[0][0]
    if head == base:
        return Figures(target=before, inserted=0, updated=0, deleted=0)
    rows = branches.changed_rows(session, step.target, head)
    return Figures(None, before, rows.inserted, rows.updated, rows.deleted)


def _publish(session: SparkSession, branches: Branches, table: Relation, name: str) -> None:
    """Moves main to the branch. Raises EngineError: a conflict where main has moved since the branch began."""
    refused = None
    state = branches.find(session, table, name)
    if state is not None and state.state == "ahead":
        try:
            branches.fast_forward(session, state)
        except EngineError as error:
            if error.kind is not Kind.USER:
                raise
            refused, state = error, branches.find(session, table, name)
    if state is None or state.state == "moved":
        raise _conflict(table) from refused
    if refused is not None and state.state == "ahead":
        raise refused


def _conflict(table: Relation) -> EngineError:
    return EngineError(
        "expect-merge-conflict",
        f"another writer has committed to {table.name} while the MERGE was tried on a branch; nothing is committed",
        kind=Kind.CONFLICT,
        most_retries=MOST_RETRIES[Kind.CONFLICT],
    )


def _drop_left_over(context: NodeContext, branches: Branches, table: Relation) -> None:
    """Drop branches of killed runs: all where no other process can be writing, else old ones of this node."""
    for name in branches.heads(context.session, table):
        match = _NAME.match(name)
        if match is None:
            continue
        is_old = time.time() - int(match[2]) / 1000 > _DEAD
        if context.alone or (match[1] == _node(context) and is_old):
            branches.drop(context.session, table, name)


def _drop(context: NodeContext, branches: Branches, table: Relation, name: str) -> None:
    """Drops the branch; where that fails, the next run does it."""
    try:
        branches.drop(context.session, table, name)
    except EngineError as error:
        context.output.warnings.append(
            f"the branch {name} of {table.name} is left, and goes with the next run: {error.message}"
        )


def _node(context: NodeContext) -> str:
    return hashlib.sha256(context.node.encode()).hexdigest()[:12]
