"""Secrets that a table or view would store: a value that no log may show must not be in the warehouse either."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from merge_runner.errors import Problem
from merge_runner.formats.registry import capabilities
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import CreateTarget, DefineView, Layout, LoadSeed, ReplaceTable
from merge_runner.text import Place

CODE = "secret-is-kept"


def kept_secrets(plan: NodePlan, place: Place, reveals: Callable[[str], bool]) -> Iterator[Problem]:
    """Yield what a node's steps would store with its table and holds a secret; `reveals` returns whether a text does.

    Delta writes the conditions of a MERGE and of OPTIMIZE into its log (`operationParameters` of 4.4.0), a catalog
    keeps the query of a view and the properties of a table. The rows of a query and what a hook does are the author's.
    """
    for step in plan.steps:
        for what, text, offset in _stored_texts(step):
            if reveals(text):
                where = plan.rendered.place(offset) if plan.rendered is not None and offset is not None else place
                yield Problem(CODE, f"{what} holds a secret, and is stored with it", where, _HINT)


_HINT = "join with a table of secrets, or use it in a query whose rows do not show it: nothing of that is stored"


def _stored_texts(step: Step) -> Iterator[tuple[str, str, int | None]]:
    """Yield what is stored, its text, and the offset of that text in the compiled text."""
    if isinstance(step, DefineView):
        yield "the query of a view", step.sql, 0
    elif isinstance(step, RunMerge) and _logs_conditions(step):
        statement = step.judged.statement
        yield "the ON of a MERGE", statement.on_span.of(statement.text), statement.on_span.start
        for clause in statement.clauses:
            if clause.condition is not None:
                span = clause.condition.span
                yield "the condition of a WHEN clause", span.of(statement.text), span.start
    elif isinstance(step, OptimizeTable) and step.where is not None:
        yield "the condition of OPTIMIZE", step.where, None
    if isinstance(step, CreateTarget | ReplaceTable | LoadSeed):
        yield "the definition of a table", _definition(step.layout), None


def _logs_conditions(step: RunMerge) -> bool:
    format = step.judged.layout.format
    return format is None or capabilities(format).logs_conditions


def _definition(layout: Layout) -> str:
    columns = (f"{column.name} {column.data_type} {column.comment} {column.generated}" for column in layout.columns)
    texts = (layout.relation.name, layout.comment, *columns, *layout.checks.values(), *layout.properties.values())
    return "\n".join((*texts, *layout.partition_by, *layout.cluster_by, *layout.sort_by))
