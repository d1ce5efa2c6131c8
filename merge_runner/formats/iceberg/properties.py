"""Which table properties Iceberg refuses, and which ones it takes and never reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from merge_runner.errors import nearest
from merge_runner.formats.lines import Line
from merge_runner.formats.properties import (
    ICEBERG_PREFIXES,
    PropertyFault,
    accepted_values,
    known_properties,
    reserved,
    value_fault,
)


def property_fault(key: str, value: str, columns: Collection[str] | None, line: Line) -> PropertyFault | None:
    """Return what is wrong with a property of an Iceberg table on a line of Spark; None where nothing is.

    `columns` are the names of the table's columns, None where they are not all known.
    """
    if (fault := reserved(key)) is not None:
        return fault
    names = known_properties("iceberg", line)
    values = accepted_values(names, key)
    if values == "reserved":
        return PropertyFault("dead", f'Iceberg sets "{key}" itself and drops what is written', "leave it out")
    if values is not None:
        prefix = next((name for name in names if name.endswith(".") and key.startswith(name)), "")
        return value_fault(key, key.removeprefix(prefix) if values == "columns" else value, values, columns, "Iceberg")
    folded = key.lower()
    if folded.startswith("delta."):
        hint = _FOR.get(folded)
        return PropertyFault("dead", f'"{key}" is a property of Delta: Iceberg does not read it', hint)
    if not folded.startswith(ICEBERG_PREFIXES):
        return None
    close = folded if folded in names else nearest(folded, names)
    return PropertyFault(
        "dead", f'Iceberg does not read the property "{key}"', f'did you mean "{close}"?' if close else None
    )


_FOR: Mapping[str, str] = MappingProxyType(
    {
        "delta.enabledeletionvectors": "write.merge.mode = merge-on-read with format-version = 3 has deletion vectors",
        "delta.autooptimize.optimizewrite": "write.distribution-mode says how rows are spread over files",
        "delta.dataskippingnumindexedcols": "write.metadata.metrics.max-inferred-column-defaults does it",
    }
)
