"""What is read while something is made, noted where it is read: what was made can be kept with it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Question = tuple[str, str]
"""A kind (`var`, `env`, `macros`, `node` …) and a name. Its answer is what is read; None: there is no such thing."""

NEVER: Question = ("never", "")
"""What has another answer each time: it cannot be kept."""


class Reads(threading.local):
    """Notes of what is read, in each thread for itself. Without a `collected` around it a note has no effect.

    `wanted` False: nothing is noted at all.
    """

    def __init__(self, wanted: bool = True) -> None:
        self._wanted = wanted
        self._open: list[set[Question]] = []

    def note(self, questions: Iterable[Question]) -> None:
        """Note that the questions were asked; what was made earlier and is used again is noted again as well."""
        if self._open:
            self._open[-1].update(questions)

    @contextmanager
    def collected(self) -> Iterator[set[Question]]:
        """Return a set that gets what is noted until the end, which is noted around it then, too."""
        found: set[Question] = set()
        if not self._wanted:
            yield found
            return
        self._open.append(found)
        try:
            yield found
        finally:
            self._open.pop()
            self.note(found)


class Asked(Mapping[str, Any]):
    """A mapping that notes which names it was asked for, those that it does not have as well."""

    def __init__(self, values: Mapping[str, Any], kind: str, reads: Reads) -> None:
        self._values = values
        self._kind = kind
        self._reads = reads

    def __getitem__(self, name: str) -> Any:
        self._reads.note([(self._kind, name)])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        # Only the message of a Problem looks at all names, and what raises one is not kept.
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
