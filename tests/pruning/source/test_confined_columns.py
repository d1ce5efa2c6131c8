"""Which columns of a query confine a change: cases, and random queries that SQLite runs before and after a change."""

import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from merge_runner.merge.parse import parse
from merge_runner.merge.read_query import read_query
from merge_runner.pruning.query.confined_columns import Confined, confined_columns
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("confined_columns.yml"))
COLUMNS = ("k", "a", "b")
VIEW = "select x.b as k, x.a as a, x.k as b from c as x where x.a is not null"


def confined_of(query, days=(), view="select day, n from c where n > 0"):
    statement = parse(f"merge into t using ({query}) as s on t.day = s.day when matched then delete")
    meant = {"c": "changed", "f": "fixed", "u": "fixed", "v": read_query(view)}
    return confined_columns(statement, lambda parts: meant.get(".".join(parts).casefold()), days)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["query"])
def test_a_column_confines_a_change(case):
    of = confined_of(case["query"], case.get("days", ()))
    expected = {
        name: column and Confined(column.lstrip("~"), compared=column.count("~"))
        for name, column in case["confined"].items()
    }
    assert {name: of(name) for name in expected} == expected


class Queries:
    """Random queries over the tables `c` (which changes) and `f`, and the view `v` over `c`, all with the columns k, a and b.

    Each is a pair of texts: as Spark has it, and the same for SQLite.
    """

    def __init__(self, random):
        self.random, self.number, self.tables = random, 0, "cccfffv"

    def query(self, depth):
        pick = self.random.random()
        if depth and pick < 0.2:
            kinds = self.random.choice([["union all"], ["union"], ["except"], ["intersect"], ["union all", "union"]])
            found = self.select(depth - 1)
            for kind in kinds:
                found = both(f"{{}} {kind} {{}}", found, self.select(depth - 1))
            return found
        if depth and pick < 0.3:
            self.number += 1
            return self.with_cte(f"w{self.number}", depth)
        if depth and pick < 0.35:
            return self.shadowed(depth)
        if depth and pick < 0.45:
            return both("select {} from ({}) as x", same(self.random.choice(["x.*", "*"])), self.query(depth - 1))
        return self.select(depth)

    def with_cte(self, name, depth):
        return both(f"with {name} as ({{}}) {{}}", self.query(depth - 1), self.select(depth - 1, name))

    def shadowed(self, depth):
        """A CTE with the name of a table, which it does not read itself."""
        name, outside = self.random.choice("cf"), self.tables
        self.tables = outside.replace(name, "").replace("v", "")  # in SQLite a view reads the CTE
        if not self.tables:
            self.tables = outside
            return self.select(depth)
        inner = self.query(depth - 1)
        self.tables += name * 2
        found = both(f"with {name} as ({{}}) {{}}", inner, self.select(depth - 1, self.random.choice([name, None])))
        self.tables = outside
        return found

    def relation(self, depth):
        if depth and self.random.random() < 0.5:
            return both("({})", self.query(depth - 1))
        return same(self.random.choice(self.tables))

    def column(self, aliases):
        return f"{self.random.choice(aliases)}.{self.random.choice(COLUMNS)}"

    def condition(self, alias, before):
        choice = self.random.choice
        conditions = [
            f"{alias}.{choice(COLUMNS)} {choice(['=', '=', '=', 'is', '<'])} {choice(before)}.{choice(COLUMNS)}"
            for _ in range(choice([1, 2, 2]))
        ]
        text = choice([" and ", " and ", " or "]).join(conditions)
        return f"not ({text})" if self.random.random() < 0.05 else text

    def select(self, depth, name=None):
        choice = self.random.choice
        aliases = ["x", "y", "z"][: choice([1, 1, 2, 2, 3])]
        origin, filters = both("{} as x", same(name) if name else self.relation(depth)), []
        for place, alias in enumerate(aliases[1:], 1):
            origin = self.joined(origin, aliases[:place], alias, self.relation(depth))
        if self.random.random() < 0.1:
            kind, inside = choice(["semi", "anti"]), self.relation(depth)
            on = self.condition("q", aliases)
            exists = both(f"{{}} as q where {on}", inside)[1]
            filters.append(("", f"{'not ' if kind == 'anti' else ''}exists (select 1 from {exists})"))
            origin = (f"{origin[0]} left {kind} join {inside[0]} as q on {on}", origin[1])
        own = [self.column(aliases) for _ in COLUMNS]
        if len(aliases) == 1 and self.random.random() < 0.3:
            own = [text.removeprefix("x.") for text in own]
        outputs, end = self.shape(aliases, own)
        filters += [same(f"{choice(own)} {choice(['> 0', '<> 1', 'is not null'])}")] if choice([True, False]) else []
        filters += [self.of_query(aliases)] if self.random.random() < 0.12 else []
        where = tuple(" and ".join(each[side] for each in filters if each[side]) for side in range(2))
        where = tuple(f" where {text}" if text else "" for text in where)
        distinct = "distinct " if self.random.random() < 0.1 else ""
        listed = both(", ".join(f"{{}} as {name}" for name in COLUMNS), *outputs)
        if self.random.random() < 0.03:
            end = both(f"{{}} order by {', '.join(COLUMNS)} limit {choice([1, 4])} offset {choice([0, 2])}", end)
        found = both(f"select {distinct}{{}} from {{}}{{}}{{}}", listed, origin, where, end)
        return both("select * from ({}) as o", found) if " limit " in end[0] else found  # within a set operation

    def joined(self, origin, before, alias, relation):
        kind = self.random.choice([*["join", "left join"] * 3, "right join", "full join", ",", "cross join", "using"])
        if kind == "using":
            return both(f"{{}} left join {{}} as {alias} using ({self.random.choice(COLUMNS)})", origin, relation)
        on = "" if kind in (",", "cross join") else f" on {self.condition(alias, before)}"
        return both(f"{{}} {kind} {{}} as {alias}{on}", origin, relation)

    def shape(self, aliases, own):
        """The outputs of a SELECT that has these columns to give, and what follows its WHERE."""
        choice, outputs, shape = self.random.choice, [same(text) for text in own], self.random.random()
        if shape < 0.3:
            keys = self.random.sample(range(3), choice([1, 2]))
            by = [f"{text} + 0" if self.random.random() < 0.1 else text for text in own]
            outputs = [same(by[place] if place in keys else self.aggregate(aliases)) for place in range(3)]
            having = choice(["", "", f" having {self.aggregate(aliases)} > 1"])
            return outputs, same(f" group by {', '.join(by[place] for place in keys)}{having}")
        if shape < 0.33:
            return [same(self.aggregate(aliases)) for _ in COLUMNS], same("")
        if shape < 0.58:
            by = ", ".join(self.random.sample(own, choice([0, 1, 2])))
            inside = f"partition by {by} order by {own[0]}, {own[1]}" if by else f"order by {own[0]}"
            frame = choice(["", "", " groups between 1 preceding and 1 following"])  # SQLite's: Spark has none
            what = choice(["rank()", f"sum({own[1]})", "count(*)"])
            outputs[2] = (f"{what} over ({inside})", f"{what} over ({inside}{frame})")
        elif shape < 0.66:
            outputs[1] = same(f"{own[1]} + 1")
        elif shape < 0.7:
            table, on = choice(self.tables), self.condition("q", aliases)
            outputs[1] = same(f"(select max(q.a) from {table} as q where {on})")
        elif shape < 0.72 and len(aliases) == 1:
            return outputs, same(f" group by {', '.join(COLUMNS)}, {', '.join(own)}")  # names of outputs as well
        return outputs, same("")

    def of_query(self, aliases):
        """A condition with a query."""
        choice, table = self.random.choice, self.random.choice(self.tables)
        if choice([True, False]):
            on = self.condition("q", aliases)
            return same(f"{choice(['', 'not '])}exists (select 1 from {table} as q where {on})")
        within = f"select q.{choice(COLUMNS)} from {table} as q"
        return same(f"{self.column(aliases)} {choice(['', 'not '])}in ({within} where q.k is not null)")

    def aggregate(self, aliases):
        column = self.column(aliases)
        return self.random.choice([f"max({column})", f"sum({column})", "count(*)", f"count(distinct {column})"])


def same(text):
    return (text, text)


def both(template, *parts):
    return tuple(template.format(*(part[side] for part in parts)) for side in range(2))


def rows(random, number):
    return [tuple(random.choice([None, 0, 1, 1, 2, 2, 3]) for _ in COLUMNS) for _ in range(number)]


def results(query, changed, fixed):
    with closing(sqlite3.connect(":memory:")) as connection:
        for name, content in (("c", changed), ("f", fixed)):
            connection.execute(f"create table {name} ({', '.join(f'{column} int' for column in COLUMNS)})")
            connection.executemany(f"insert into {name} values (?, ?, ?)", content)
        connection.execute(f"create view v as {VIEW}")
        return Counter(connection.execute(query).fetchall())


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 39), reason="SQLite has no full join")
@pytest.mark.parametrize("number", [600, pytest.param(60_000, marks=pytest.mark.nightly)])
def test_rows_without_the_values_of_a_change_are_what_they_were(number):
    counts = compared(number, number)
    assert counts["proofs"] > number / 8
    assert counts["differing"] > counts["proofs"] / 5


def compared(seed, number):
    """Compare so many queries before and after a change; return how many there were, with a proof, and of how many columns."""
    random, counts = Random(seed), Counter(queries=number)
    for _ in range(number):
        query, in_sqlite = Queries(random).query(2)
        days = random.choice([(), COLUMNS])  # all columns are of one type here
        of = confined_of(re.sub(r"\bis (?=[xyz]\.)", "<=> ", query), days, VIEW)
        found = [(place, known.column) for place, name in enumerate(COLUMNS) if (known := of(name)) is not None]
        counts["queries with a proof"] += bool(found)
        fixed = rows(random, 6)
        for place, column in found:
            at, values = COLUMNS.index(column), set(random.sample([0, 1, 2, 3], random.choice([1, 2])))
            kept = [row for row in rows(random, 8) if row[at] not in values]
            old, new = (kept + [row for row in rows(random, 8) if row[at] in values] for _ in range(2))
            before, after = results(in_sqlite, old, fixed), results(in_sqlite, new, fixed)
            left = [{row: n for row, n in each.items() if row[place] not in values} for each in (before, after)]
            assert left[0] == left[1], (query, COLUMNS[place], column, values, old, new, fixed)
            counts.update(proofs=1, differing=before != after)
    return counts
