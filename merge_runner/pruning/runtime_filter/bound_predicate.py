"""The values that a source holds for a column of the target, as a condition that ON implies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

MOST_LISTED = 1000
"""Values in an IN list. A condition on a partition column is asked of each partition, not of each row."""

MOST_RANGES = 32

_COMPARED_BYTES = 16
"""Number of bytes that are compared, from the first one on in which any two of them differ."""
_KINDS = tuple(frozenset(kind.encode()) for kind in (digits, ascii_uppercase, ascii_lowercase))


@dataclass(frozen=True)
class KeyedLiteral:
    """A value: its key as in a LiteralType, and Spark's literal of it."""

    key: Any
    literal: str


@dataclass(frozen=True)
class ValueRange:
    """Values from a first to a last one, both of which are there; a single value is both."""

    first: KeyedLiteral
    last: KeyedLiteral


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
        return all(value_range.first == value_range.last for value_range in self.ranges)


@dataclass(frozen=True)
class BoundPredicate:
    """A condition on one column; `words` say how much it lets pass, as `2 values`."""

    text: str
    words: str


def bound_predicate(
    column: str, values: BoundValues, *, most_values: int, ranges: int = MOST_RANGES, nothing: str = "false"
) -> BoundPredicate:
    """The condition that `column` (SQL) holds one of the values.

    `most_values`: up to so many values make a list, more of them at most so many `ranges`.

    Where no value is found it is `nothing`: a condition that no row passes.
    """
    if values.are_single and len(values.ranges) <= most_values:
        text = _list(column, [value_range.first.literal for value_range in values.ranges]) or nothing
        words = _count(len(values.ranges), "value")
    else:
        ranges_to_write = join_ranges(values.ranges, values.step, ranges)
        text, words = _ranges(column, ranges_to_write), _count(len(ranges_to_write), "range")
    if values.null:
        text = f"({text} OR {column} IS NULL)" if values.ranges else f"{column} IS NULL"
        words = f"{words} and NULL" if values.ranges else "NULL"
    return BoundPredicate(text, words)


def _list(column: str, literals: Sequence[str]) -> str:
    if len(literals) > 1:
        return f"{column} IN ({', '.join(literals)})"
    return f"{column} = {literals[0]}" if literals else ""


def _ranges(column: str, ranges: Sequence[ValueRange]) -> str:
    parts = [
        f"{column} = {value_range.first.literal}"
        if value_range.first == value_range.last
        else f"{column} BETWEEN {value_range.first.literal} AND {value_range.last.literal}"
        for value_range in ranges
    ]
    return f"({' OR '.join(parts)})" if len(parts) > 1 else parts[0]


def join_ranges(ranges: Sequence[ValueRange], step: Decimal | int | None, most: int) -> list[ValueRange]:
    """Return at most so many ranges of these, cut at the widest gaps; `step` as in a LiteralType."""
    if len(ranges) < 2:
        return list(ranges)
    if step is None:
        ends = _on_a_line([key for left, right in pairwise(ranges) for key in (left.last.key, right.first.key)])
        gaps = [right - left for left, right in zip(ends[::2], ends[1::2], strict=True)]
    else:
        gaps = [Decimal(right.first.key) - Decimal(left.last.key) for left, right in pairwise(ranges)]
    wide = [place for place, gap in enumerate(gaps) if gap > (step or 0)]
    cuts = sorted(sorted(wide, key=lambda place: gaps[place], reverse=True)[: most - 1])
    starts = [0, *(place + 1 for place in cuts)]
    stops = [*starts[1:], len(ranges)]
    return [ValueRange(ranges[start].first, ranges[stop - 1].last) for start, stop in zip(starts, stops, strict=True)]


def merge_ranges(ranges: Sequence[ValueRange]) -> tuple[ValueRange, ...]:
    """Return ranges in the order of their keys, those that overlap as one."""
    merged: list[ValueRange] = []
    for value_range in sorted(ranges, key=lambda range_: range_.first.key):
        if not merged or merged[-1].last.key < value_range.first.key:
            merged.append(value_range)
        elif merged[-1].last.key < value_range.last.key:
            merged[-1] = ValueRange(merged[-1].first, value_range.last)
    return tuple(merged)


def _on_a_line(keys: Sequence[str]) -> list[Decimal]:
    """Texts, in hex and in their order, as numbers in the same order: digits are the bytes of the kinds that they use.

    So `9` and `a` are as near in the digits of a UUID as `8` and `9`. What differs in far later digits is the same.
    """
    texts = [bytes.fromhex(key) for key in keys]
    same = length_in_common(texts[0], texts[-1])
    parts = [text[same : same + _COMPARED_BYTES] for text in texts]
    used_bytes = {byte for part in parts for byte in part}
    ranges = (range(min(of), max(of) + 1) for of in (used_bytes & kind for kind in _KINDS) if of)
    order = {byte: place for place, byte in enumerate(sorted(used_bytes.union(*ranges)), 1)}
    weights = [(len(order) + 1) ** place for place in reversed(range(_COMPARED_BYTES))]
    return [Decimal(sum(order[byte] * weight for byte, weight in zip(part, weights, strict=False))) for part in parts]


def length_in_common(left: Sequence[object], right: Sequence[object]) -> int:
    """Return how many items two sequences begin with alike."""
    pairs = enumerate(zip(left, right, strict=False))
    return next(
        (place for place, (left_item, right_item) in pairs if left_item != right_item), min(len(left), len(right))
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number:,} {word}s"
