"""merge-runner as a process whose events are read while it runs. One process runs all nodes with one Spark driver."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from merge_runner.errors import Problem, ProblemsError
from merge_runner.python_process import python_command

Event = Mapping[str, Any]
THIS = tuple(python_command("merge_runner"))
"""The command that starts the merge-runner of this environment."""


class Process:
    """A command of merge-runner. `events` yields what it reports; then `returncode` is its exit code."""

    def __init__(self, command: Sequence[str], project_dir: str | Path, env: Mapping[str, str]) -> None:
        """Start it in the folder of the project, with these environment variables.

        Raises ProblemsError where there is no such executable or folder.
        """
        self.command = tuple(command)
        self._problems: list[str] = []
        self._plain: deque[str] = deque(maxlen=5)
        try:
            self._process = subprocess.Popen(
                self.command,
                cwd=project_dir,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # a Ctrl-C is the caller's: `stop` passes it on
            )
        except OSError as error:
            message = f"`{self.command[0]}` does not start in {project_dir}: {error}"
            raise ProblemsError([Problem("no-executable", message)]) from error

    def events(self) -> Iterator[Event]:
        """Yield its events (docs/reference/journal-events.md), and any other line as a `message`.

        It is stopped where the caller does not read to the end.
        """
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                event = read_event(line)
                if event.get("level") == "error":
                    self._problems += map(str, event.get("problems", [event["message"]] if "message" in event else []))
                elif "at" not in event:
                    self._plain.append(str(event["message"]))
                yield event
            self._process.wait()
        finally:
            self.stop()

    @property
    def returncode(self) -> int | None:
        """Its exit code: 0, 1 or 2 as in docs/reference/exit-codes.md; None while it runs."""
        return self._process.poll()

    def reason(self) -> str:
        """Return why it has failed, as it says: its problems, else the last lines that were no events."""
        return "\n".join(self._problems or self._plain) or f"exit status {self.returncode}"

    def stop(self, grace: float = 60.0) -> None:
        """End it as Ctrl-C does: what runs is cancelled, and its results are written. After `grace` seconds kill it.

        Nothing happens where it has ended.
        """
        for number, wait in ((signal.SIGINT, grace), (signal.SIGINT, 10.0), (signal.SIGKILL, None)):
            if self._process.poll() is not None:
                break
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.communicate(timeout=wait)
        if self._process.stdout is not None:
            self._process.stdout.close()


def read_event(line: str) -> Event:
    """Return the event of a line, or a `message` where it is none."""
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if isinstance(event, dict) and isinstance(event.get("event"), str):
        return event
    return {"event": "message", "level": "info", "message": line.rstrip("\n")}
