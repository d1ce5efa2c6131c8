"""The report of an import from dbt: import_report.md for people, import_report.json for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from merge_runner.conversion.dbt.conversion import Files
from merge_runner.conversion.dbt.todo import Kind, Todo

MARKDOWN = "import_report.md"
JSON = "import_report.json"

_SECTIONS: Sequence[tuple[Kind, str, str]] = (
    ("left-out", "Left out", "Not in the new project. A model that is left out is a table of the source `dbt`."),
    ("decide", "To decide", "The place in the dbt project → the TODO in the new one."),
    ("finding", "What lint reports", "Errors are in the baseline: dbt's MERGE has them as well."),
)


def markdown(files: Files) -> str:
    """Return the report as Markdown."""
    lines = ["# Imported from dbt", "", "| model | was | is | from |", "|---|---|---|---|"]
    lines += [f"| {model.path} | {model.dbt} | {model.materialized} | {model.place} |" for model in files.models]
    for kind, title, note in _SECTIONS:
        todos = [todo for todo in files.todos if todo.kind == kind]
        lines += ["", f"## {title}", ""]
        lines += [note, "", *map(_line, todos)] if todos else ["Nothing."]
    return "\n".join(lines) + "\n"


def as_json(files: Files) -> str:
    """Return the report as JSON. A todo has a `place` in the dbt project, and `at` in the new one, or null."""
    report = {
        "version": 1,
        "models": [model.as_json() for model in files.models],
        "todos": [todo.as_json() for todo in files.todos],
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def _line(todo: Todo) -> str:
    where = " → ".join(str(place) for place in (todo.place, todo.at) if place is not None)
    text = todo.message if todo.kind == "finding" else todo.text
    return f"- [ ] {where}: {text}" if where else f"- [ ] {text}"
