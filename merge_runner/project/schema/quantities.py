"""Types of keys whose value is a number, or a text with a unit."""

from __future__ import annotations

from typing import Annotated

from merge_runner.project.schema.accepts import Exactly
from merge_runner.project.syntax.annotations import Before
from merge_runner.project.syntax.duration import PATTERN as DURATION
from merge_runner.project.syntax.duration import seconds
from merge_runner.project.syntax.size import PATTERN as SIZE
from merge_runner.project.syntax.size import byte_count

Seconds = Annotated[
    float,
    Before(seconds),
    Exactly({"type": ["number", "string"], "exclusiveMinimum": 0, "pattern": rf"^\s*{DURATION}\s*$"}),
]
"""Seconds above 0, or a text with a unit."""

Size = Annotated[
    int, Before(byte_count), Exactly({"type": ["integer", "string"], "minimum": 0, "pattern": rf"^\s*{SIZE}\s*$"})
]
"""A whole number of bytes, or a text with a unit."""
