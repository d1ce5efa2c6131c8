"""The places of the keys and values of plain data, whatever kind of file they come from."""

from __future__ import annotations

from typing import Protocol

from merge_runner.text import Place

KeyPath = tuple[str | int, ...]
"""The way to a value in plain data: keys of mappings, indexes of lists."""


class Places(Protocol):
    """Knows the places of the keys and values of plain data, and how its scalars were written."""

    def place(self, path: KeyPath = ()) -> Place | None:
        """The place of the value at `path`, or of the closest one around it."""

    def key_place(self, path: KeyPath) -> Place | None:
        """The place of the key that `path` ends in; of the value where it ends in a list's index."""

    def text(self, path: KeyPath) -> str | None:
        """How the number, boolean or date at `path` was written, where that is known."""


class NoPlaces:
    """The places of data that come from no file: none is known."""

    def place(self, path: KeyPath = ()) -> None:
        """Return None."""

    def key_place(self, path: KeyPath) -> None:
        """Return None."""

    def text(self, path: KeyPath) -> None:
        """Return None."""
