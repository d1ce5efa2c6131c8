"""What is expected of a MERGE before it is committed, and how that is found out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from merge_runner.formats import Format
from merge_runner.formats.registry import capabilities
from merge_runner.plan.steps.prediction import Prediction
from merge_runner.project.schema.expect_merge import ExpectMerge
from merge_runner.project.syntax.duration import in_words
from merge_runner.project.syntax.size import size_in_words
from merge_runner.pruning.predicate.join_keys import source_sides
from merge_runner.pruning.runtime_filter.source_determinism import source_reading
from merge_runner.pruning.runtime_filter.source_pinning import SourcePin, named_through_schema, reads_target
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.merge.statement import MergeStatement
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge


@dataclass(frozen=True)
class Keys:
    """What identifies a row of the source: spans of expressions of the source in the statement.

    A row whose value of an expression in `strict` is NULL is equal to no other: ON joins it by `=`.
    """

    spans: tuple[Span, ...]
    strict: tuple[Span, ...]


@dataclass(frozen=True)
class CostLimits:
    """What a MERGE may be predicted to cost at most; None: no limit. Sizes are bytes."""

    max_scanned: int | None
    max_rewritten: int | None
    max_seconds: float | None

    def __str__(self) -> str:
        return f"not run where it is predicted to cost more ({ExpectMerge(**vars(self))})"

    def exceeded_by(self, predicted: Prediction) -> Iterator[str]:
        """Yield the limits that a prediction exceeds, as text; what is not known exceeds none."""
        for verb, size, name, limit in (
            ("read", predicted.bytes, "max_scanned", self.max_scanned),
            ("rewritten at most", predicted.rewritten_bytes, "max_rewritten", self.max_rewritten),
        ):
            if limit is not None and size is not None and size > limit:
                yield f"{size_in_words(size)} {verb} (`{name}: {size_in_words(limit)}`)"
        if self.max_seconds is not None and predicted.seconds is not None and predicted.seconds > self.max_seconds:
            limit_in_words = in_words(self.max_seconds)
            yield f"{predicted.seconds:,.1f} s, as projected from earlier runs (`max_seconds: {limit_in_words}`)"


def cost_limits(limits: ExpectMerge | None) -> CostLimits | None:
    """Return the limits of what a MERGE costs that the config key `expect_merge` sets; None where it sets none."""
    if limits is None or (limits.max_scanned, limits.max_rewritten, limits.max_seconds) == (None, None, None):
        return None
    return CostLimits(limits.max_scanned, limits.max_rewritten, limits.max_seconds)


@dataclass(frozen=True)
class Expectation:
    """The limits of the rows of a MERGE and of its source.

    `fixing` is how its source is made the same for the count and for the MERGE.
    `on_branch`: the MERGE runs on a branch of the table, and main is moved to it if it keeps within the limits; else it
    is counted by a query beforehand. `before_replacing`: the source can be looked at before the target is replaced.
    """

    limits: ExpectMerge
    keys: Keys
    fixing: SourcePin
    on_branch: bool
    before_replacing: bool

    def __str__(self) -> str:
        if not self.limits.about_rows:
            how = "looked at before it runs"
        else:
            how = "run on a separate branch first" if self.on_branch else "counted before it runs"
        return f"{how} ({self.limits})"


def expectation(limits: ExpectMerge | None, merge: JudgedMerge, format: Format) -> Expectation | None:
    """What the config key `expect_merge` expects of the rows of a MERGE; None where it says nothing of them."""
    if limits is None or not (limits.about_source or limits.about_rows):
        return None
    statement = merge.statement
    sides = list(source_sides(statement.on, merge.scope)) if limits.unique_source else []
    keys = Keys(tuple(span for span, _ in sides), tuple(span for span, null_safe in sides if not null_safe))
    reading = source_reading(statement, merge.lookup)
    return Expectation(
        replace(limits, max_scanned=None, max_rewritten=None, max_seconds=None),
        keys,
        merge.source_pin,
        on_branch=limits.about_rows and runs_on_branch(statement, format),
        before_replacing=not reads_target(statement, reading),
    )


def runs_on_branch(statement: MergeStatement, format: Format) -> bool:
    """Whether a MERGE can run on a branch of its target, and main be moved to what it did there.

    A branch has the table's schema: columns that the MERGE adds would be there though it is not committed.
    """
    target = statement.target
    is_named = target.qualifier is not None and not named_through_schema(statement, target)
    return capabilities(format).has_branches and is_named and not statement.schema_evolution
