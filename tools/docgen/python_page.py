"""The page of the Python interface: examples, functions, and the methods of `Project`, with their signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import is_typeddict

from merge_runner import api
from merge_runner.api import node_options
from merge_runner.api.event_log import SUBJECTS
from merge_runner.api.project import Project
from tools.docgen.keys import docstrings
from tools.docgen.markdown import fenced, page, table

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

_LINTING = """\
`lint_paths` lints what `merge-runner lint PATHS` does: models or folders of a project or of a dbt project, or files of
none. Its arguments are the options of that command."""

_LINT = """
from pathlib import Path
from merge_runner import lint_paths

Path("adhoc.sql").write_text("merge into t using s on t.id = s.id when matched then delete")
report = lint_paths("adhoc.sql")
assert [(merge.path, merge.verdict) for merge in report.merges] == [("adhoc.sql", "none")]
assert lint_paths("shop/models/fct_order.sql", rules="P").files == 1
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

_SETTING_UP = """\
`clean` removes the generated files; `debug`, `fetch_jars`, `warm_status` and `stop_warm` are below."""

_SET_UP = """
from merge_runner.api import clean

project.write_manifest()
assert clean("shop") == Path("shop/target").resolve()
assert clean("shop") is None
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


_OPTIONS = """\
What `**options` of a method may be; what is left out is as it is without that option of the command line."""


def python_interface() -> str:
    """Return the page of `Project`."""
    subjects = sorted({*SUBJECTS.values(), "debug", "freshness", "lint", "node", "spark", "template"})
    loggers = ", ".join(f"`merge_runner.{name}`" for name in subjects)
    return page(
        "Python API",
        _LOADING,
        fenced("python", _LOAD.strip()),
        _LINTING,
        fenced("python", _LINT.strip()),
        _MISTAKES,
        fenced("python", _MISTAKE.strip()),
        _PLANNING,
        fenced("python", _PLAN.strip()),
        _SETTING_UP,
        fenced("python", _SET_UP.strip()),
        _RUNNING,
        fenced("python", _RUN.strip()),
        _LISTENING.format(loggers=loggers),
        "## Functions of `merge_runner.api`",
        *_functions(),
        "## Methods of `Project`",
        _text(Project.__doc__),
        *_methods(),
        "## Options of methods",
        _OPTIONS,
        _options(),
    )


def _options() -> str:
    """Return a table of the options of methods: each once, with the methods that take it."""
    rows = [
        (f"`{option}`", f"`{group.__annotations__[option].__forward_arg__}`", meaning, ", ".join(_taking(option)))
        for group in filter(is_typeddict, vars(node_options).values())
        for option, meaning in docstrings(group).items()
    ]
    return table(("option", "type", "meaning", "methods"), rows)


def _taking(option: str) -> Iterator[str]:
    """Yield the methods that take an option in a group of theirs."""
    for name, function in inspect.getmembers(Project, inspect.isfunction):
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                group = getattr(node_options, parameter.annotation.removeprefix("Unpack[").removesuffix("]"))
                yield from [f"`{name}`"] * (option in group.__annotations__)


def _functions() -> Iterator[str]:
    for name in api.__all__:
        function = getattr(api, name)
        if inspect.isfunction(function):
            yield from _entry(name, function, [*inspect.signature(function).parameters.values()])


def _methods() -> Iterator[str]:
    for owner in reversed(Project.__mro__):
        for name in vars(owner):
            function = inspect.getattr_static(Project, name)
            function = function.__func__ if isinstance(function, classmethod) else function
            if not name.startswith("_") and inspect.isfunction(function):
                yield from _entry(name, function, [*inspect.signature(function).parameters.values()][1:])


def _entry(name: str, function: Callable[..., object], parameters: Sequence[inspect.Parameter]) -> Iterator[str]:
    yield f"### `{name}`"
    yield fenced("python", _signature(name, parameters, inspect.signature(function).return_annotation))
    yield _text(function.__doc__)


def _signature(name: str, parameters: Sequence[inspect.Parameter], returns: str) -> str:
    shown = []
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        default = "" if each.default is each.empty else f" = {each.default!r}"
        stars = "**" if each.kind is each.VAR_KEYWORD else ""
        shown.append(f"{stars}{each.name}: {each.annotation}{default}")
    line = f"{name}({', '.join(shown)}) -> {returns}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join((f"{name}(", *(f"    {part}," for part in shown), f") -> {returns}"))


def _text(docstring: str | None) -> str:
    return inspect.cleandoc(docstring or "")
