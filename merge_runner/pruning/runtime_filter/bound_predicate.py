"""The values that a source holds for a column of the target, as a condition that ON implies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

MOST_LISTED = 1000
"""Values in an IN list. A condition on a partition column is asked of each partition, not of each row."""

MOST_RANGES = 32


@dataclass(frozen=True)
class Told:
    """A value: its key as in a LiteralType, and Spark's literal of it."""

    key: Any
    literal: str


@dataclass(frozen=True)
class ValueRange:
    """Values from a first to a last one, both of which are there; a single value is both."""

    first: Told
    last: Told


@dataclass(frozen=True)
class BoundValues:
    """What a source holds: `ranges` in the order of their keys, `step` as in a LiteralType.

    `null`: NULL is among the values, and the join matches it.
    """

    ranges: tuple[ValueRange, ...]
    step: Decimal | None
    null: bool = False

    @property
    def are_single(self) -> bool:
        """Whether each of them is one value."""
        return all(each.first == each.last for each in self.ranges)


@dataclass(frozen=True)
class BoundPredicate:
    """A condition on one column; `words` say how much it lets pass, as `2 values`."""

    text: str
    words: str


def bound_predicate(column: str, found: BoundValues, *, listed: int, nothing: str = "false") -> BoundPredicate:
    """The condition that `column` (SQL) holds one of the values; `listed`: as a list, up to so many, else as ranges.

    Where no value is found it is `nothing`: a condition that no row passes.
    """
    if found.are_single and len(found.ranges) <= listed:
        text = _list(column, [each.first.literal for each in found.ranges]) or nothing
        words = _counted(len(found.ranges), "value")
    else:
        ranges = _joined(found.ranges, found.step, MOST_RANGES)
        text, words = _ranges(column, ranges), _counted(len(ranges), "range")
    if found.null:
        text = f"({text} OR {column} IS NULL)" if found.ranges else f"{column} IS NULL"
        words = f"{words} and NULL" if found.ranges else "NULL"
    return BoundPredicate(text, words)


def _list(column: str, literals: Sequence[str]) -> str:
    if len(literals) > 1:
        return f"{column} IN ({', '.join(literals)})"
    return f"{column} = {literals[0]}" if literals else ""


def _ranges(column: str, ranges: Sequence[ValueRange]) -> str:
    parts = [
        f"{column} = {each.first.literal}"
        if each.first == each.last
        else f"{column} BETWEEN {each.first.literal} AND {each.last.literal}"
        for each in ranges
    ]
    return f"({' OR '.join(parts)})" if len(parts) > 1 else parts[0]


def _joined(ranges: Sequence[ValueRange], step: Decimal | None, most: int) -> list[ValueRange]:
    """At most so many ranges, cut at the widest gaps; of texts, whose gaps have no width, as many in each."""
    if step is None:
        size = -(-len(ranges) // most)
        starts = list(range(0, len(ranges), size))
    else:
        gaps = [Decimal(right.first.key) - Decimal(left.last.key) for left, right in pairwise(ranges)]
        wide = [place for place, gap in enumerate(gaps) if gap > step]
        cuts = sorted(sorted(wide, key=lambda place: gaps[place], reverse=True)[: most - 1])
        starts = [0, *(place + 1 for place in cuts)]
    stops = [*starts[1:], len(ranges)]
    return [ValueRange(ranges[start].first, ranges[stop - 1].last) for start, stop in zip(starts, stops, strict=True)]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number:,} {word}s"
