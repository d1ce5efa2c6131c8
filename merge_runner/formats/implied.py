"""What a config key sets for a model that says no more than the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Implied:
    """Table properties, and confs of the session that runs the MERGE. What the author writes by name wins over them."""

    properties: Mapping[str, str] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)
