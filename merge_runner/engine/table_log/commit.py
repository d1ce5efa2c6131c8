"""A commit of a table, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Commit:
    """One commit: version (on Iceberg the snapshot's id), operation, the stamp it carries, metrics as text."""

    version: int
    operation: str
    stamp: str | None
    metrics: Mapping[str, str]
