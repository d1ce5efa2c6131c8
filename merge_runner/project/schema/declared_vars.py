"""The types of vars: one that pyproject.toml declares as a number, a date or a boolean takes no other value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, TypeAlias

from merge_runner.errors import Problems
from merge_runner.project.syntax.secret_names import secret_vars, secrets_in_url
from merge_runner.project.syntax.toml_tree import TomlTree

VarType: TypeAlias = Literal["boolean", "number", "date", "timestamp"]

_EXAMPLES: Mapping[VarType, str] = {
    "boolean": "true",
    "number": "15",
    "date": "2026-01-31",
    "timestamp": "2026-01-31 12:00:00",
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SHOWN = 60
"""As many characters of a value are shown."""


def var_type(value: Any) -> VarType | None:
    """Return the type of a value that is checked and spliced by it; None for a text, a list, a table and NaN."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number" if math.isfinite(value) else None
    if isinstance(value, datetime):
        return "timestamp"
    return "date" if isinstance(value, date) else None


def typed_vars(
    declared: Mapping[str, Any], overrides: Mapping[str, Any], places: TomlTree | None, problems: Problems
) -> dict[str, Any]:
    """Return the declared vars with those that --vars gives instead, as `read_var_values` reads them."""
    values, refused = read_var_values(declared, overrides, places)
    for refusal in refused:
        hint = f"write --vars '{refusal.name}: {refusal.example}', or {refusal.otherwise}"
        problems.add("invalid-vars", f"--vars: {refusal.message}", None, hint)
    return {**declared, **values}


@dataclass(frozen=True)
class RefusedVar:
    """A value of another type than the var is declared with: what is wrong, and a value of the declared type."""

    name: str
    message: str
    example: str
    otherwise: str = "declare the var as a text, in quotes, if it may be any"


def read_var_values(
    declared: Mapping[str, Any], overrides: Mapping[str, Any], places: TomlTree | None
) -> tuple[dict[str, Any], list[RefusedVar]]:
    """Return the values that an invocation or a unit test gives to vars, and those that are refused.

    A text that reads as a value of the declared type (`"15"`, as schedulers pass it) is that value. What is of another
    type is refused with a message that names the declaration and shows the value, unless that may be a secret.
    """
    values, refused = dict(overrides), []
    for name, value in overrides.items():
        declared_type = var_type(declared[name]) if name in declared else None
        if declared_type is None or var_type(value) == declared_type:
            continue
        typed_value = _read(value, declared_type) if isinstance(value, str) else None
        if typed_value is not None:
            values[name] = typed_value
            continue
        at = f" in {places.key_place(('vars', name))}" if places is not None else ""
        message = (
            f'the var "{name}" is declared as a {declared_type}{at}, and {_why_refused(name, value, declared_type)}'
        )
        refused.append(RefusedVar(name, message, _EXAMPLES[declared_type]))
    return values, refused


def _why_refused(name: str, value: Any, declared_type: VarType) -> str:
    """Return what is wrong with a value, which is shown unless the var's name or a URL says that it is secret."""
    text = value if isinstance(value, str) else str(value)
    if [*secret_vars({name: text}), *secrets_in_url(text)]:
        return "another value is given"
    day = _DAY.match(text.strip())
    if day is not None and declared_type in ("date", "timestamp") and _read(day[0], "date") is None:
        return f"there is no such day: {day[0]}"
    return f"the value given is {text!r}" if len(text) <= _SHOWN else f"the value given is {text[:_SHOWN]!r}…"


def _read(text: str, declared_type: VarType) -> Any:
    try:
        if declared_type == "date":
            return date.fromisoformat(text)
        if declared_type == "timestamp":
            return datetime.fromisoformat(text)
        if declared_type == "boolean":
            return {"true": True, "false": False}.get(text.strip().lower())
        number = float(text)
        return int(text) if text.strip().lstrip("+-").isdigit() else number if math.isfinite(number) else None
    except ValueError:
        return None
