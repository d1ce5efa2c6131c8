"""A MERGE with everything that its analysis found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.judge.judge import judge
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.predicate.scope import Scope, Variables
from merge_runner.pruning.predicate.variables import with_variables
from merge_runner.pruning.query.read_using import source_facts
from merge_runner.pruning.query.source import Lookup, SourceFacts
from merge_runner.pruning.runtime_filter.bounded_columns import Bounds
from merge_runner.pruning.runtime_filter.source_determinism import SourceReading, source_reading
from merge_runner.pruning.runtime_filter.source_pinning import SourcePin, bounds_left_out, pin_source, reads_target
from merge_runner.pruning.verdict import Judgement

if TYPE_CHECKING:
    from merge_runner.pruning.query.relation import ReadSelect


@dataclass(frozen=True)
class JudgedMerge:
    """A MERGE, the layout of its target, what is known of its source's rows, and the verdict."""

    statement: MergeStatement
    layout: TableLayout
    source: SourceFacts
    scope: Scope
    judgement: Judgement
    lookup: Lookup = field(repr=False)
    """The tables that the source may name."""
    selects: tuple[ReadSelect, ...] = field(default=(), repr=False)
    """The SELECTs of its source query, each with what it reads."""

    @cached_property
    def source_pin(self) -> SourcePin:
        """How its source is fixed; computed on demand, as few merges need it."""
        return pin_source(self.statement, self.lookup)

    @cached_property
    def reading(self) -> SourceReading:
        """Which tables its source reads; computed on demand."""
        return source_reading(self.statement, self.lookup)

    def is_files(self, parts: tuple[str, ...]) -> bool:
        """Whether a name, given by its unquoted parts, is known to be a table of files."""
        table = self.lookup(parts)
        return table is not None and table.files

    @property
    def reads_target(self) -> bool:
        """Whether its source names a table that may be the target: its rows may be chosen by what is there."""
        return reads_target(self.statement, self.reading)


def judge_merge(
    statement: MergeStatement,
    layout: TableLayout,
    lookup: Lookup,
    bounds: Bounds = "off",
    variables: Variables | None = None,
) -> JudgedMerge:
    """Judges a MERGE, with the columns of its source where `lookup` has them.

    `variables` are those that the session is known to have when it runs.
    """
    selects: list[ReadSelect] = []
    source = source_facts(statement, lookup, selects)
    scope = Scope.of(statement, layout, source.columns, source.some, variables)
    statement = with_variables(statement, scope)
    merge = JudgedMerge(
        statement, layout, source, scope, judge(statement, layout, scope, bounds, source), lookup, tuple(selects)
    )
    left_out = bounds_left_out(statement, merge.source_pin) if merge.judgement.verdict == "runtime" else None
    if left_out is None:
        return merge
    return replace(merge, judgement=judge(statement, layout, scope, bounds, source, left_out))
