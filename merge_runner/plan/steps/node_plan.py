"""The steps of one node, in order: the engine runs them, `explain` describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.query_span import query_span
from merge_runner.plan.steps.maintenance import OptimizeTable
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import CheckSchema, CreateTarget, Layout
from merge_runner.relation import Relation
from merge_runner.text import Place, Span

if TYPE_CHECKING:
    from merge_runner.errors import Problem
    from merge_runner.template.rendered_text import RenderedText


@dataclass(frozen=True)
class RaiseError(Step):
    """Stops the node with the error that its template raises for this kind of run (`raise_compiler_error`)."""

    problem: Problem

    def __str__(self) -> str:
        return f"stop: {self.problem.message}"


@dataclass(frozen=True)
class NodePlan:
    """The steps of one node, in order. `writes` names the table that they write, None for a view or a test."""

    unique_id: str
    steps: tuple[Step, ...]
    rendered: RenderedText | None = None
    """The compiled text of the node, with its map to the author's file; None for a seed or a generic test."""
    sql: str = ""
    """The compiled text: the content of target/compiled."""
    writes: Relation | None = None
    first_run: FirstRun | None = None
    """What runs instead where the table was never built, if that differs."""
    asks: Problem | None = None
    """Where its text asks the engine: its steps are made when it runs (run/node/text_on_engine.py), not before."""

    @property
    def forms(self) -> tuple[NodePlan, ...]:
        """All plans of which one runs: this one, and that of a first run where it differs."""
        return (self,) if self.first_run is None else (self, self.first_run.plan)

    @property
    def maintains(self) -> bool:
        """Whether the node compacts a table, and changes no row."""
        return any(isinstance(step, OptimizeTable) and step.after is None for step in self.steps)

    def locate(self, statement: str | None, offset: int | None) -> Place | None:
        """The place in the author's file of an offset in a statement that holds compiled text; else None."""
        if self.rendered is None or statement is None or offset is None:
            return None
        for step in self.steps:
            if not isinstance(step, CreateTarget | CheckSchema):
                continue
            if step.shape is not None and step.shape.query == statement:
                origin = step.shape.origin(offset)
                return None if origin is None else self.rendered.place(origin)
        text = self.rendered.text
        own = Span(0, len(text)) if text in statement else _query_span(text)
        start = statement.find(own.of(text))
        if start < 0 or not 0 <= offset - start <= own.end - own.start:
            return None
        return self.rendered.place(own.start + offset - start)


@dataclass(frozen=True)
class FirstRun:
    """The plan of a first run, in which `is_incremental()` is false, and what decides whether it is one.

    `layout` is the table that is asked. `others` are the ids of other nodes that write it: what they have written does
    not make this node's next run an incremental one.
    """

    plan: NodePlan
    layout: Layout
    others: frozenset[str] = frozenset()


def _query_span(text: str) -> Span:
    try:
        return query_span(text)
    except MergeSyntaxError:  # a MERGE whose blanks or semicolons were taken off
        return Span(len(text) - len(text.lstrip()), len(text.rstrip().rstrip(";")))
