"""The columns of a MERGE in the plan of its model: which it reads, and what it writes each column from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from merge_runner.lineage.edge import ColumnLineage, Input, TableLineage

_FEW_COLUMNS = 8
_FEW_WRITTEN = 6


def columns_read(lineage: TableLineage) -> Mapping[str, tuple[str, ...]]:
    """Return the columns that a MERGE reads, those that only decide included, by the names of relations."""
    parts = {part for column in lineage.columns for part in column.inputs} | set(lineage.rows)
    by_relation: dict[str, dict[str, None]] = {}
    for part in sorted(parts):
        by_relation.setdefault(part.relation, {})[part.column] = None
    return {relation: tuple(columns) for relation, columns in by_relation.items()}


def columns_written(lineage: TableLineage) -> Mapping[str, list[dict[str, str]]]:
    """Return what the values of each column are made of, and the conditions of these, as JSON values."""
    return {column.column: [_json(part) for part in column.inputs] for column in lineage.columns if column.inputs}


def lines(lineage: TableLineage, model: str) -> Iterator[str]:
    """Yield both in few lines: columns that are copied under their names together, then each of the others."""
    yield from (f"reads {_few(relation, columns)}" for relation, columns in columns_read(lineage).items())
    copied: dict[str, list[str]] = {}
    computed: list[tuple[str, list[Input]]] = []
    for column in lineage.columns:
        source = _copied_from(column)
        direct = [part for part in column.inputs if part.is_direct]
        if source is not None:
            copied.setdefault(source, []).append(column.column)
        elif direct:
            computed.append((column.column, direct))
    yield from (f"copies {_few(relation, columns)}" for relation, columns in copied.items())
    for name, parts in computed[:_FEW_WRITTEN]:
        yield f"writes {name} from {', '.join(f'{part.relation}.{part.column} ({part.subtype})' for part in parts)}"
    if len(computed) > _FEW_WRITTEN:
        yield f"writes {len(computed) - _FEW_WRITTEN} more columns: merge-runner lineage {model}"


def _copied_from(column: ColumnLineage) -> str | None:
    """The relation whose column of the same name is all that a column is made of; None where it is not."""
    direct = {(part.relation, part.column.casefold(), part.subtype) for part in column.inputs if part.is_direct}
    if len(direct) != 1:
        return None
    relation, name, subtype = direct.pop()
    return relation if subtype == "identity" and name == column.column.casefold() else None


def _few(relation: str, columns: Sequence[str]) -> str:
    """Columns of a relation in few words: all names, or the first and how many more."""
    if len(columns) <= _FEW_COLUMNS:
        return f"{relation}: {', '.join(columns)}"
    return f"{relation}: {', '.join(columns[: _FEW_COLUMNS - 1])} and {len(columns) - _FEW_COLUMNS + 1} more columns"


def _json(part: Input) -> dict[str, Any]:
    kind = "direct" if part.is_direct else "indirect"
    return {"relation": part.relation, "column": part.column, "type": kind, "subtype": part.subtype}
