"""The last invocation, read from its artifacts: its arguments, what it has left undone, and how long nodes took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any, get_args

from merge_runner.errors import Problem, ProblemsError
from merge_runner.options.recorded_options import check_recorded_options
from merge_runner.plan.batches.window import Window, parsed_window
from merge_runner.project.syntax.point_in_time import read_time
from merge_runner.project_file import Boundary, read_file, read_json
from merge_runner.run.results.results import Command, Status

_UNDONE = frozenset({"error", "fail", "partial success", "skipped"})
_COMMANDS: Mapping[str, Command] = {command: command for command in get_args(Command)}


@dataclass(frozen=True)
class LastInvocation:
    """`command` and `args` as they were given; `undone` are the nodes that failed, were skipped or never ended.

    `started_nodes` are those of them whose statement may have run: what it has committed carries the stamp of one of
    `invocations`. A node that was left over before has begun in one of these, whether
    or not it did again; and of a killed run the last lines may be missing.
    """

    id: str
    command: Command
    args: Mapping[str, Any]
    undone: tuple[str, ...]
    started_nodes: frozenset[str]
    batches_done: Mapping[str, tuple[Window, ...]] = field(default_factory=dict)
    """The batches that succeeded, by model."""
    started_at: datetime | None = None
    """When it began; None: it does not say."""

    @property
    def invocations(self) -> tuple[str, ...]:
        """Its own id, and those of the invocations that it went on with."""
        return (self.id, *self.args.get("retried", ()))


def last_invocation(target: Path) -> LastInvocation:
    """Reads `run_results.json` of the folder, or `journal.jsonl` where a run was killed before it could write results.

    Raises ProblemsError where there is neither, or where they cannot be read.
    """
    killed = _killed_invocation(target / "journal.jsonl")
    path = target / "run_results.json"
    try:
        text = read_file(path, Boundary(target), artifact=True).decode("utf-8")
    except FileNotFoundError:
        if killed is None:
            raise ProblemsError(
                [Problem("no-run-results", f"there is no {path}: nothing has been run yet", hint=_HINT)]
            ) from None
        return killed
    except (OSError, UnicodeDecodeError) as error:
        raise ProblemsError([Problem("no-run-results", f"{path} cannot be read: {error}", hint=_HINT)]) from error
    if killed is not None and killed.id not in text:
        return killed
    with _reading(path):
        return _of_results(json.loads(text))


_HINT = "run `merge-runner build` first: retry goes on with what it has left"


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever the file holds instead of what a run writes is one problem."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problem = Problem("no-run-results", f"{path} is not what a run has written", hint=_HINT)
        raise ProblemsError([problem]) from error


def _args(arguments: Any) -> dict[str, Any]:
    """Return the arguments of an invocation. Raise TypeError or ValueError for what no invocation keeps."""
    args = dict(arguments)
    check_recorded_options(args)
    invocations = args.get("retried", [])
    if not isinstance(invocations, list) or not all(isinstance(node, str) for node in invocations):
        raise TypeError("retried")
    return args


def _node(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(value)
    return value


def _status(value: Any) -> str:
    if value not in get_args(Status):
        raise ValueError(value)
    return str(value)


def _check_no_stream(command: str) -> None:
    if command == "stream":
        hint = "start it again with `merge-runner stream`: what did not end well comes again by itself"
        raise ProblemsError([Problem("no-run-results", "the last invocation was a stream", hint=hint)])


def _of_results(document: Any) -> LastInvocation:
    args = _args(document["args"])
    which = args.pop("which")
    _check_no_stream(which)
    command = _COMMANDS[which]
    results = [(_node(entry["unique_id"]), _status(entry["status"])) for entry in document["results"]]
    started_statuses = _UNDONE if args.get("retried") else {"error", "partial success"}
    return LastInvocation(
        _node(document["metadata"]["invocation_id"]),
        command,
        args,
        tuple(node for node, status in results if status in _UNDONE),
        frozenset(node for node, status in results if status in started_statuses),
        {
            _node(entry["unique_id"]): done
            for entry in document["results"]
            if (done := _windows_done(entry.get("adapter_response", {}).get("batches", ())))
        },
        _time(document["metadata"].get("invocation_started_at")),
    )


def _time(text: Any) -> datetime | None:
    return read_time(text) if isinstance(text, str) else None


def _windows_done(batches: Iterable[Mapping[str, Any]]) -> tuple[Window, ...]:
    """Return the batches of a result that succeeded. Raise ValueError for what no run writes."""
    done = []
    for batch in batches:
        window = parsed_window(f"{batch['start']}/{batch['end']}")
        if window is None:
            raise ValueError("batches")
        if _status(batch["status"]) not in _UNDONE:
            done.append(window)
    return tuple(done)


def _killed_invocation(journal: Path) -> LastInvocation | None:
    """The last invocation of a journal, if it never came to an end; one that could not start leaves the one before."""
    with _reading(journal):
        return _of_journal(journal)


def _of_journal(journal: Path) -> LastInvocation | None:
    before: tuple[Mapping[str, Any] | None, list[dict[str, Any]]] = (None, [])
    started, since = before
    for event in _events(journal):
        name = event.get("event")
        if name == "invocation_started":
            before, started, since = (started, since), event, []
        elif name == "invocation_failed":
            started, since = before
        elif name == "invocation_finished":
            started = None
        elif name in ("node_started", "node_batch_finished", "node_finished"):
            since.append(event)
    if started is None:
        return None
    _check_no_stream(started["command"])
    if started["command"] not in _COMMANDS:
        return None
    statuses = {
        _node(event["node"]): _reported_status(event) for event in since if event["event"] != "node_batch_finished"
    }
    batches: dict[str, list[Mapping[str, Any]]] = {}
    for event in since:
        if event["event"] == "node_batch_finished":
            batches.setdefault(_node(event["node"]), []).append(event["batch"])
    if not isinstance(started["nodes"], list):
        raise TypeError("nodes")
    nodes = tuple(map(_node, started["nodes"]))
    undone = tuple(node for node in nodes if statuses.get(node) is None or statuses[node] in _UNDONE)
    return LastInvocation(
        _node(started["invocation_id"]),
        _COMMANDS[started["command"]],
        _args(started["args"]),
        undone,
        frozenset(undone),
        {node: _windows_done(entries) for node, entries in batches.items()},
        _time(started.get("at")),
    )


def _reported_status(event: Mapping[str, Any]) -> str | None:
    """The outcome of the node of an event; None: it has begun."""
    return None if event["event"] == "node_started" else _status(event["result"]["status"])


def _events(journal: Path) -> Iterator[dict[str, Any]]:
    """The events of a journal; the line that a killed run was writing may be torn."""
    try:
        content = read_file(journal, Boundary(journal.parent), artifact=True)
        lines = content.decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def recorded_durations(run_results: Path) -> dict[str, float]:
    """Seconds by node id of the nodes that ran to their end in an earlier run_results.json; empty without one.

    A file that cannot be read costs the better order and nothing else.
    """
    try:
        entries = read_json(run_results, Boundary(run_results.parent))["results"]
        durations = {
            str(entry["unique_id"]): float(entry["execution_time"])
            for entry in entries
            if entry["status"] in ("success", "pass", "warn", "no-op")
        }
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return {}
    return {node: seconds for node, seconds in durations.items() if isfinite(seconds)}
