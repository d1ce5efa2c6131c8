"""The SQL of a comparison.

First come the rows that one side has more often than the other, by all columns at once. That reads each side once, and
is exact for duplicates, with or without a key. These rows, few as a rule, are then brought together by the key. Spark
groups NULL with NULL, NaN with NaN and -0.0 with 0.0, at any depth of a value.
"""

from __future__ import annotations

from collections.abc import Sequence

from merge_runner.comparison.columns import ColumnPair
from merge_runner.comparison.report import Kind

_ONLY_LEFT, _ONLY_RIGHT = "only_left", "only_right"
_LEFT, _RIGHT = "left_row", "right_row"


def difference(
    left: str,
    right: str,
    pairs: Sequence[ColumnPair],
    key: Sequence[int] = (),
    where: str | None = None,
    tolerance: float = 0.0,
) -> str:
    """Return the query of what is different between two relations: a row for each key, or each row without a key.

    `key` are the places of the key's columns among the pairs. `where` is a condition on the rows of both. Columns: how
    many rows the left side alone has, and the right side; an example of each, as a struct; then for each pair whether
    it differs. That is false but where one row is left on each side of a key: this key counts as changed, and its rows
    as those of neither side. Where it has more, they count as rows of their sides.
    """
    rows = _unequal_rows(left, right, pairs, where)
    numbers = range(len(pairs))
    row = f"struct({', '.join(map(_field, numbers))})"
    if not key:
        never = ", ".join(f"false AS {_differs(at)}" for at in numbers)
        return f"SELECT {_ONLY_LEFT}, {_ONLY_RIGHT}, {row} AS {_LEFT}, {row} AS {_RIGHT}, {never} FROM (\n{rows}\n)"
    differing = ", ".join(f"is_pair AND NOT ({_is_same(pairs[at], at, tolerance)}) AS {_differs(at)}" for at in numbers)
    return f"""SELECT IF(is_pair, 0L, l) AS {_ONLY_LEFT}, IF(is_pair, 0L, r) AS {_ONLY_RIGHT}, {_LEFT}, {_RIGHT},
{differing}
FROM (
SELECT sum({_ONLY_LEFT}) AS l, sum({_ONLY_RIGHT}) AS r, sum({_ONLY_LEFT}) = 1 AND sum({_ONLY_RIGHT}) = 1 AS is_pair,
first(IF({_ONLY_LEFT} > 0, {row}, NULL), true) AS {_LEFT}, first(IF({_ONLY_RIGHT} > 0, {row}, NULL), true) AS {_RIGHT}
FROM (
{rows}
)
GROUP BY {", ".join(_key(pairs[at], at) for at in key)}
)"""


def row_count(relation: str, where: str | None = None) -> str:
    """Return the query of the number of rows of a relation that a condition is true of."""
    return f"SELECT count(*) FROM {_restricted(relation, where)}"


def counts(relation: str, columns: int) -> str:
    """Return the query of one row: rows of the left side alone, of the right side alone, changed ones, then by column.

    `relation` has the rows of `difference`, with so many pairs of `columns`.
    """
    by_column = ", ".join(f"count_if({_differs(at)})" for at in range(columns))
    return (
        f"SELECT coalesce(sum({_ONLY_LEFT}), 0L), coalesce(sum({_ONLY_RIGHT}), 0L), count_if({_is_changed(columns)}), "
        f"{by_column} FROM {relation}"
    )


def examples(relation: str, kind: Kind, columns: int, key: Sequence[int], limit: int) -> str:
    """Return the query of some rows of a kind, in the order of the key, of a relation as `counts` has it.

    Columns: the row of each side as a struct, then for each pair whether it differs.
    """
    conditions = {
        "changed": _is_changed(columns),
        "only_left": f"{_ONLY_LEFT} > 0",
        "only_right": f"{_ONLY_RIGHT} > 0",
    }
    side = _RIGHT if kind == "only_right" else _LEFT
    order = ", ".join(f"{side}.{_field(at)}" for at in key or range(columns))
    flags = ", ".join(map(_differs, range(columns)))
    return f"SELECT {_LEFT}, {_RIGHT}, {flags} FROM {relation} WHERE {conditions[kind]} ORDER BY {order} LIMIT {limit}"


def _unequal_rows(left: str, right: str, pairs: Sequence[ColumnPair], where: str | None) -> str:
    """Return the query of the rows that one side has more often than the other, with how much more often."""
    names = ", ".join(map(_field, range(len(pairs))))
    sides = (
        _side(left, [pair.left.value for pair in pairs], where, "1L AS l, 0L AS r"),
        _side(right, [pair.right.value for pair in pairs], where, "0L AS l, 1L AS r"),
    )
    return f"""SELECT {names},
greatest(sum(l) - sum(r), 0L) AS {_ONLY_LEFT}, greatest(sum(r) - sum(l), 0L) AS {_ONLY_RIGHT}
FROM (
{sides[0]}
UNION ALL
{sides[1]}
)
GROUP BY {names}
HAVING sum(l) <> sum(r)"""


def _field(at: int) -> str:
    """Return the name of a compared column: a name of an author might be one of ours."""
    return f"c{at}"


def _differs(at: int) -> str:
    return f"d{at}"


def _is_changed(columns: int) -> str:
    return f"({' OR '.join(map(_differs, range(columns)))})"


def _side(relation: str, values: Sequence[str], where: str | None, counted: str) -> str:
    columns = ", ".join(f"{value} AS {_field(at)}" for at, value in enumerate(values))
    return f"SELECT {columns}, {counted} FROM {_restricted(relation, where)}"


def _restricted(relation: str, where: str | None) -> str:
    # On a line of its own: the condition may end in a comment.
    return relation if where is None else f"{relation} WHERE (\n{where}\n)"


def _key(pair: ColumnPair, at: int) -> str:
    """Return a column of the key as a MERGE matches it: by the collation of its table."""
    collation = pair.left.collation
    return _field(at) if collation is None else f"{_field(at)} COLLATE {collation}"


def _is_same(pair: ColumnPair, at: int, tolerance: float) -> str:
    left, right = (f"{side}.{_field(at)}" for side in (_LEFT, _RIGHT))
    same = f"{left} <=> {right}"
    if not tolerance or not pair.is_fractional:
        return same
    return f"{same} OR coalesce(abs({left} - {right}) <= {tolerance!r}D, false)"  # NULL is near to nothing
