"""Values as JSON can hold them: what manifests, results and templates show of config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: mappings, sequences and dataclasses as they are, all else as text.

    Dates are in ISO 8601, and sets are sorted.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
