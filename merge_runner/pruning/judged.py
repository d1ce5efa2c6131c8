"""A MERGE with everything that the judge knows of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.bounds import Bounds
from merge_runner.pruning.judge import judge
from merge_runner.pruning.judgement import Judgement, listed
from merge_runner.pruning.layout import TableLayout
from merge_runner.pruning.scope import Scope
from merge_runner.pruning.source import Lookup, SourceFacts, source_facts
from merge_runner.pruning.source_fixing import bounds_left_out, source_fixing


@dataclass(frozen=True)
class JudgedMerge:
    """A MERGE, the layout of its target, what is known of its source's rows, and the judgement."""

    statement: MergeStatement
    layout: TableLayout
    source: SourceFacts
    scope: Scope
    judgement: Judgement
    lookup: Lookup = field(repr=False)
    """The tables that the source may name."""


def judge_merge(statement: MergeStatement, layout: TableLayout, lookup: Lookup, bounds: Bounds = "off") -> JudgedMerge:
    """Judges a MERGE, with the columns of its source as far as `lookup` tells them."""
    source = source_facts(statement, lookup)
    scope = Scope.of(statement, layout, source.columns)
    judgement = judge(statement, layout, scope, bounds, source)
    if judgement.verdict == "runtime":
        left_out = bounds_left_out(statement, source_fixing(statement, lookup))
        if left_out is not None:
            judgement = _without_bounds(judgement, judge(statement, layout, scope, "off", source), left_out)
    return JudgedMerge(statement, layout, source, scope, judgement, lookup)


def _without_bounds(bounded: Judgement, plain: Judgement, left_out: str) -> Judgement:
    """What holds of the text alone, as the runner derives none of the bounds."""
    names = listed([bound.column for bound in bounded.bounds if bound.prunes])
    reason = f"{plain.reason}; the runner gives {names} no bounds: {left_out}"
    return replace(plain, reason=reason, bounds=bounded.bounds, left_out=left_out)
