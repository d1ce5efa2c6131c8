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
from merge_runner.template.captured import Captured
from merge_runner.text import SourceText

if TYPE_CHECKING:
    from merge_runner.template.context import Context
    from merge_runner.template.templates import Templates

_Call = TypeVar("_Call")
_NOTHING: Any = object()

DEFERRED = "raised"
"""The code of an author's own error. It may guard one kind of run, and counts when a node is about to run that way."""


def capture_all_runs(templates: Templates, source: SourceText, context: Context) -> Captured:
    """Return what a file captures in an incremental run, a first run and a full refresh together.

    The config is that of the run which `context.full_refresh` asks for. Raises ProblemsError as `Templates.capture`
    does, and `config-by-run` where the config depends on `is_incremental()`.
    """
    incremental = replace(context, full_refresh=False, incremental=True)
    first = replace(incremental, incremental=False)
    full = replace(first, full_refresh=True)
    asked = full if context.full_refresh else incremental
    captured, raised = _captured(templates, source, asked)
    if captured is not None and not templates.differs_by_run(source.text, captured.macros):
        return captured
    found = [captured if run is asked else _captured(templates, source, run)[0] for run in (incremental, first, full)]
    _check_config(found[0], found[1])
    texts = [one for one in (captured, *found) if one is not None]
    if not texts:
        raise ProblemsError(raised)
    return Captured(
        refs=_once(one.refs for one in texts),
        sources=_once(one.sources for one in texts),
        config=texts[0].config,
        uses_this=any(one.uses_this for one in texts),
        vars=frozenset().union(*(one.vars for one in texts)),
        env_vars=_once(one.env_vars for one in texts),
        macros=frozenset().union(*(one.macros for one in texts)),
        changes=_once(one.changes for one in texts),
    )


def _captured(
    templates: Templates, source: SourceText, context: Context
) -> tuple[Captured | None, tuple[Problem, ...]]:
    """What one rendering captures; None, and the problems, where the author's own error ends it."""
    try:
        return templates.capture(source, context), ()
    except ProblemsError as error:
        if any(problem.code != DEFERRED for problem in error.problems):
            raise
        return None, error.problems


def _check_config(incremental: Captured | None, first: Captured | None) -> None:
    if incremental is None or first is None:
        return
    hint = "configure the model alike for all runs; a hook may call is_incremental() in its own text"
    _check_same(incremental, first, "is_incremental()", hint)


def check_config(captured: Captured, asked: Captured) -> None:
    """Raise ProblemsError where the config of a file is another one once its queries have been executed."""
    hint = "configure the model whatever the query returns; a hook may ask the engine in its own text"
    _check_same(captured, asked, "what a query returns", hint)


def _check_same(one: Captured, other: Captured, cause: str, hint: str) -> None:
    problems = [
        Problem(
            "config-by-run",
            f'the config "{key}" depends on {cause}, which is known only when the model runs',
            one.config.places.get(key) or other.config.places.get(key),
            hint,
        )
        for key in dict.fromkeys((*one.config.values, *other.config.values))
        if one.config.values.get(key, _NOTHING) != other.config.values.get(key, _NOTHING)
    ]
    if problems:
        raise ProblemsError(problems)


def _once(calls: Iterable[Iterable[_Call]]) -> tuple[_Call, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(calls)))
