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
        return all(each.first == each.last for each in self.ranges)


@dataclass(frozen=True)
class BoundPredicate:
    """A condition on one column; `words` say how much it lets pass, as `2 values`."""

    text: str
    words: str


def bound_predicate(
    column: str, found: BoundValues, *, listed: int, ranges: int = MOST_RANGES, nothing: str = "false"
) -> BoundPredicate:
    """The condition that `column` (SQL) holds one of the values.

    `listed`: up to so many values make a list, more of them at most so many `ranges`.

    Where no value is found it is `nothing`: a condition that no row passes.
    """
    if found.are_single and len(found.ranges) <= listed:
        text = _list(column, [each.first.literal for each in found.ranges]) or nothing
        words = _counted(len(found.ranges), "value")
    else:
        joined = joined_ranges(found.ranges, found.step, ranges)
        text, words = _ranges(column, joined), _counted(len(joined), "range")
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


def joined_ranges(ranges: Sequence[ValueRange], step: Decimal | int | None, most: int) -> list[ValueRange]:
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


def merged_ranges(ranges: Sequence[ValueRange]) -> tuple[ValueRange, ...]:
    """Return ranges in the order of their keys, those that overlap as one."""
    merged: list[ValueRange] = []
    for each in sorted(ranges, key=lambda range_: range_.first.key):
        if not merged or merged[-1].last.key < each.first.key:
            merged.append(each)
        elif merged[-1].last.key < each.last.key:
            merged[-1] = ValueRange(merged[-1].first, each.last)
    return tuple(merged)


def _on_a_line(keys: Sequence[str]) -> list[Decimal]:
    """Texts, in hex and in their order, as numbers in the same order: digits are the bytes of the kinds that they use.

    So `9` and `a` are as near in the digits of a UUID as `8` and `9`. What differs in far later digits is the same.
    """
    texts = [bytes.fromhex(key) for key in keys]
    same = length_in_common(texts[0], texts[-1])
    parts = [text[same : same + _COMPARED_BYTES] for text in texts]
    used = {byte for part in parts for byte in part}
    ranges = (range(min(of), max(of) + 1) for of in (used & kind for kind in _KINDS) if of)
    order = {byte: place for place, byte in enumerate(sorted(used.union(*ranges)), 1)}
    weights = [(len(order) + 1) ** place for place in reversed(range(_COMPARED_BYTES))]
    return [Decimal(sum(order[byte] * weight for byte, weight in zip(part, weights, strict=False))) for part in parts]


def length_in_common(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how many items two sequences begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number:,} {word}s"
