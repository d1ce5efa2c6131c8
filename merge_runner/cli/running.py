"""What `build`, `run` and `test` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.cli.display import JsonDisplay, TextDisplay
from merge_runner.cli.messages import counted, say
from merge_runner.cli.options import deferred, load_project, selected
from merge_runner.cli.problems import show_problems
from merge_runner.errors import Problem
from merge_runner.run.build import Command, Options, build
from merge_runner.run.events import Events

if TYPE_CHECKING:
    from merge_runner.api import Project

_KEPT = (
    *("select", "exclude", "selector", "state", "defer", "threads", "fail_fast"),
    *("full_refresh", "target", "vars_text", "warn_error"),
)


def _passes_lint(project: Project, ids: Sequence[str], options: dict[str, Any]) -> bool:
    """Whether lint finds no error in the models; what it finds is told on standard error."""
    from merge_runner.lint.run import lint_project

    report = lint_project(project.prepared, ids)
    grave = ("error", "warning") if options["warn_error"] else ("error",)
    found = [finding for finding in report.findings if finding.severity in grave]
    if found:
        show_problems([Problem(f"{each.code} {each.name}", each.message, each.place, each.hint) for each in found])
        say(
            f"{counted(len(found), 'finding')} of lint, and nothing has run: `merge-runner lint` shows them in full, "
            "`build --no-lint` builds nevertheless",
            "error",
        )
    return not found


def run_command(name: Command, options: dict[str, Any]) -> int:
    """Runs the selected nodes; the exit status is 1 where something failed, or warned under --warn-error."""
    project = load_project(options)
    ids = selected(project, options)
    project = deferred(project, ids, options)
    if name == "build" and not options["no_lint"] and not _passes_lint(project, ids, options):
        return 1
    display = (
        JsonDisplay(options["quiet"])
        if options["log_format"] == "json"
        else TextDisplay(options["quiet"], options["debug"])
    )
    run = Options(
        threads=options["threads"],
        fail_fast=options["fail_fast"],
        args={key: str(value) if isinstance(value := options[key], Path) else value for key in _KEPT},
        observe=display.observe,
    )
    try:
        results = build(project.prepared, ids, name, run, Events(display))
    finally:
        display.close()
    warned = any(result.warnings or result.status == "warn" for result in results.results)
    return 0 if results.ok and not (warned and options["warn_error"]) else 1
