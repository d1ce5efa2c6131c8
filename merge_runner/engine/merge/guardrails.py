"""Holds a MERGE to what its model expects of it (`expect_merge`): what goes beyond is not committed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from decimal import Decimal
from typing import Literal

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.dry_run import Figures, deletes_once, dry_count
from merge_runner.engine.merge.duplicate_matches import duplicate_keys, duplicate_matches, several_matches
from merge_runner.engine.merge.statement import RewrittenMerge
from merge_runner.engine.response import MergeCounts, MergeFigures
from merge_runner.engine.spark.errors import EngineError
from merge_runner.plan.steps.guardrails import Expectation
from merge_runner.plan.steps.merge import CheckSource, RunMerge
from merge_runner.project.schema.expect_merge import ExpectMerge

CountedBy = Literal["query", "branch"]
_HINT = "look at what the source gives; where this is meant, raise the limit in the model's `expect_merge`"


def check_before(step: RunMerge, expect: Expectation, rewritten: RewrittenMerge, context: NodeContext) -> Figures:
    """Count what the MERGE would do as `rewritten`. Raises EngineError where that is not as expected."""
    limits = expect.limits
    figures = dry_count(context.session, step.target, step.judged.statement, rewritten, limits)
    exceeded = list(violations(limits, figures))
    if exceeded and _may_count_twice(step, limits):
        _refuse_duplicates(step, context)
    _refuse(exceeded, figures, "query", context, rewritten.not_fixed)
    _check_keys(step, expect, rewritten, context)
    return figures


def check_source(
    step: CheckSource | RunMerge, expect: Expectation, rewritten: RewrittenMerge, context: NodeContext
) -> Figures:
    """Look at the source alone, as `rewritten` reads it. Raises EngineError where it is not as expected."""
    only = ExpectMerge(min_source_rows=expect.limits.min_source_rows)
    figures = dry_count(context.session, step.target, step.judged.statement, rewritten, only)
    _refuse(list(violations(only, figures)), figures, "query", context, rewritten.not_fixed)
    _check_keys(step, expect, rewritten, context)
    return figures


def check_before_replacing(step: CheckSource, context: NodeContext) -> None:
    """Look at the source of a MERGE whose table is about to be replaced. Raises EngineError."""
    check_source(step, step.expect, RewrittenMerge(step.sql), context)


def check_branch(expect: Expectation, figures: Figures, context: NodeContext) -> None:
    """Holds what a MERGE has done on its branch to what is expected. Raises EngineError: nothing is to be published."""
    unknown = [
        action
        for action, is_limited, count in (
            ("inserted", expect.limits.about_inserts, figures.inserted),
            ("updated", expect.limits.about_updates, figures.updated),
            ("deleted", expect.limits.about_deletes, figures.deleted),
        )
        if is_limited and count is None
    ]
    if unknown:
        raise EngineError(
            "expect-merge-unknown",
            f"this Iceberg does not report how many rows the MERGE has {' and '.join(unknown)}; nothing is committed",
            hint="Iceberg 1.12 on Spark 4.1 reports it",
        )
    _refuse(list(violations(expect.limits, figures)), figures, "branch", context)


def check_committed(step: RunMerge, expect: Expectation, before: Figures, committed: MergeFigures) -> None:
    """Holds what was committed to the same limits: another writer may have come between the count and the MERGE.

    Raises EngineError where it went beyond them all the same.
    """
    rows = Figures(None, before.target, committed.rows_inserted, committed.rows_updated, committed.rows_deleted)
    exceeded = list(violations(expect.limits, rows))
    if exceeded:
        raise EngineError(
            "expect-merge-committed",
            f"version {committed.table_version} of {step.target.name} has gone beyond `expect_merge`, and is "
            f"committed: {'; '.join(exceeded)}; counted before, it had kept within: the table, the source or the clock "
            "has changed in between",
            hint="where it is not meant, take it back: RESTORE TABLE on Delta, rollback_to_snapshot on Iceberg",
        )


def violations(limits: ExpectMerge, figures: Figures) -> Iterator[str]:
    """Yield the limits that figures exceed, as text; a figure that is None was not asked for.

    Nothing is a share of no rows: an empty target has no row that could be updated or deleted. Into an empty target
    everything is inserted, so that limits of inserts do not count there.
    """
    if limits.min_source_rows is not None and figures.source is not None and figures.source < limits.min_source_rows:
        yield f"a source of {_rows(figures.source)} (`min_source_rows: {limits.min_source_rows}`)"
    inserted, updated, deleted = figures.inserted or 0, figures.updated or 0, figures.deleted or 0
    if limits.no_inserts and inserted and figures.target != 0:
        yield f"{_rows(inserted)} inserted (`no_inserts: true`)"
    if limits.max_inserts is not None and inserted > limits.max_inserts and figures.target != 0:
        yield f"{_rows(inserted)} inserted (`max_inserts: {limits.max_inserts}`)"
    if limits.max_updates is not None and updated > limits.max_updates:
        yield f"{_rows(updated)} updated (`max_updates: {limits.max_updates}`)"
    if limits.max_deletes is not None and deleted > limits.max_deletes:
        yield f"{_rows(deleted)} deleted (`max_deletes: {limits.max_deletes}`)"
    for name, limit, count, verb in (
        ("max_percent_deleted", limits.max_percent_deleted, deleted, "deleted"),
        ("max_percent_touched", limits.max_percent_touched, updated + deleted, "updated or deleted"),
    ):
        # Exactly, as the percentage is written: 0.29 % of 10,000 rows are 29.
        if limit is not None and figures.target and 100 * count > Decimal(str(limit)) * figures.target:
            share = 100 * count / figures.target
            yield f"{count:,} of {_rows(figures.target)} {verb}, {share:.3g} % (`{name}: {limit:g}`)"


def _refuse(
    exceeded: list[str], figures: Figures, by: CountedBy, context: NodeContext, not_fixed: str | None = None
) -> None:
    """Notes the figures in the response, and raises what they go beyond."""
    counts = {f"rows_{kind}": count for kind, count in asdict(figures).items()}
    context.output.response.expect_merge = MergeCounts(by, **counts, source_read_twice=not_fixed)
    if exceeded:
        message = f"the MERGE would go beyond `expect_merge`, and nothing is committed: {'; '.join(exceeded)}"
        raise EngineError("expect-merge", message, hint=_HINT)


def _check_keys(
    step: CheckSource | RunMerge, expect: Expectation, rewritten: RewrittenMerge, context: NodeContext
) -> None:
    if not expect.limits.unique_source:
        return
    duplicates = duplicate_keys(
        context.session, step.judged.statement, rewritten.piece(step.judged.statement.source.span), expect.keys
    )
    if duplicates:
        keys = "; ".join(map(str, duplicates))
        raise EngineError(
            "source-not-unique",
            f"`unique_source`: several source rows have one key: {keys}: nothing is committed",
            hint="keep one row of each key in USING, as by `row_number() over (partition by … order by …) = 1`",
        )


def _may_count_twice(step: RunMerge, limits: ExpectMerge) -> bool:
    """Whether a target row that several source rows match has been counted with each of them."""
    kinds = {clause.kind for clause in step.judged.statement.clauses}
    limited = limits.about_updates or limits.about_deletes
    return limited and "matched" in kinds and not deletes_once(step.judged.statement)


def _refuse_duplicates(step: RunMerge, context: NodeContext) -> None:
    """Raises what the MERGE would fail with anyway, where several source rows match one target row."""
    duplicates = []
    with suppress(EngineError):
        duplicates = duplicate_matches(context.session, step.target, step.judged.statement, step.judged.scope)
    if duplicates:
        raise EngineError("duplicate-matches", f"{several_matches(duplicates)}: nothing is committed")


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
