"""The questions that are asked while a result is made, recorded where they are asked: the store keeps them with it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Question = tuple[str, str]
"""A kind (`var`, `env`, `macros`, `node` …) and a name. Its answer is what is read; None: there is no such thing."""

NEVER: Question = ("never", "")
"""A question with another answer each time: what asks it cannot be kept."""


class Reads(threading.local):
    """Records questions, in each thread for itself. Outside of a `collected` a question is not recorded.

    `enabled` False: none is.
    """

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled
        self._open: list[set[Question]] = []

    def note(self, questions: Iterable[Question]) -> None:
        """Record questions. A result that was made earlier and is used again brings those that it asked."""
        if self._open:
            self._open[-1].update(questions)

    @contextmanager
    def collected(self) -> Iterator[set[Question]]:
        """Return a set that gets the questions until the end; what is around gets them as well."""
        questions: set[Question] = set()
        if not self._enabled:
            yield questions
            return
        self._open.append(questions)
        try:
            yield questions
        finally:
            self._open.pop()
            self.note(questions)


class RecordedMapping(Mapping[str, Any]):
    """A mapping that records which names are looked up, those that it does not have as well."""

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
