"""How the engine will run a judged MERGE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.formats.merge_plans import MergePlan, Shape, merge_plan
from merge_runner.formats.rules import rules
from merge_runner.formats.write_distribution import WriteDistribution

if TYPE_CHECKING:
    from merge_runner.merge.statement import MergeStatement
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge


def engine_plan(merge: JudgedMerge) -> MergePlan | None:
    """The plan; None where the target's format is not known."""
    layout = merge.layout
    return merge_plan(layout.format, shape(merge.statement), layout.properties) if layout.format is not None else None


def write_distribution_of(merge: JudgedMerge, conf: Mapping[str, str]) -> WriteDistribution | None:
    """How the rows of a MERGE come to the tasks that write them; None without partitions or a known format."""
    layout = merge.layout
    if layout.format is None or not layout.partition_by:
        return None
    appends = shape(merge.statement) == "insert"
    return rules(layout.format).write_distribution(appends, layout.properties, conf)


def shape(statement: MergeStatement) -> Shape:
    """Return the kinds of clauses of a MERGE that its physical plan depends on."""
    kinds = {clause.kind for clause in statement.clauses}
    if "not_matched_by_source" in kinds:
        return "by-source-insert" if "not_matched" in kinds else "by-source"
    if "not_matched" in kinds:
        return "upsert" if "matched" in kinds else "insert"
    return "matched"
