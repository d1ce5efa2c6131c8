"""The journal: one JSON line for each event, in the file before anything else happens: a killed run is never lost."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

from merge_runner.atomic import open_to_append
from merge_runner.run.results.events import Event


class Journal:
    """Appends events to `target/journal.jsonl`; a listener of Events. Use as a context manager.

    An event that cannot be written (a full disk) does not stop the run: it has happened anyway. `failure` is the reason
    of the first one. Raises OSError where the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failure: OSError | None = None
        self._file = open_to_append(path)
        self._torn = _ends_torn(path)

    def __call__(self, event: Event) -> None:
        line = json.dumps(event.as_json(), default=str).encode() + b"\n"
        left = b"\n" + line if self._torn else line
        try:
            while left:
                size = self._file.write(left)  # a disk that is getting full takes a part
                self._torn, left = True, left[size:]
            self._torn = False
        except OSError as error:
            self.failure = self.failure or error

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _ends_torn(path: Path) -> bool:
    """A run that was killed while it wrote leaves half a line; the next event must not be glued to it."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) != b"\n"
