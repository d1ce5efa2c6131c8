"""How a call in a template can end other than with a value."""

from __future__ import annotations

from typing import Any

from merge_runner.text import Place

ASKS_ENGINE = "asks-engine"
"""The code of a problem: the text depends on what a query returns, and no engine is there to ask."""


class MacroReturn(Exception):  # noqa: N818 (it is no error)
    """`return(value)` ends the macro that contains it."""

    def __init__(self, value: Any, place: Place) -> None:
        super().__init__()
        self.value = value
        self.place = place


class RefusedError(Exception):
    """A built-in or filter refuses its arguments; the rendering adds the place."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
