"""What the author of an imported dbt project has to decide, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from merge_runner.text import Place, place_as_json

_SUBJECT = re.compile(r"^(?:unit test|model|seed|source|snapshot|exposure|analysis) [^:]*: ")
Kind = Literal["left-out", "decide", "finding"]
"""`left-out`: something of dbt that is not in the new project; `decide`: what may have to be another way; `finding`:
what lint reports of a MERGE, which the baseline hides."""


@dataclass(frozen=True)
class Todo:
    """One decision: `place` is in the dbt project; `at` is where the new one has its TODO, or what lint found."""

    kind: Kind
    message: str
    place: Place | None = None
    hint: str | None = None
    at: Place | None = None
    model: str | None = None
    """The model that is left out, where it is one."""
    warns: bool = False
    """Whether a decision is shown when the project is imported, since rows depend on it."""

    @property
    def text(self) -> str:
        """What is to be decided, and what can be done."""
        return self.message + (f": {self.hint}" if self.hint else "")

    @property
    def reason(self) -> str:
        """The message without the name of what it is about: what is left out is counted by it."""
        message = self.message.partition("\n")[0]
        if self.model is not None:
            message = re.sub(rf"\b{re.escape(self.model)}\b", "a model", message)
        return _SUBJECT.sub("", message)

    def as_json(self) -> dict[str, Any]:
        """The entry of the report."""
        return {
            "kind": self.kind,
            "message": self.message,
            "hint": self.hint,
            "place": place_as_json(self.place) if self.place is not None else None,
            "at": place_as_json(self.at) if self.at is not None else None,
        }


def in_file(path: str) -> Place:
    """Return the place of a file in the new project whose TODO has no line yet."""
    return Place(path, 0, 0)


class LeftOutError(Exception):
    """What dbt does for a model has no MERGE that is known to do the same; the text says why, `hint` what to write."""

    def __init__(self, reason: str, hint: str | None, place: Place) -> None:
        super().__init__(reason)
        self.hint = hint
        self.place = place
