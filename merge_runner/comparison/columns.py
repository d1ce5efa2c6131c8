"""Which columns of two tables are compared, and how their schemas differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
_FRACTIONS = frozenset({"float", "double"})


@dataclass(frozen=True)
class TypedColumn:
    """A column of a table.

    `type` is as Spark writes it. `value` is an SQL expression over the table's columns whose values can be grouped and
    compared byte by byte. `collation` is that by which the column itself is compared; None: by its bytes.
    """

    name: str
    type: str
    value: str
    collation: str | None = None


@dataclass(frozen=True)
class SchemaDifference:
    """Columns that one table alone has, and the two types of those that have the same name and different types."""

    only_left: tuple[str, ...] = ()
    only_right: tuple[str, ...] = ()
    types: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.only_left or self.only_right or self.types)


@dataclass(frozen=True)
class ColumnPair:
    """A column of two tables that is compared, under its name in the left one."""

    left: TypedColumn
    right: TypedColumn

    @property
    def name(self) -> str:
        """The name in the left table."""
        return self.left.name

    @property
    def is_fractional(self) -> bool:
        """Whether a tolerance counts for it."""
        return self.left.type in _FRACTIONS


@dataclass(frozen=True)
class Columns:
    """The columns of two tables: those that are compared, and the difference of the schemas."""

    pairs: tuple[ColumnPair, ...]
    schema: SchemaDifference


def match_columns(left: Sequence[TypedColumn], right: Sequence[TypedColumn], excluded: Collection[str] = ()) -> Columns:
    """Return the columns of two tables without the `excluded` ones; names count as Spark folds them.

    Columns of different types are compared where Spark loses nothing when it unites them: whole numbers of any width,
    and decimals of one scale.
    """
    left_out = {name.casefold() for name in excluded}
    left = [column for column in left if column.name.casefold() not in left_out]
    right_by_name = {column.name.casefold(): column for column in right if column.name.casefold() not in left_out}
    pairs, only_left, types = [], [], {}
    for column in left:
        other = right_by_name.pop(column.name.casefold(), None)
        if other is None:
            only_left.append(column.name)
            continue
        if other.type != column.type:
            types[column.name] = (column.type, other.type)
        if other.type == column.type or _unites_exactly(column.type, other.type):
            pairs.append(ColumnPair(column, other))
    only_right = tuple(column.name for column in right_by_name.values())
    return Columns(tuple(pairs), SchemaDifference(tuple(only_left), only_right, types))


def _unites_exactly(left: str, right: str) -> bool:
    if left in _INTEGERS and right in _INTEGERS:
        return True
    left_scale, right_scale = _scale(left), _scale(right)
    return left_scale is not None and left_scale == right_scale


def _scale(type: str) -> str | None:
    """Return the digits after the point of a type `decimal(precision,scale)`; None for any other type."""
    return type.removesuffix(")").partition(",")[2] if type.startswith("decimal(") else None
