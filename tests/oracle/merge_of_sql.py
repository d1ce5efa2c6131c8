"""A MERGE that is written as Spark SQL, as a value of the oracle: its source read by SQLite, its conditions by the oracle.

For statements of merge_patterns: what they use of SQL is here, and anything else fails. Nothing here knows merge_runner.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from tests.oracle.expression import Call, Column, Expression, Literal, Row
from tests.oracle.merge import Clause, Delete, Insert, Kind, Merge, Outcome, Update, merged

_OPERATORS: Mapping[type[exp.Expression], str] = {
    exp.And: "and",
    exp.Or: "or",
    exp.EQ: "=",
    exp.NullSafeEQ: "<=>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}
_FLAGS = frozenset({"is_gone", "is_deleted", "is_current"})
"""The columns that SQLite, which has no booleans, gives as numbers."""


@dataclass(frozen=True)
class Table:
    """The columns and rows of a table."""

    columns: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class MergeOfSql:
    """The statement: its MERGE, and the query of its source in SQLite's SQL."""

    merge: Merge
    using: str

    def run(self, target: str, tables: Mapping[str, Table]) -> Outcome:
        """What it does to the table `target`; `tables` are this and all that its source reads."""
        return merged(self.merge, tables[target].rows, self._source(tables), tables[target].columns)

    def _source(self, tables: Mapping[str, Table]) -> list[Row]:
        with sqlite3.connect(":memory:") as connection:
            connection.create_function("sha2", 2, _sha2, deterministic=True)
            for name, table in tables.items():
                connection.execute(f"create table {name} ({', '.join(table.columns)})")
                values = [tuple(row[column] for column in table.columns) for row in table.rows]
                connection.executemany(f"insert into {name} values ({', '.join('?' * len(table.columns))})", values)
            found = connection.execute(self.using)
            names = [column[0] for column in found.description]
            return [dict(zip(names, map(_value, names, row), strict=True)) for row in found]


def merge_of_sql(text: str) -> MergeOfSql:
    """Read a statement. Raises KeyError or TypeError for what it does not know."""
    tree = sqlglot.parse_one(text, read="spark")
    assert isinstance(tree, exp.Merge)
    using = tree.args["using"].this.sql(dialect="sqlite")
    on = _expression(tree.args["on"])
    return MergeOfSql(Merge(on, tuple(_clause(when) for when in tree.args["whens"].expressions)), using)


def _clause(when: exp.Expression) -> Clause:
    kind: Kind = (
        "matched" if when.args["matched"] else "not matched by source" if when.args["source"] else "not matched"
    )
    condition = when.args.get("condition")
    return Clause(kind, None if condition is None else _expression(condition), _action(when.args["then"]))


def _action(then: exp.Expression) -> Update | Delete | Insert:
    if isinstance(then, exp.Insert):
        names = [column.name for column in then.this.expressions]
        return Insert(tuple(zip(names, map(_expression, then.expression.expressions), strict=True)))
    if isinstance(then, exp.Update):
        return Update(tuple((each.this.name, _expression(each.expression)) for each in then.expressions))
    assert then.name == "delete"
    return Delete()


def _expression(tree: exp.Expression) -> Expression:
    if isinstance(tree, exp.Paren):
        return _expression(tree.this)
    if isinstance(tree, exp.Column):
        return Column(tree.table, tree.name)
    if isinstance(tree, exp.Null):
        return Literal(None)
    if isinstance(tree, exp.Boolean):
        return Literal(bool(tree.this))
    if isinstance(tree, exp.Literal):
        return Literal(tree.this if tree.is_string else int(tree.this))
    if isinstance(tree, exp.Not):
        return Call("not", (_expression(tree.this),))
    if isinstance(tree, exp.Is):
        name = {exp.Null: "is null", exp.Boolean: "is true"}[type(tree.expression)]
        assert name == "is null" or tree.expression.this is True
        return Call(name, (_expression(tree.this),))
    if isinstance(tree, exp.In):
        return Call("in", tuple(map(_expression, (tree.this, *tree.expressions))))
    if isinstance(tree, (exp.Coalesce, exp.Least)):
        return Call(tree.key, tuple(map(_expression, (tree.this, *tree.expressions))))
    return Call(_OPERATORS[type(tree)], (_expression(tree.this), _expression(tree.expression)))


def _sha2(text: str | None, bits: int) -> str | None:
    assert bits == 256
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def _value(name: str, value: object) -> object:
    return bool(value) if name in _FLAGS and value is not None else value
