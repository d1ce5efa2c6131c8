"""What messages call the type of a template's value."""

from __future__ import annotations

from typing import Any

from merge_runner.relation import Relation


def kind(value: Any) -> str:
    """Python's name of the type, as template authors know it (str, int, list …); a table; a function or macro."""
    if isinstance(value, Relation):
        return "table"
    if callable(value) and not isinstance(value, int):
        return "function or macro"
    return type(value).__name__
