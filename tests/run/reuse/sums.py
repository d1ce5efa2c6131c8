"""A second MERGE of a chain: an aggregate or a join over tables of other writers.

Its source is a query that SQLite runs as well, so that the simulation has its rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from random import Random

from tests.oracle.expression import Row

COLUMNS = {"id": "bigint", "d": "date", "n": "bigint"}
_SHAPES = {
    "select c.d, count(*) as n, max(c.id) as id from {c} as c group by c.d": "d",
    "select c.id, c.d, count(o.n) as n from {c} as c left join {o} as o on o.id = c.id and o.d = c.d group by c.id, c.d": "id d",
    "select o.id, o.d, count(c.n) as n from {o} as o left join {c} as c on c.d = o.d group by o.id, o.d": "id d",
    "select r.id, r.d, cast(r.n as bigint) as n from (select c.id, c.d, c.n, "
    "row_number() over (partition by c.id, c.d order by c.n desc) as nth from {c} as c) as r where r.nth = 1": "id d",
    "select a.d, count(*) as n, max(b.id) as id from {c} as a join {c} as b on b.d = a.d group by a.d": "d",
    "select c.d, count(*) as n, max(c.id) as id from {c} as c where c.id in (select o.id from {o} as o) group by c.d": "d",
    "select u.d, count(*) as n, max(u.id) as id from "
    "(select c.d, c.id from {c} as c union all select o.d, o.id from {o} as o) as u group by u.d": "d",
    "select g.d, count(g.id) as n, max(g.id) as id from (select c.d, c.id from {c} as c where c.n > 0 "
    "union all select a.d, cast(null as bigint) as id from {this} as a) as g group by g.d": "d",
    "select c.id, max(c.d) as d, sum(cast(c.n as bigint)) as n from {c} as c group by c.id": "id",
}
"""Queries over the tables `c` and `o`, and its own; with the keys of ON."""


@dataclass(frozen=True)
class Sums:
    """The MERGE: rows with the keys of a source row become that row, others are inserted.

    Where it carries the rows of its own table, one that no other row has a part in is deleted.
    """

    query: str
    keys: tuple[str, ...]

    @classmethod
    def of(cls, random: Random) -> Sums:
        """Return a random one."""
        query = random.choice([*_SHAPES])
        return cls(query, tuple(_SHAPES[query].split()))

    @property
    def carries(self) -> bool:
        """Whether it reads its own table."""
        return "{this}" in self.query

    def text(self, c: str, o: str) -> str:
        """Return its template; `c` and `o` name the tables in it."""
        query = self.query.format(c=c, o=o, this="{{ this }}")
        on = " and ".join(f"t.{key} <=> s.{key}" for key in self.keys)
        same = " and ".join(f"t.{name} <=> s.{name}" for name in COLUMNS)
        delete = "when matched and s.n = 0 then delete\n" if self.carries else ""
        return (
            f"merge into {{{{ this }}}} as t\nusing ({query}) as s\non {on}\n{delete}"
            f"when matched and not ({same}) then update set *\nwhen not matched then insert *\n"
        )

    def rows(self, tables: Mapping[str, Sequence[Row]]) -> list[Row]:
        """Return the rows of its source."""
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.row_factory = sqlite3.Row
            for name, rows in tables.items():
                connection.execute(f"create table {name} (id int, n int, d text)")
                cells = [(row["id"], row["n"], row["d"] and str(row["d"])) for row in rows]
                connection.executemany(f"insert into {name} values (?, ?, ?)", cells)
            found = connection.execute(self.query.format(**{name: name for name in tables}))
            return [{**dict(row), "d": row["d"] and date.fromisoformat(row["d"])} for row in found]

    def merged(self, old: Sequence[Row], source: Sequence[Row]) -> tuple[list[Row], dict[str, int]]:
        """Return what it makes of rows, and how many it inserts, updates and deletes."""
        new = {self._key(row): row for row in source}
        if len(new) != len(source):
            raise ValueError(source)
        made, counts = [], dict.fromkeys(("inserted", "updated", "deleted"), 0)
        for row in old:
            found = new.pop(self._key(row), None)
            if found is not None and self.carries and found["n"] == 0:
                counts["deleted"] += 1
                continue
            counts["updated"] += found not in (None, row)
            made.append(found or row)
        counts["inserted"] = len(new)
        return [*made, *new.values()], counts

    def _key(self, row: Row) -> tuple[object, ...]:
        return tuple(row[name] for name in self.keys)
