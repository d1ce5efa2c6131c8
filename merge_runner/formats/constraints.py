"""What ALTER cannot do to the constraints of an existing table, and what to do instead, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from merge_runner.formats import Format


@dataclass(frozen=True, slots=True)
class Unalterable:
    """Why a format cannot alter something, as a message with the fix; None: it can. `{}` is the column."""

    not_null: str
    generated: str
    default: str | None = None
    check: str | None = None


_RECREATE = "build with --full-refresh"
_GENERATED = f"no ALTER changes how a column is generated; {_RECREATE}"

UNALTERABLE: Mapping[Format, Unalterable] = MappingProxyType(
    {
        "delta": Unalterable(
            f"no ALTER of Delta does that; declare the check `{{}} is not null`, or {_RECREATE}", _GENERATED
        ),
        "iceberg": Unalterable(
            f"no ALTER of Iceberg does that; {_RECREATE}",
            _GENERATED,
            default="no statement of Spark gives an Iceberg table a default; compute it in USING",
            check="Iceberg has no CHECK; test the rows with expression_is_true",
        ),
    }
)
"""Tried on Spark 4.1.4, Delta 4.4.0, Iceberg 1.12.0 (versions 2 and 3); tests/engine/tables/constraint_drift.yml.

Spark itself refuses SET NOT NULL on a nullable column (_LEGACY_ERROR_TEMP_2330), whatever its rows hold; DROP NOT NULL
works on both. SET DEFAULT and ADD CONSTRAINT on Iceberg: "Cannot apply unknown table change".
"""
