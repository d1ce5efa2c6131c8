"""The page of the runs that are kept, as one value and as HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from merge_runner.atomic import write_atomic
from merge_runner.pages.html import page
from merge_runner.pages.runs.comparison import RUNS, changes
from merge_runner.pages.runs.history import KeptRun, kept_runs

FILE = "run_report.html"
SHOWN = 30
"""Runs on the page; more are kept."""
_BYTES = 6_000_000
"""Gzipped records on the page: a browser opens it in less than a second."""


def write_report(target: Path, file: Path | None = None) -> Path | None:
    """Write the page of the runs that are kept in a target folder, and return its path; None where none is kept."""
    runs: list[KeptRun] = []
    size = 0
    for run in kept_runs(target, SHOWN):
        size += len(run.packed)
        if runs and size > _BYTES:
            break
        runs.append(run)
    if not runs:
        return None
    path = file if file is not None else target / FILE
    write_atomic(path, runs_page(runs))
    return path


def runs_page(runs: Sequence[KeptRun]) -> str:
    """Return the page of some runs, newest first."""
    records = [run.record for run in runs]
    newest = records[0]
    title = f"{newest['command']} of {newest['project']} · merge-runner"
    return page(title, "runs", runs_data(records), [run.packed for run in runs])


def runs_data(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the page always has: a line for each run, the changes of the newest, and each node's history."""
    newest = records[0]
    return {
        "project": newest["project"],
        "target": newest["target"],
        "runs": [_line(record) for record in records],
        "changes": [difference.as_json() for difference in changes(newest, comparable(newest, records[1:]))],
        "history": _history(records),
    }


def comparable(run: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The earlier runs in the same target that a run is compared with."""
    return [record for record in earlier if record["target"] == run["target"]][:RUNS]


def _line(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{key: record.get(key) for key in ("id", "command", "started_at", "seconds", "ok", "threads", "target")},
        "counts": dict(Counter(node["status"] for node in record["nodes"])),
        "nodes": len(record["nodes"]),
    }


def _history(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """By node, for each run, newest first: status, seconds, files scanned, files of the target; 0: it did not run."""
    by_node: dict[str, list[Any]] = {}
    for number, record in enumerate(records):
        for node in record["nodes"]:
            response = node.get("response") or {}
            entry = [node["status"], node.get("seconds"), response.get("files_scanned"), response.get("files_total")]
            by_node.setdefault(node["id"], [0] * len(records))[number] = entry
    return {node: entries for node, entries in by_node.items() if not _is_test(node)}


def _is_test(unique_id: str) -> bool:
    return unique_id.startswith(("test.", "unit_test."))
