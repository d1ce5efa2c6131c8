"""The query of a compiled text that is to be one: a view's, a table's, an ephemeral model's, a test's."""

from __future__ import annotations

from merge_runner.errors import Problem, ProblemsError
from merge_runner.merge.error import MergeSyntaxError
from merge_runner.merge.query_span import query_span
from merge_runner.template.rendered import Rendered


def query(rendered: Rendered) -> str:
    """The query, without closing semicolons. Raises ProblemsError at the author's place where the text is none."""
    try:
        return query_span(rendered.text).of(rendered.text)
    except MergeSyntaxError as error:
        place = rendered.place(error.span.start, error.span.end)
        raise ProblemsError([Problem("not-a-query", error.message, place, error.hint)]) from None
