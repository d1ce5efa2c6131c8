"""What a run of a command adds to the files of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Invocation:
    """What an invocation adds to the files: the environment, and whether targets are rebuilt.

    `incremental`: the tables of merge models count as built before, so that their `is_incremental()` is true.
    `macros` are results that replace those of the project's macros of these names.
    """

    env: Mapping[str, str]
    full_refresh: bool = False
    incremental: bool = True
    macros: Mapping[str, Any] = field(default_factory=dict)
