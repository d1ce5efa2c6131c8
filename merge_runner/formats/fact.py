"""One row of what a table format can do, and the statement that shows it on a real table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Format = Literal["delta", "iceberg"]
Prunes = Literal["yes", "no", "seldom"]
"""`seldom`: the engine can use it, but only where a file holds a single value, or nothing but NULL."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A condition in ON, and whether it keeps the engine from reading files.

    `subject` is what the judge looks up (a type, an operator, a transform…), `on` a condition over the columns of the
    probe table `table` (alias t) that shows it, `source` where the row was read or measured first.
    """

    subject: str
    prunes: Prunes
    on: str
    table: str
    source: str
