"""The attempts of an orchestrator's run: one builds, the next ones retry what it has left undone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from merge_runner.atomic import open_to_append
from merge_runner.errors import ProblemsError
from merge_runner.integrations.figures import ENDED_WELL
from merge_runner.integrations.process import Event, Process, read_event
from merge_runner.project_file import Boundary, read_file
from merge_runner.run.results.previous_run import last_invocation

Start = Callable[[Sequence[str], Sequence[str]], Process]
"""Starts a command of merge-runner with arguments: `start(["build"], ["--select", "orders"])`."""


class Attempts:
    """A build of the run `key`, whose attempts share a file of what has happened in `target_path`/orchestrated."""

    def __init__(self, start: Start, target_path: Path, key: str) -> None:
        """Take what starts a command, the target folder of the project, and an id of the orchestrator's run."""
        self._start = start
        self._target = target_path
        self._notes = target_path / "orchestrated" / f"{sha256(key.encode()).hexdigest()[:20]}.jsonl"
        self.process: Process | None = None
        """The process, once `events` has started it."""

    def events(self, arguments: Sequence[str], attempt: int) -> Iterator[Event]:
        """Build with these arguments and yield the events; attempt 1 is the first.

        A later one begins with the results of the nodes that have ended well, and calls `retry` for the others where
        the last invocation of the target folder is that of the attempt before it. Else it builds again.
        """
        noted = self._noted() if attempt > 1 else []
        if noted and self._is_last(noted):
            last_events = {event["node"]: event for event in noted if event["event"] == "node_finished"}
            yield from (event for event in last_events.values() if event["result"]["status"] in ENDED_WELL)
            self.process = self._start(["retry"], ())
        else:
            self._notes.unlink(missing_ok=True)
            self.process = self._start(["build"], arguments)
        for event in self.process.events():
            if event["event"] in ("invocation_started", "node_finished"):
                self._note(event)
            yield event
        if self.process.returncode == 0:
            self._notes.unlink(missing_ok=True)

    def _note(self, event: Event) -> None:
        with open_to_append(self._notes, below=self._target) as file:
            file.write(f"{json.dumps(event)}\n".encode())

    def _noted(self) -> list[Event]:
        try:
            text = read_file(self._notes, Boundary(self._target), artifact=True).decode("utf-8")
            return [read_event(line) for line in text.splitlines()]
        except OSError:
            return []

    def _is_last(self, noted: Sequence[Event]) -> bool:
        """Return whether `retry` would go on with the last invocation of these, and has something to do."""
        ids = [event["invocation_id"] for event in noted if event["event"] == "invocation_started"]
        try:
            last = last_invocation(self._target)
        except ProblemsError:
            return False
        return bool(ids) and ids[-1] in last.invocations and bool(last.undone)
