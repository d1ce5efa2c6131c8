"""Values that Spark gives, without PySpark's own classes."""

from __future__ import annotations

from typing import Any


def plain_value(value: Any) -> Any:
    """The value with structs as mappings, at every depth."""
    if hasattr(value, "asDict"):
        return {name: plain_value(item) for name, item in value.asDict().items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {plain_value(name): plain_value(item) for name, item in value.items()}
    return value
