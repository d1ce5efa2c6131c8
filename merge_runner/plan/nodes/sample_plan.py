"""What a run with `--empty` or `--sample` plans otherwise: it writes separate tables, and none that has other rows.

A MERGE whose source lacks rows deletes them from its target where it has WHEN NOT MATCHED BY SOURCE, or where USING
reads the target; a table is replaced by fewer rows. So a table with rows of another run is never written. Those that
it makes are marked, and no other run adds to their rows.
"""

from __future__ import annotations

from dataclasses import replace

from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import ModelNode
from merge_runner.plan.load.sample import PROPERTY, Sample
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import CreateTarget, KeepRows, Layout, ReplaceTable


def sample_plan(plan: NodePlan, node: ModelNode, layout: Layout, sample: Sample) -> NodePlan:
    """Return the plan of a model whose table is `layout`, for a run with a sample.

    Raises ProblemsError where the model consumes changes: the next run would not see them again.
    """
    if node.changes_of is not None:
        message = f"{node.name} consumes changes of {node.changes_of.rpartition('.')[2]}, and reads each of them once"
        raise ProblemsError([Problem("sampled-run", message, node.place, f"leave it out: --exclude {node.name}")])
    first = plan.first_run
    sample_layout = replace(layout, properties={**layout.properties, PROPERTY: sample.text})
    keep = KeepRows(layout, _refused(node, layout, sample), PROPERTY)
    return replace(
        plan,
        steps=(keep, *(_with_layout(step, sample_layout) for step in plan.steps)),
        first_run=replace(first, plan=sample_plan(first.plan, node, layout, sample)) if first is not None else None,
    )


def _with_layout(step: Step, layout: Layout) -> Step:
    return replace(step, layout=layout) if isinstance(step, CreateTarget | ReplaceTable) else step


def _refused(node: ModelNode, layout: Layout, sample: Sample) -> Problem:
    option = "--empty" if sample.is_empty else "--sample"
    message = f"{layout.relation.name} holds rows of another run, and {option} would replace or delete them"
    hint = "build into a separate schema: another --target, or `schema` of the profile's output"
    return Problem("sampled-run", message, node.place, hint)
