"""What a generated column is made of."""

from __future__ import annotations

import re

from merge_runner.pruning.layout.layout import TableLayout

_WORD = re.compile(r"`((?:[^`]|``)+)`|'(?:[^'\\]|\\.)*'|([A-Za-z_]\w*)(?!\s*\()")


def base_columns(layout: TableLayout, name: str) -> frozenset[str]:
    """The columns (case folded) that a generated column is computed from; none for any other column."""
    column = layout.column(name)
    if column is None or column.generated is None:
        return frozenset()
    words = {(quoted or plain or "").casefold() for quoted, plain in _WORD.findall(column.generated)}
    return frozenset(item.name.casefold() for item in layout.columns or () if item.name.casefold() in words) - {
        name.casefold()
    }
