"""What `test --generate` and `test --mutate` do: write a first unit test, and check the unit tests of a model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import TypeVar

from merge_runner.api import EngineError
from merge_runner.api.project import Project
from merge_runner.cli.display.display import Display
from merge_runner.cli.display.messages import as_json, counted, say, show, show_text, styled
from merge_runner.cli.loading import load_project
from merge_runner.cli.node_commands import display_for
from merge_runner.options.nodes import NodeOptions
from merge_runner.run.model_tests.mutation import Change, MutationReport

_T = TypeVar("_T")


def generate_unit_test(name: str, options: NodeOptions) -> int:
    """Write a unit test of a model next to it, and print the file's path; return 1 where its inputs cannot be read."""
    path = _performed(options, lambda project, display: project.generate_unit_test(name, on_event=display))
    if path is None:
        return 1
    show(os.path.relpath(path))
    say("its rows are real ones: edit them before you commit the file")
    return 0


def mutate_model(model: str, options: NodeOptions) -> int:
    """Check the unit tests of a model by changes of its MERGE; return 1 where a survivor has no explanation."""
    threads = options.threads
    report = _performed(options, lambda project, display: project.mutate(model, threads=threads, on_event=display))
    if report is None:
        return 1
    if as_json():
        show(json.dumps(report.as_json()))
        return 0 if report.ok else 1
    for line in _lines(report):
        show_text(line)
    _say_sum(report)
    return 0 if report.ok else 1


def _performed(options: NodeOptions, work: Callable[[Project, Display], _T]) -> _T | None:
    """Return what `work` returns; None where the engine failed, after its error has been shown."""
    project = load_project(options, secrets=True)
    display = display_for(options, project.graph)
    try:
        return work(project, display)
    except EngineError as error:
        say(f"error: {error}", "error")
        return None
    finally:
        display.close()


def _lines(report: MutationReport) -> Iterator[str]:
    for test, why in report.failing.items():
        yield f"{test} does not pass as the model is: {why}"
    for change in report.changes:
        if change.noticed_by is None:
            yield f"{change.place or report.model}: {_fate(change)}: {change.words}"


def _fate(change: Change) -> str:
    return "survives" if change.explained is None else f"explained ({change.explained})"


def _say_sum(report: MutationReport) -> None:
    if report.failing:
        say(styled("nothing was changed: mend the tests first", fg="red", bold=True))
        return
    noticed_count = sum(change.noticed_by is not None for change in report.changes)
    survive = len(report.surviving)
    explained = len(report.changes) - noticed_count - survive
    words = f"{report.model}: {counted(len(report.changes), 'change')}, {noticed_count} noticed, {survive} survive"
    say(
        styled(words + (f", {explained} explained" if explained else ""), fg="green" if report.ok else "red", bold=True)
    )
