"""What the properties of a Delta table say about its file statistics; Iceberg's are read where they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from merge_runner.pruning.layout.layout import TableLayout


def with_properties(layout: TableLayout, properties: Mapping[str, str]) -> TableLayout:
    """The layout with these properties added to its properties, and the columns with statistics that they name.

    `delta.dataSkippingStatsColumns` counts before `delta.dataSkippingNumIndexedCols` (DeltaConfig.scala).
    """
    if properties:
        layout = replace(layout, properties={**layout.properties, **properties})
    if not layout.properties or layout.format != "delta":
        return layout
    # Delta compares the names of its properties without case.
    folded = {key.lower(): value for key, value in layout.properties.items()}
    named = folded.get("delta.dataskippingstatscolumns")
    if named is not None:
        return replace(layout, statistics=_names(named))
    count = folded.get("delta.dataskippingnumindexedcols")
    return replace(layout, indexed=_number(count)) if count is not None else layout


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _names(text: str) -> tuple[str, ...]:
    """Names with commas between; one in backquotes may hold a comma."""
    names: list[str] = []
    quoted = False
    current = ""
    for character in text:
        if character == "`":
            quoted = not quoted
        elif character == "," and not quoted:
            names.append(current.strip())
            current = ""
            continue
        else:
            current += character
    return tuple(name for name in (*names, current.strip()) if name)
