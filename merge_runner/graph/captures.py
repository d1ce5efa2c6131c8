"""What a template refers to in every kind of run.

The graph is built before the log of a table can be read, and an edge must not depend on what it holds: a `ref` in the
`{% if not is_incremental() %}` branch alone is a dependency of each run. (dbt captures with `is_incremental()` false.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from merge_runner.errors import Problem, ProblemsError
from merge_runner.template.capture import Capture
from merge_runner.text import SourceText

if TYPE_CHECKING:
    from merge_runner.template.context import Context
    from merge_runner.template.templates import Templates

_Call = TypeVar("_Call")
_NOTHING: Any = object()

DEFERRED = "raised"
"""The code of an author's own error. It may guard one kind of run, and counts when a node is about to run that way."""


def capture_all_runs(templates: Templates, source: SourceText, context: Context) -> Capture:
    """Return what a file captures in an incremental run, a first run and a full refresh together.

    The config is that of the run which `context.full_refresh` asks for. Raises ProblemsError as `Templates.capture`
    does, and `config-by-run` where the config depends on `is_incremental()`.
    """
    incremental = replace(context, full_refresh=False, incremental=True)
    first = replace(incremental, incremental=False)
    full = replace(first, full_refresh=True)
    own_run = full if context.full_refresh else incremental
    own_capture, problems = _capture(templates, source, own_run)
    if own_capture is not None and not templates.differs_by_run(source.text, own_capture.macros):
        return own_capture
    captures = [
        own_capture if run is own_run else _capture(templates, source, run)[0] for run in (incremental, first, full)
    ]
    _check_config(captures[0], captures[1])
    known_captures = [capture for capture in (own_capture, *captures) if capture is not None]
    if not known_captures:
        raise ProblemsError(problems)
    return Capture(
        refs=_union(capture.refs for capture in known_captures),
        sources=_union(capture.sources for capture in known_captures),
        config=known_captures[0].config,
        uses_this=any(capture.uses_this for capture in known_captures),
        vars=frozenset().union(*(capture.vars for capture in known_captures)),
        env_vars=_union(capture.env_vars for capture in known_captures),
        macros=frozenset().union(*(capture.macros for capture in known_captures)),
        changes=_union(capture.changes for capture in known_captures),
    )


def _capture(templates: Templates, source: SourceText, context: Context) -> tuple[Capture | None, tuple[Problem, ...]]:
    """What one rendering captures; None, and the problems, where the author's own error ends it."""
    try:
        return templates.capture(source, context), ()
    except ProblemsError as error:
        if any(problem.code != DEFERRED for problem in error.problems):
            raise
        return None, error.problems


def _check_config(incremental: Capture | None, first: Capture | None) -> None:
    if incremental is None or first is None:
        return
    hint = "configure the model alike for all runs; a hook may call is_incremental() in its own text"
    _check_same(incremental, first, "is_incremental()", hint)


def check_config(captured: Capture, with_answers: Capture) -> None:
    """Raise ProblemsError where the config of a file is another one once its queries have been executed."""
    hint = "configure the model whatever the query returns; a hook may ask the engine in its own text"
    _check_same(captured, with_answers, "what a query returns", hint)


def _check_same(first: Capture, second: Capture, cause: str, hint: str) -> None:
    problems = [
        Problem(
            "config-by-run",
            f'the config "{key}" depends on {cause}, which is known only when the model runs',
            first.config.places.get(key) or second.config.places.get(key),
            hint,
        )
        for key in dict.fromkeys((*first.config.values, *second.config.values))
        if first.config.values.get(key, _NOTHING) != second.config.values.get(key, _NOTHING)
    ]
    if problems:
        raise ProblemsError(problems)


def _union(calls: Iterable[Iterable[_Call]]) -> tuple[_Call, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(calls)))
