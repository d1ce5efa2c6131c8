"""One layout of several: declared over recorded, and what the models that write one table agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from merge_runner.pruning.layout.layout import TableColumn, TableLayout

T = TypeVar("T")


def over_recorded(layout: TableLayout, real: TableLayout) -> TableLayout:
    """A declared layout, with what is recorded of the real table where nothing is declared."""
    columns, complete = layout.columns, layout.complete
    if real.columns is not None:
        columns, complete = _columns(layout.columns or (), real.columns), True
    return replace(
        layout,
        format=layout.format or real.format,
        columns=columns,
        complete=complete,
        # A model that says nothing would create its table without; the one that is there may have been made otherwise.
        partition_by=_prefer_declared(layout.partition_by, real.partition_by),
        cluster_by=_prefer_declared(layout.cluster_by, real.cluster_by),
        sort_by=_prefer_declared(layout.sort_by, real.sort_by),
        statistics=real.statistics,
        properties={**real.properties, **layout.properties},
        unique=tuple(dict.fromkeys((*layout.unique, *real.unique))),
        files=real.files,
        bytes=real.bytes,
    )


def common_layout(layouts: Sequence[TableLayout]) -> TableLayout:
    """What is known of a table that has one of these layouts: only what they agree on."""
    first = layouts[0]
    properties = {
        key: value
        for key, value in first.properties.items()
        if all(layout.properties.get(key) == value for layout in layouts)
    }
    same_columns = all(layout.columns == first.columns for layout in layouts)
    same_properties = all(layout.properties == first.properties for layout in layouts)
    return TableLayout(
        format=first.format if all(layout.format == first.format for layout in layouts) else None,
        columns=first.columns if same_columns else None,
        complete=same_columns and all(layout.complete for layout in layouts),
        partition_by=first.partition_by
        if all(layout.partition_by == first.partition_by for layout in layouts)
        else None,
        cluster_by=first.cluster_by if all(layout.cluster_by == first.cluster_by for layout in layouts) else None,
        sort_by=first.sort_by if all(layout.sort_by == first.sort_by for layout in layouts) else None,
        indexed=first.indexed if same_properties else None,
        properties=properties,
        unique=tuple(dict.fromkeys(key for layout in layouts for key in layout.unique)),
    )


def _columns(columns: Sequence[TableColumn], real: Sequence[TableColumn]) -> tuple[TableColumn, ...]:
    """The real columns in their order, with what is declared of them; declared ones that are not there come last."""
    own = {column.name.casefold(): column for column in columns}
    names = {column.name.casefold() for column in real}
    merged = []
    for column in real:
        declaration = own.get(column.name.casefold(), column)
        merged.append(
            TableColumn(
                declaration.name,
                declaration.data_type or column.data_type,
                column.nullable if declaration.nullable is None else declaration.nullable,
                declaration.generated or column.generated,
                declaration.filled or column.filled,
                declaration.identity or column.identity,
            )
        )
    return (*merged, *(column for column in columns if column.name.casefold() not in names))


def _prefer_declared(declared: tuple[T, ...] | None, real: tuple[T, ...] | None) -> tuple[T, ...] | None:
    return declared if declared or real is None else real
