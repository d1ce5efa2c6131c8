"""Random rows, queries and MERGEs over tables of one schema; the same for the same seed.

Values are few, so that keys meet; expressions stay far from what raises an error (overflow, a failed cast).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from random import Random
from types import MappingProxyType
from typing import Any

from tests.oracle.expression import Call, Column, Expression, Literal, Row, Value
from tests.oracle.merge import Clause, Delete, Insert, Kind, Merge, Update
from tests.oracle.query import SIDE, Arm, Query

COLUMNS = {"id": "bigint", "n": "int", "w": "string", "f": "boolean", "m": "decimal(10,2)", "d": "date"}
"""The columns of every table, and their types."""

_KINDS = {"id": "int", "n": "int", "w": "string", "f": "boolean", "m": "decimal", "d": "date"}
_POOL: dict[str, list[Value]] = {
    "int": [-3, 0, 1, 2, 3, 4, 5, 7, 1000],
    "string": [
        "a",
        "A",
        "b",
        "bc",
        "b c ",
        "O'Hare",
        "back\\slash",
        "ü€",
        "50%",
        "a/b=c:d",
        "__HIVE_DEFAULT_PARTITION__",
    ],
    "boolean": [True, False],
    "decimal": [Decimal(text) for text in ("-1.50", "0.00", "0.01", "2.00", "3.00", "99.99")],
    "date": [date(2024, 1, 1), date(2024, 1, 2), date(2024, 2, 29), date(1969, 12, 31), date(2024, 12, 31)],
}
_COMPARISONS = ("=", "=", "<>", "<", "<=", ">", ">=", "<=>")


class Generator:
    """Random values of every kind. `texts` are strings that the tables may hold beside the usual ones."""

    def __init__(self, random: Random, texts: Sequence[str] = ()) -> None:
        self.random = random
        self.pool = {**_POOL, "string": [*_POOL["string"], *texts]}

    # Rows

    def rows(
        self, most: int, like: Sequence[Row] = (), keys: Sequence[str] = (), *, unique: bool = False, least: int = 0
    ) -> list[Row]:
        """Up to so many rows, most of them with the `keys` of a row of `like`; `unique`: those of no row twice."""
        rows: list[Row] = []
        for _ in range(self.random.randint(least, most)):
            row = {name: self.value(kind, null=0.12) for name, kind in _KINDS.items()}
            if like and self.random.random() < 0.7:
                known = self.random.choice(like)
                row |= {name: known[name] for name in keys if self.random.random() < 0.95}
            if not unique or all(any(row[key] != each[key] for key in keys) for each in rows):
                rows.append(row)
        return rows

    def value(self, kind: str, null: float = 0.0) -> Value:
        """A value of a kind, or NULL with a probability."""
        return None if self.random.random() < null else self.random.choice(self.pool[kind])

    # Queries

    def query(
        self,
        tables: Sequence[str],
        within: Mapping[str, Expression] = MappingProxyType({}),
        newer_than: str | None = None,
    ) -> Query:
        """A query over all of the tables; `within` are conditions that all rows of a table in it pass.

        Some take only what is newer than all rows of the table `newer_than`.
        """
        arms = tuple(self.arm(table, within.get(table), newer_than) for table in tables)
        if self.random.random() < 0.6:
            return Query(arms)
        keys = ["id"] if self.random.random() < 0.8 else self.random.sample(list(COLUMNS), k=2)
        return Query(arms, tuple(keys), tuple(COLUMNS))

    def arm(self, table: str, within: Expression | None = None, newer_than: str | None = None) -> Arm:
        """Rows of a table, filtered and computed or not."""
        parts = [within] if within is not None else []
        if self.random.random() < 0.5:
            parts.append(self.condition((SIDE,), 1))
        where = None if not parts else parts[0] if len(parts) == 1 else Call("and", tuple(parts))
        columns = None
        if within is not None or self.random.random() < 0.4:
            columns = tuple((name, self._computed(name)) for name in COLUMNS)
        newer = None
        if newer_than not in (None, table) and self.random.random() < 0.15:
            newer = (self.random.choice(["d", "d", "n", "id"]), newer_than)
        return Arm(table, where, columns, newer)

    def _computed(self, name: str) -> Expression:
        if self.random.random() < 0.85:
            return Column(SIDE, name)
        return self.expression(_KINDS[name], (SIDE,), 1)

    # Statements

    def merge(self, partition: Sequence[str]) -> Merge:
        """A MERGE into a table that is partitioned by some columns."""
        while not (clauses := [*self.matched(), *self.not_matched(), *self.by_source()]):
            continue
        return Merge(self.on(partition), tuple(clauses))

    def on(self, partition: Sequence[str]) -> Expression:
        """A condition as people write it: keys, partition columns, filters of one side, and less common things."""
        parts: list[Expression] = []
        if self.random.random() < 0.9:
            parts.append(self.join("id"))
        parts += [self.join(name) for name in partition if name != "id" and self.random.random() < 0.75]
        for sides, often in ((("t",), 0.25), (("s",), 0.15), (("t", "s"), 0.15)):
            if self.random.random() < often:
                parts.append(self.condition(sides, self.random.randrange(2)))
        if not parts:
            parts.append(self.join(self.random.choice(list(COLUMNS))))
        self.random.shuffle(parts)
        return parts[0] if len(parts) == 1 else Call("and", tuple(parts))

    def join(self, name: str) -> Expression:
        """An equality of a column of the target and a value of the source, either way round."""
        value: Expression = Column("s", name)
        if self.random.random() < 0.15:
            value = self.expression(_KINDS[name], ("s",), 1)
        sides = [Column("t", name), value]
        self.random.shuffle(sides)
        return Call(self.random.choice(("=", "=", "=", "<=>")), tuple(sides))

    def matched(self) -> list[Clause]:
        def action() -> Update | Delete:
            if self.random.random() < 0.35:
                return Delete()
            return Update(None if self.random.random() < 0.25 else self.assignments(("t", "s")))

        return self._clauses("matched", self.random.choice((0, 1, 1, 1, 2, 3)), ("t", "s"), action)

    def not_matched(self) -> list[Clause]:
        def action() -> Insert:
            return Insert(None if self.random.random() < 0.4 else self.assignments(("s",), most=len(COLUMNS)))

        return self._clauses("not matched", self.random.choice((0, 1, 1, 1, 2)), ("s",), action)

    def by_source(self) -> list[Clause]:
        def action() -> Update | Delete:
            return Delete() if self.random.random() < 0.5 else Update(self.assignments(("t",)))

        return self._clauses("not matched by source", self.random.choice((0, 0, 0, 0, 1, 2)), ("t",), action)

    def _clauses(self, kind: Kind, number: int, sides: tuple[str, ...], action: Callable[[], Any]) -> list[Clause]:
        """Clauses of one kind, of which only the last may have no condition."""
        return [
            Clause(
                kind,
                self.condition(sides, 1) if place < number - 1 or self.random.random() < 0.45 else None,
                action(),
            )
            for place in range(number)
        ]

    def assignments(self, sides: tuple[str, ...], most: int = 3) -> tuple[tuple[str, Expression], ...]:
        names = self.random.sample(list(COLUMNS), k=self.random.randint(1, most))
        return tuple((name, self._assigned(name, sides)) for name in names)

    def _assigned(self, name: str, sides: tuple[str, ...]) -> Expression:
        if "s" in sides and self.random.random() < 0.5:
            return Column("s", name)
        return self.expression(_KINDS[name], sides, 1)

    # Expressions

    def condition(self, sides: tuple[str, ...], depth: int) -> Expression:
        """A condition on columns of the sides."""
        if depth == 0 or self.random.random() < 0.4:
            return self.leaf(sides)
        roll = self.random.random()
        if roll < 0.2:
            return Call("not", (self.condition(sides, depth - 1),))
        if roll < 0.3:
            return Call(self.random.choice(("is true", "is not true")), (self.condition(sides, depth - 1),))
        name = self.random.choice(("and", "or", "or"))
        return Call(name, (self.condition(sides, depth - 1), self.condition(sides, depth - 1)))

    def leaf(self, sides: tuple[str, ...]) -> Expression:
        """A comparison, or another question to one column."""
        kind = self.random.choice(list(self.pool))
        left = self.expression(kind, sides, self.random.choice((0, 0, 0, 1)))
        roll = self.random.random()
        if roll < 0.15:
            return Call(self.random.choice(("is null", "is not null")), (left,))
        if roll < 0.3:
            values = tuple(self.constant(kind, null=0.1) for _ in range(self.few()))
            return Call(self.random.choice(("in", "in", "not in")), (left, *values))
        if roll < 0.38 and kind != "boolean":
            return Call("between", (left, self.constant(kind), self.constant(kind)))
        if roll < 0.45 and kind == "string":
            return Call("starts with", (left, self.constant(kind)))
        if roll < 0.5 and kind == "boolean":
            return left
        if self.random.random() < (0.6 if len(sides) > 1 else 0.1):
            right: Expression = self.column(kind, sides[-1:])
        else:
            right = self.constant(kind, null=0.03)
            if kind == "date" and self.random.random() < 0.3:
                right = Literal(right.value, as_text=True)
        pair = (left, right) if self.random.random() < 0.8 else (right, left)
        return Call(self.random.choice(_COMPARISONS), pair)

    def expression(self, kind: str, sides: tuple[str, ...], depth: int) -> Expression:
        """An expression of a kind that raises no error and does not grow without end."""
        if depth == 0:
            return self.column(kind, sides)
        inner = self.expression(kind, sides, depth - 1)
        calls = {
            "int": [
                Call("+", (inner, self.constant(kind))),
                Call("-", (inner, self.column(kind, sides))),
                Call("*", (inner, Literal(2))),
                Call("%", (inner, Literal(3))),
            ],
            "string": [Call("upper", (inner,)), Call("concat", (Literal("x"), inner))],
            "boolean": [Call("not", (inner,)), self.leaf_of(sides)],
            "decimal": [Call("+", (inner, self.column(kind, sides))), Call("-", (inner, self.constant(kind)))],
            "date": [Call("date_add", (inner, Literal(self.random.choice((-1, 1, 31)))))],
        }[kind]
        calls += [
            Call("coalesce", (inner, self.constant(kind))),
            Call("case", (self.leaf_of(sides), inner, self.constant(kind, null=0.2))),
            self.constant(kind, null=0.05),
        ]
        return self.random.choice(calls)

    def leaf_of(self, sides: tuple[str, ...]) -> Expression:
        """A plain comparison."""
        kind = self.random.choice(list(self.pool))
        return Call(self.random.choice(_COMPARISONS), (self.column(kind, sides), self.constant(kind)))

    def column(self, kind: str, sides: tuple[str, ...]) -> Column:
        name = self.random.choice([name for name, each in _KINDS.items() if each == kind])
        return Column(self.random.choice(sides), name)

    def constant(self, kind: str, null: float = 0.0) -> Literal:
        return Literal(self.value(kind, null))

    def few(self) -> int:
        return self.random.choice((1, 1, 2, 3))
