"""What a command line or a caller says about loading a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Flags:
    """What the command line or a caller says about every command; None: the project decides."""

    profile: str | None = None
    target: str | None = None
    profiles_dir: Path | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    target_path: str | None = None
    full_refresh: bool = False
    cache: bool = True
    """Whether what earlier runs kept is read, and what this one finds out is kept."""
    queries_only: bool = False
    """Whether templates that ask the engine may only read."""
