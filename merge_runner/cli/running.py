"""What `build`, `run` and `test` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from merge_runner.cli.display import JsonDisplay, TextDisplay
from merge_runner.cli.options import deferred, load_project, selected
from merge_runner.run.build import Command, Options, build
from merge_runner.run.events import Events

_KEPT = (
    *("select", "exclude", "selector", "state", "defer", "threads", "fail_fast"),
    *("full_refresh", "target", "vars_text", "warn_error"),
)


def run_command(name: Command, options: dict[str, Any]) -> int:
    """Runs the selected nodes; the exit status is 1 where something failed, or warned under --warn-error."""
    project = load_project(options)
    ids = selected(project, options)
    project = deferred(project, ids, options)
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
