"""A MERGE with everything that the judge knows of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.bounds import Bounds
from merge_runner.pruning.judge import judge
from merge_runner.pruning.judgement import Judgement
from merge_runner.pruning.layout import TableLayout
from merge_runner.pruning.scope import Scope
from merge_runner.pruning.source import Lookup, SourceFacts, source_facts


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
    return JudgedMerge(statement, layout, source, scope, judge(statement, layout, scope, bounds, source), lookup)
