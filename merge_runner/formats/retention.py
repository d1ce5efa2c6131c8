"""How long a table keeps what its newest version no longer needs: by a property, else by the format's default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

DAY = 86_400.0
"""In seconds."""


@dataclass(frozen=True, slots=True)
class Retention:
    """The table property that sets it, the seconds where it is not set, and how its value is read.

    `read` returns seconds; None for a value that cannot be read.
    """

    property: str
    default: float
    read: Callable[[str], float | None]

    def kept(self, properties: Mapping[str, str]) -> float:
        """Return the seconds for which a table with these properties keeps what is no longer needed.

        A value that cannot be read counts as not set: the engine refuses it.
        """
        said = next((value for key, value in properties.items() if key.lower() == self.property.lower()), None)
        found = self.read(said) if said is not None else None
        return self.default if found is None else found
