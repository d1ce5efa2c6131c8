"""A condition as Spark's optimizer leaves it: comparisons of columns with constants, joined by AND and OR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from merge_runner.formats.types import DataType
from merge_runner.pruning.predicate.constant_folding import Constant
from merge_runner.pruning.predicate.scope import ColumnRef

Operator = Literal[
    "=",
    "<=>",
    "not <=>",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not in",
    "is null",
    "is not null",
    "startswith",
    "not like",
]
NEGATED: dict[Operator, Operator] = {
    "<=>": "not <=>",
    "=": "<>",
    "<>": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "in": "not in",
    "not in": "in",
    "is null": "is not null",
    "is not null": "is null",
    "startswith": "not like",
}
"""What each operator becomes under NOT."""


@dataclass(frozen=True)
class Truth:
    """A condition without columns. `value` None: NULL, which excludes as FALSE does.

    `is_known` False: its value is not known before it runs.
    """

    value: bool | None
    is_known: bool = True


@dataclass(frozen=True)
class Comparison:
    """A column against constants: `column operator constants`, the constant on the right however it was written.

    `cast` is the type of a cast around the column, `function` the name of a function that was called on it
    (`days`, with `parameter` 8 for `bucket(8, …)`): the column is bare where both are None.
    """

    column: ColumnRef
    operator: Operator
    constants: tuple[Constant, ...] = ()
    cast: DataType | None = None
    function: str | None = None
    parameter: int | None = None
    tree: Any = field(default=None, repr=False)

    @property
    def columns(self) -> tuple[ColumnRef, ...]:
        """The one column."""
        return (self.column,)


Kind = Literal[
    "wrapped",
    "columns",
    "two-sides",
    "forbidden",
    "unreadable",
    "pattern",
    "negation",
    "nullable",
    "never",
    "computed",
    "casts",
]


@dataclass(frozen=True)
class Other:
    """Any other condition. `kind` says what it is, `name` the expression around the column (`abs`, `+`, `CASE`).

    `casts` are several casts around each other, of which Spark makes one for some types and not for others.
    `never` is NOT IN with NULL among its values: true for no row, which Spark does not fold for every format.
    """

    kind: Kind
    columns: tuple[ColumnRef, ...]
    name: str = ""
    tree: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class _Connective:
    parts: tuple[Predicate, ...]

    @property
    def columns(self) -> tuple[ColumnRef, ...]:
        """The columns of all parts."""
        return tuple(column for part in self.parts for column in columns_of(part))


@dataclass(frozen=True)
class All(_Connective):
    """AND."""


@dataclass(frozen=True)
class Some(_Connective):
    """OR."""


Predicate = Truth | Comparison | Other | All | Some
TRUE, FALSE = Truth(value=True), Truth(value=False)


def parts_of(predicate: Predicate) -> tuple[Predicate, ...]:
    """The parts of an AND; anything else is the only one."""
    return predicate.parts if isinstance(predicate, All) else (predicate,)


def columns_of(predicate: Predicate) -> tuple[ColumnRef, ...]:
    """The columns of a predicate, each as often as it appears there."""
    return () if isinstance(predicate, Truth) else predicate.columns


def conjunction(parts: Sequence[Predicate]) -> Predicate:
    """AND of the parts: constants folded, nested ANDs opened."""
    terms: list[Predicate] = []
    for part in parts:
        if isinstance(part, Truth) and part.is_known:
            if part.value is not True:
                return part
            continue
        terms += part.parts if isinstance(part, All) else [part]
    if not terms:
        return TRUE
    return terms[0] if len(terms) == 1 else All(tuple(dict.fromkeys(terms)))


def disjunction(parts: Sequence[Predicate]) -> Predicate:
    """OR of the parts: constants folded, nested ORs opened, and what all legs have in common put in front of it."""
    legs: list[Predicate] = []
    for part in parts:
        if part == TRUE:
            return TRUE
        if part != FALSE:
            legs += part.parts if isinstance(part, Some) else [part]
    if not legs:
        return FALSE
    legs = list(dict.fromkeys(legs))
    everything = _covers_everything(legs)
    if everything is not None:
        return everything
    if len(legs) == 1:
        return legs[0]
    conjuncts = [leg.parts if isinstance(leg, All) else (leg,) for leg in legs]
    common = [part for part in conjuncts[0] if all(part in other for other in conjuncts[1:])]
    if not common:
        return Some(tuple(legs))
    rest = [conjunction([part for part in leg if part not in common]) for leg in conjuncts]
    return conjunction([*common, disjunction(rest)])


def _covers_everything(legs: Sequence[Predicate]) -> Predicate | None:
    """What `x is null or x is not null` is: true; `x < 5 or x >= 5` leaves out NULL. None for other legs.

    Of the second Spark makes `x is not null or null`, by which Delta skips no file of NULLs and Iceberg does.
    """
    operators_of: dict[tuple[ColumnRef, tuple[Constant, ...]], set[Operator]] = {}
    for leg in legs:
        bare = isinstance(leg, Comparison) and leg.cast is None and leg.function is None
        if isinstance(leg, Comparison) and bare and all(item.is_known for item in leg.constants):
            operators_of.setdefault((leg.column, leg.constants), set()).add(leg.operator)
    for (column, _), operators in operators_of.items():
        if {"is null", "is not null"} <= operators:
            return TRUE
        if any(NEGATED.get(operator) in operators for operator in operators):
            return Other("negation", (column,), "is not null")
    return None
