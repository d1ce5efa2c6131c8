"""The table formats that there are, and the lookup of what is true of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from merge_runner.formats import Format
from merge_runner.formats.capabilities import Capabilities
from merge_runner.formats.delta.capabilities import DELTA
from merge_runner.formats.iceberg.capabilities import ICEBERG

_CAPABILITIES: Mapping[Format, Capabilities] = MappingProxyType(
    {table_format.name: table_format for table_format in (DELTA, ICEBERG)}
)

FORMATS: tuple[Format, ...] = tuple(_CAPABILITIES)
"""Every table format."""


def capabilities(format: Format) -> Capabilities:
    """Return what is true of a table format."""
    return _CAPABILITIES[format]


def table_format_of(name: str | None) -> Format | None:
    """Return a name as that of a table format; None for a format of plain files, or none."""
    return next((table_format for table_format in FORMATS if table_format == name), None)


def inferred_format(properties: Iterable[str], *, clustered: bool, transformed: bool) -> Format | None:
    """Return the only format in which a table can be `clustered` or partitioned by a transform, or have the properties.

    None where all can, or where several differ.
    """
    return next(
        (
            table_format
            for table_format in FORMATS
            if (clustered and capabilities(table_format).liquid_clustering)
            or (transformed and capabilities(table_format).partition_transforms)
            or any(key.lower().startswith(f"{table_format}.") for key in properties)
        ),
        None,
    )
