"""The verdict on a MERGE: one verdict, and for each condition whether it prunes and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from merge_runner.text import Span

Verdict = Literal["static", "runtime", "none", "unknown"]
Side = Literal["target", "source", "both", "none", "unknown"]

Cause = Literal[
    "prunes",  # it keeps files from being read
    "loose",  # it does so by the smallest and largest value of a list only
    "join",  # an equality between target and source
    "both-sides",  # any other condition on both
    "source-only",
    "wrapped",  # the column is inside a function, cast or arithmetic
    "or",  # an OR with a leg that cannot prune, or that mixes the sides
    "negation",  # <>, NOT IN, IS NOT NULL: nearly every file passes
    "columns",  # a comparison of two columns of the target
    "no-statistics",
    "literal-type",
    "transform",  # an Iceberg partition transform cannot use it
    "always-true",
    "always-false",
    "by-source",  # WHEN NOT MATCHED BY SOURCE turns pruning off
    "forbidden",  # a subquery, an aggregate, a non-deterministic function
    "in-when",  # a WHEN condition that would prune in ON
    "unknown-type",
    "unknown-layout",
    "unreadable",  # lint cannot read the expression
]


@dataclass(frozen=True)
class Condition:
    """One condition and what it does to the scan. `prunes` None: it cannot be known.

    `span` and `text` are those of the statement's text. `columns` are the target's columns in it, `reason` says in
    words why, and what would prune instead; `pattern` is what `cause` is about where that is short (`to_date`, `or`).
    `filters` says that it excludes rows of the target by something else than the source. `legs` are those of an OR.
    `unbounded` is why the runner derives no bounds by it, where it joins a partition or clustering column of a MERGE
    whose verdict is `none`.
    """

    span: Span
    text: str
    side: Side
    prunes: bool | None
    cause: Cause
    reason: str
    columns: tuple[str, ...] = ()
    filters: bool = False
    pattern: str = ""
    legs: tuple[Condition, ...] = ()
    unbounded: str | None = None

    @property
    def named(self) -> str:
        """The target's columns in it, as messages name them."""
        return listed(self.columns)


def listed(names: Iterable[object]) -> str:
    """Names as messages show them, by comma."""
    return ", ".join(f"`{name}`" for name in names)


@dataclass(frozen=True)
class Bound:
    """A column of the target that the runner can bound: the values of `source` in the source are all that match.

    `source` is the span of the expression on the source's side; `null_safe` says that the two are joined by `<=>`.
    `prunes`: whether the engine is known to skip files by the values: a column that the author named is bounded
    anyway.
    """

    column: str
    source: Span
    null_safe: bool
    prunes: bool = True


@dataclass(frozen=True)
class Judgement:
    """The verdict on a MERGE, its ON conjuncts in their order, and the conditions of its WHEN clauses by clause.

    `bounds` are what the runner can derive, whether or not the verdict is `runtime`. `left_out` says why it derives
    none of them, where nothing else bounds the scan.
    """

    verdict: Verdict
    reason: str
    on: tuple[Condition, ...]
    when: tuple[tuple[Condition, ...], ...]
    bounds: tuple[Bound, ...] = ()
    left_out: str | None = None
