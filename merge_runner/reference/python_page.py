"""The page of the Python interface: examples, and the methods of `Project` with their signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

from merge_runner.api.event_log import SUBJECTS
from merge_runner.api.project import Project
from merge_runner.reference.markdown import fenced, page

_WIDTH = 100
"""Characters of a signature in one line."""

_LOADING = """\
`from merge_runner import Project` is what the command line is built on: each method does what the command of its name
does and returns the result as an object, typed (`py.typed`). Nothing is printed. A test runs the examples of this page,
one after the other, in the project that `merge-runner init shop` makes.

## Load, select, lint

Neither Spark nor Java is needed."""

_LOAD = """
from merge_runner import Project

project = Project.load("shop")
assert "model.shop.fct_order" in project.select("fct_order+").ids

report = project.lint()
assert [(merge.model, merge.verdict) for merge in report.merges] == [("fct_order", "none")]
assert report.count("error") == 0
"""

_MISTAKES = """\
A mistake of the project or of an argument raises `ProblemsError`; each problem has its place, message and hint."""

_MISTAKE = """
from merge_runner.errors import ProblemsError

try:
    Project.load("shop", target="production")
except ProblemsError as error:
    (problem,) = error.problems
    assert problem.code == "unknown-target"
"""

_PLANNING = """\
`explain` returns the plan of a build: levels, the models of each, and their steps."""

_PLAN = """
levels = project.explain().levels
assert [node.plan.unique_id for node in levels[2]] == ["model.shop.fct_order"]
"""

_RUNNING = """\
## Run

`build`, `run`, `test`, `optimize`, `stream` and `retry` start Spark as the profile sets, and stop it. Several calls
share a driver that is passed as `driver`, which is left running. A node that fails is a result, not an exception."""

_RUN = """
import logging

logging.basicConfig(level=logging.WARNING)
events = []
results = project.build("+fct_order", threads=2, on_event=events.append)
assert results.ok
assert results["fct_order"].status == "success"
assert events[-1].as_json()["event"] == "invocation_finished"
"""

_LISTENING = """\
`on_event` receives every [event](journal-events.md), one at a time, in whatever thread it happens.

## Logging

Events are also logged, at their levels, to children of the logger `merge_runner`: {loggers}. A record has the event as
`record.event`. Nothing is shown until the application configures `logging`."""


def python_interface() -> str:
    """Return the page of `Project`."""
    subjects = sorted({*SUBJECTS.values(), "freshness", "node", "spark", "template"})
    loggers = ", ".join(f"`merge_runner.{name}`" for name in subjects)
    return page(
        "Python API",
        _LOADING,
        fenced("python", _LOAD.strip()),
        _MISTAKES,
        fenced("python", _MISTAKE.strip()),
        _PLANNING,
        fenced("python", _PLAN.strip()),
        _RUNNING,
        fenced("python", _RUN.strip()),
        _LISTENING.format(loggers=loggers),
        "## Methods of `Project`",
        _text(Project.__doc__),
        *_methods(),
    )


def _methods() -> Iterator[str]:
    for owner in reversed(Project.__mro__):
        for name in vars(owner):
            function = inspect.getattr_static(Project, name)
            function = function.__func__ if isinstance(function, classmethod) else function
            if not name.startswith("_") and inspect.isfunction(function):
                yield f"### `{name}`"
                yield fenced("python", _signature(name, function))
                yield _text(function.__doc__)


def _signature(name: str, function: Callable[..., object]) -> str:
    signature = inspect.signature(function)
    shown = []
    for each in list(signature.parameters.values())[1:]:
        if each.kind is each.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        default = "" if each.default is each.empty else f" = {each.default!r}"
        shown.append(f"{each.name}: {each.annotation}{default}")
    line = f"{name}({', '.join(shown)}) -> {signature.return_annotation}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join((f"{name}(", *(f"    {part}," for part in shown), f") -> {signature.return_annotation}"))


def _text(docstring: str | None) -> str:
    return inspect.cleandoc(docstring or "")
