"""What the properties of a table say about which of its columns have file statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from merge_runner.pruning.layout.layout import TableLayout


def with_properties(layout: TableLayout, properties: Mapping[str, str]) -> TableLayout:
    """The layout with these properties added to its properties, and the columns with statistics that they name.

    On Delta `delta.dataSkippingStatsColumns` counts before `delta.dataSkippingNumIndexedCols` (DeltaConfig.scala);
    the properties of Iceberg are read where they are needed (`iceberg_metrics`).
    """
    if properties:
        layout = replace(layout, properties={**layout.properties, **properties})
    names = layout.capabilities.statistics_properties if layout.capabilities is not None else None
    if not layout.properties or names is None:
        return layout
    folded = {key.lower(): value for key, value in layout.properties.items()}
    column_list = folded.get(names.columns)
    if column_list is not None:
        return replace(layout, statistics=_names(column_list))
    count = folded.get(names.count)
    return replace(layout, indexed=_number(count)) if count is not None else layout


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _names(text: str) -> tuple[str, ...]:
    """Names with commas between; one in backquotes may hold a comma."""
    names: list[str] = []
    in_backquotes = False
    current = ""
    for character in text:
        if character == "`":
            in_backquotes = not in_backquotes
        elif character == "," and not in_backquotes:
            names.append(current.strip())
            current = ""
            continue
        else:
            current += character
    return tuple(name for name in (*names, current.strip()) if name)
