"""Table properties: names and values by format, and what is wrong with one that is refused or never read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from merge_runner.formats import Format
from merge_runner.formats.lines import RECOMMENDED, Line


@dataclass(frozen=True, slots=True)
class PropertyFault:
    """What is wrong with a property. `refused`: CREATE TABLE or the first MERGE fails; `dead`: nothing reads it.

    `message` is one sentence without a full stop that names the property, `hint` says what to do.
    """

    kind: Literal["refused", "dead"]
    message: str
    hint: str | None = None
    unknown: bool = False
    """It is refused for its name."""


RESERVED: Mapping[str, str] = MappingProxyType(
    {
        "provider": 'the config key is "format"',
        "location": "the table lies in the warehouse, or where its catalog puts it",
        "owner": "Spark sets it to the user that runs",
        "external": "leave it out",
        "is_managed_location": "leave it out",
    }
)
"""Refused for every format, spelled exactly so (UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY, Spark 4.1.4)."""

ICEBERG_PREFIXES = ("write.", "read.", "commit.", "history.")
"""The prefixes of Iceberg's own names: nothing reads another name that begins so."""

_WITHOUT = " not:"
"""In the files of properties: what follows are the lines of Spark whose build of the format has it not."""
_YEARS = re.compile(r"\b(month|year)s?\b", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+\Z", re.ASCII)
_AT_LEAST = re.compile(r"int>=(-?\d+)\Z")


@cache
def known_properties(name: Format, line: Line = RECOMMENDED) -> Mapping[str, str]:
    """Return all properties of a format on a line of Spark by name, and what values they take.

    `boolean`, `interval` (of days and less), `int`, `int>=N`, `a|b`, `columns`, `feature` (supported, enabled), `text`
    (not looked at), `computed` (never set by hand), `reserved` (dropped silently). A name that ends in a dot is
    followed by a column.
    """
    text = files("merge_runner.formats").joinpath(f"{name}_properties.txt").read_text(encoding="utf-8")
    rows = (row.partition(_WITHOUT) for row in text.splitlines() if not row.startswith("#"))
    here = (row.partition(" ") for row, _, lines in rows if line.spark not in lines.split(","))
    return MappingProxyType({key: values for key, _, values in here})


def reserved(key: str) -> PropertyFault | None:
    """Return what is wrong with a property that Spark refuses for every format; None where it does not."""
    return PropertyFault("refused", f'Spark reserves the property "{key}"', RESERVED[key]) if key in RESERVED else None


def accepted_values(names: Mapping[str, str], key: str) -> str | None:
    """Return what values a property takes, of those of `known_properties`; None for one that is not."""
    values = names.get(key)
    if values is not None:
        return values
    return next((values for name, values in names.items() if name.endswith(".") and key.startswith(name)), None)


def value_fault(key: str, value: str, takes: str, columns: Collection[str] | None, system: str) -> PropertyFault | None:
    """Return what is wrong with the value of a property that `takes` such values; None where nothing is.

    `columns` are the names of the table's columns, None where they are not all known; `system` is named by messages.
    """
    if takes in ("text", "reserved"):
        return None
    if takes == "computed":
        return PropertyFault("refused", f'{system} computes "{key}" itself', "leave it out")
    requirement = _requirement(value.strip(), takes, columns)
    if requirement is None:
        return None
    setting = f'"{key}" = {value!r}' if takes != "columns" else f'"{key}"'
    hint = "open-source Delta has no WriteSerializable: leave it out" if takes == "Serializable" else None
    return PropertyFault("refused", f"{system} refuses {setting}: {requirement}", hint)


def _requirement(value: str, takes: str, columns: Collection[str] | None) -> str | None:
    """Return what the value must be, where it is something else."""
    if takes == "boolean":
        return None if value.lower() in ("true", "false") else "it must be true or false"
    if takes == "interval":
        bad = _NUMBER.match(value) or _YEARS.search(value)
        return "it must be an interval of weeks, days or less, such as 'interval 30 days'" if bad else None
    if takes == "feature":
        return None if value.lower() in ("supported", "enabled") else 'it must be "supported"'
    if takes == "columns":
        return _no_column(value, columns)
    if takes.startswith("int"):
        least = _AT_LEAST.match(takes)
        if not _NUMBER.match(value):
            return "it must be a whole number"
        return f"it must be at least {least[1]}" if least and int(value) < int(least[1]) else None
    allowed = takes.split("|")
    if value.lower() in (word.lower() for word in allowed):
        return None
    return f"it must be {' or '.join(allowed)}"


def _no_column(value: str, columns: Collection[str] | None) -> str | None:
    if columns is None or "`" in value:
        return None
    column_names = {name.casefold() for name in columns}
    for item in value.split(","):
        path = item.strip().casefold()
        # A field of a struct is named by its path; a column may have a dot in its own name.
        if path and path not in column_names and path.partition(".")[0] not in column_names:
            return f'the table has no column "{item.strip()}"'
    return None
