"""The table formats by their names. A running driver passes them on (`Driver.table_format`)."""

from __future__ import annotations

from collections.abc import Mapping

from merge_runner.engine.table_format.delta.delta_format import DeltaFormat
from merge_runner.engine.table_format.iceberg.iceberg_format import IcebergFormat
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.formats import DEFAULT, Format

_FORMATS: Mapping[Format, TableFormat] = {"delta": DeltaFormat(), "iceberg": IcebergFormat()}


def table_format(name: Format | None) -> TableFormat:
    """Return the table format of a name; None, a format that is not known, is Delta."""
    return _FORMATS[name or DEFAULT]
