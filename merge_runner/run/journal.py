"""The journal: one JSON line for each event, appended and flushed, so that a killed run is never lost."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

from merge_runner.run.events import Event


class Journal:
    """Appends events to `target/journal.jsonl`; a listener of Events. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _end_torn_line(path)
        self._file = path.open("a", encoding="utf-8")

    def __call__(self, event: Event) -> None:
        self._file.write(json.dumps(event.as_json(), default=str) + "\n")
        self._file.flush()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _end_torn_line(path: Path) -> None:
    """A run that was killed while it wrote leaves half a line; the next event must not be glued to it."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb+") as file:
        file.seek(-1, 2)
        if file.read(1) != b"\n":
            file.write(b"\n")
