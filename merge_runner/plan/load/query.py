"""The query of a compiled text that is to be one: a view's, a table's, an ephemeral model's, a test's."""

from __future__ import annotations

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.graph import Graph, ModelNode
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.query_span import no_query, query_span
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText


def query(rendered: RenderedText) -> str:
    """The query, without closing semicolons. Raises ProblemsError at the author's place where the text is none."""
    try:
        return query_span(rendered.text).of(rendered.text)
    except MergeSyntaxError as error:
        place = rendered.place(error.span.start, error.span.end)
        raise ProblemsError([Problem("not-a-query", error.message, place, error.hint)]) from None


def check_queries(graph: Graph) -> None:
    """Raise ProblemsError for each model that is to be a query and whose raw text is another statement."""
    problems = Problems()
    for node in graph.nodes.values():
        if not isinstance(node, ModelNode) or node.materialized == "merge":
            continue
        error = no_query(node.raw_code)
        if error is not None:
            place = SourceText(node.path, node.raw_code).place(error.span.start, error.span.end)
            problems.add("not-a-query", error.message, place, error.hint)
    problems.check()
