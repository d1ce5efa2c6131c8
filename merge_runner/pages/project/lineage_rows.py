"""Column lineage as the page of a node has it: what each column comes from, and what each goes to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from merge_runner.pages.project.listed_nodes import NodeNumbers
from merge_runner.plan.lineage.model_lineage import ModelLineage

Input = list[Any]
"""Number of a node (or the name of a relation that is none), column, subtype."""


def lineage_rows(numbers: NodeNumbers, lineages: Iterable[ModelLineage]) -> dict[int, dict[str, Any]]:
    """Return, by the number of a node, `columns`, `rows`, `readers` and `gaps`.

    `columns` are the inputs of each column, `rows` those that decide which rows there are, and `readers` the columns
    that each is an input of. A column of which all rows depend on is read by all columns of a model: `*`.
    """
    entries: dict[int, dict[str, Any]] = {}
    readers: dict[int, dict[str, dict[tuple[int, str, str], None]]] = {}
    for lineage in lineages:
        number = numbers[lineage.node.unique_id]
        entry = entries.setdefault(number, {})
        entry["columns"] = {
            column.column: [_input(numbers, part.relation, part.column, part.subtype) for part in column.inputs]
            for column in lineage.table.columns
        }
        entry["rows"] = [
            _input(numbers, part.relation, part.column, part.subtype) for part in sorted(lineage.table.rows)
        ]
        if lineage.unresolved:
            entry["gaps"] = [
                {"column": gap.column, "reason": gap.reason, "place": str(gap.place) if gap.place else None}
                for gap in lineage.unresolved
            ]
        for column, inputs in [*entry["columns"].items(), ("*", entry["rows"])]:
            for relation, name, subtype in inputs:
                if isinstance(relation, int):
                    of_relation = readers.setdefault(relation, {})
                    of_relation.setdefault(name.casefold(), {})[number, column, subtype] = None
    for number, columns in readers.items():
        entries.setdefault(number, {})["readers"] = {
            name: [list(reader) for reader in to] for name, to in columns.items()
        }
    return entries


def _input(numbers: NodeNumbers, relation: str, column: str, subtype: str) -> Input:
    number = numbers.of_relation(relation)
    return [relation if number is None else number, column, subtype]
