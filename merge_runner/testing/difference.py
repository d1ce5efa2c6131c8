"""Compares the rows that a table has with those that a unit test expects, whatever their order."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Any, ...]

RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""Two floating-point numbers within this tolerance are equal: sums depend on the order in which they are computed."""


@dataclass(frozen=True)
class Cell:
    """A value that differs: the expected and the actual one."""

    column: str
    expected: Any
    actual: Any


@dataclass(frozen=True)
class ChangedRow:
    """A row that is there under its key, with other values."""

    key: Mapping[str, Any]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Difference:
    """How two sets of rows differ; rows are in the order in which they were given."""

    columns: tuple[str, ...]
    missing: tuple[Row, ...] = ()
    unexpected: tuple[Row, ...] = ()
    changed: tuple[ChangedRow, ...] = field(default=())

    @property
    def count(self) -> int:
        """Rows that are missing, unexpected or different."""
        return len(self.missing) + len(self.unexpected) + len(self.changed)


def difference(
    columns: Sequence[str], expected: Sequence[Row], actual: Sequence[Row], key: Sequence[str] = ()
) -> Difference | None:
    """How the actual rows differ from the expected ones; None where they are the same, duplicates counted.

    Rows hold plain values in the order of `columns`. Of those without a counterpart, two that alone have one `key` are
    reported as one row that differs.
    """
    missing, unexpected = _without_counterpart(expected, actual)
    if not missing and not unexpected:
        return None
    positions = {name.lower(): number for number, name in enumerate(columns)}
    keys = [positions[name.lower()] for name in key if name.lower() in positions]
    pairs = list(_pairs(missing, unexpected, keys)) if len(keys) == len(key) and keys else []
    changed = tuple(
        ChangedRow(
            {columns[number]: one[number] for number in keys},
            tuple(
                Cell(name, one[number], other[number])
                for number, name in enumerate(columns)
                if not _same(one[number], other[number])
            ),
        )
        for one, other in ((missing[left], unexpected[right]) for left, right in pairs)
    )
    left, right = {one for one, _ in pairs}, {other for _, other in pairs}
    return Difference(
        tuple(columns),
        tuple(row for number, row in enumerate(missing) if number not in left),
        tuple(row for number, row in enumerate(unexpected) if number not in right),
        changed,
    )


def _without_counterpart(expected: Sequence[Row], actual: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of each side that the other one does not have."""
    there = Counter(map(_exact, actual))
    missing = []
    for row in expected:
        exact = _exact(row)
        if there[exact]:
            there[exact] -= 1
        else:
            missing.append(row)
    unexpected = []
    for row in reversed(actual):  # of equal rows the first ones have been taken
        exact = _exact(row)
        if there[exact]:
            there[exact] -= 1
            unexpected.append(row)
    return _without_near(missing, unexpected[::-1])


def _without_near(missing: list[Row], unexpected: list[Row]) -> tuple[list[Row], list[Row]]:
    """The same without the rows that are equal but for rounding: as many as can be paired at all."""
    near = [[number for number, other in enumerate(unexpected) if _same(row, other)] for row in missing]
    partners: dict[int, int] = {}

    def place(row: int, visited: set[int]) -> bool:
        for other in near[row]:
            if other not in visited:
                visited.add(other)
                if other not in partners or place(partners[other], visited):
                    partners[other] = row
                    return True
        return False

    for row in range(len(missing)):
        place(row, set())
    placed = set(partners.values())
    return (
        [row for number, row in enumerate(missing) if number not in placed],
        [row for number, row in enumerate(unexpected) if number not in partners],
    )


def _pairs(missing: Sequence[Row], unexpected: Sequence[Row], keys: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Rows of both sides that alone have a key."""
    groups: dict[Any, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((missing, unexpected)):
        for number, row in enumerate(rows):
            groups[tuple(_exact(row[key]) for key in keys)][side].append(number)
    for ours, theirs in groups.values():
        if len(ours) == len(theirs) == 1:
            yield ours[0], theirs[0]


def _exact(value: Any) -> Any:
    """A value by which equal ones can be counted: of one type, and hashable."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_exact, value))
    if isinstance(value, Mapping):
        return frozenset((_exact(name), _exact(item)) for name, item in value.items())
    if isinstance(value, float):
        return (float, "nan" if math.isnan(value) else value + 0.0)
    return (type(value), bytes(value) if isinstance(value, bytearray) else value)


def _same(expected: Any, other: Any) -> bool:
    if isinstance(expected, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(expected) == len(other) and all(map(_same, expected, other))
    if isinstance(expected, Mapping) and isinstance(other, Mapping):
        return expected.keys() == other.keys() and all(_same(value, other[name]) for name, value in expected.items())
    if isinstance(expected, float) and isinstance(other, float):
        if math.isnan(expected) or math.isnan(other):
            return math.isnan(expected) and math.isnan(other)
        return math.isclose(expected, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(_exact(expected) == _exact(other))
