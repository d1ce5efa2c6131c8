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


def confined_of(query, days=()):
    statement = parse(f"merge into t using ({query}) as s on t.day = s.day when matched then delete")
    meant = {"c": "changed", "f": "fixed", "u": "fixed", "v": read_query("select day, n from c where n > 0")}
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
    """Random queries over the tables `c` (which changes) and `f`, all with the columns k, a and b."""

    def __init__(self, random):
        self.random, self.number = random, 0

    def query(self, depth):
        pick = self.random.random()
        if depth and pick < 0.2:
            kind = self.random.choice(["union all", "union", "except", "intersect"])
            return f"{self.select(depth - 1)} {kind} {self.select(depth - 1)}"
        if depth and pick < 0.3:
            self.number += 1
            name = f"w{self.number}"
            return f"with {name} as ({self.query(depth - 1)}) {self.select(depth - 1, name)}"
        if depth and pick < 0.4:
            return f"select x.* from ({self.query(depth - 1)}) as x"
        return self.select(depth)

    def relation(self, depth):
        return f"({self.query(depth - 1)})" if depth and self.random.random() < 0.5 else self.random.choice("ccf")

    def select(self, depth, name=None):
        choice = self.random.choice
        aliases = ["x", "y", "z"][: choice([1, 1, 2, 2, 3])]
        origin = f"{name or self.relation(depth)} as x"
        for place, alias in enumerate(aliases[1:], 1):
            kind = choice(["join", "left join", "left join", "right join", "full join"])
            conditions = [
                f"{alias}.{choice(COLUMNS)} {choice(['=', '=', '=', 'is', '<'])} {choice(aliases[:place])}.{choice(COLUMNS)}"
                for _ in range(choice([1, 2, 2]))
            ]
            origin += (
                f" {kind} {self.relation(depth)} as {alias} on {choice([' and ', ' and ', ' or ']).join(conditions)}"
            )
        own = [f"{choice(aliases)}.{choice(COLUMNS)}" for _ in COLUMNS]
        outputs, shape, end = list(own), self.random.random(), ""
        if shape < 0.3:
            keys = self.random.sample(range(3), choice([1, 2]))
            outputs = [text if place in keys else self.aggregate(aliases) for place, text in enumerate(own)]
            end = f" group by {', '.join(own[place] for place in keys)}"
        elif shape < 0.55:
            by = ", ".join(self.random.sample(own, choice([0, 1, 2])))
            inside = f"partition by {by} order by {own[0]}, {own[1]}" if by else f"order by {own[0]}"
            outputs[2] = f"{choice(['rank()', f'sum({own[1]})', 'count(*)'])} over ({inside})"
        elif shape < 0.65:
            outputs[1] = f"{own[1]} + 1"
        where = f" where {choice(own)} {choice(['> 0', '<> 1', 'is not null'])}" if choice([True, False]) else ""
        if self.random.random() < 0.1:
            where = f" where {own[0]} in (select {choice(COLUMNS)} from {choice('cff')})"
        distinct = "distinct " if self.random.random() < 0.1 else ""
        listed = ", ".join(f"{text} as {name}" for text, name in zip(outputs, COLUMNS, strict=True))
        return f"select {distinct}{listed} from {origin}{where}{end}"

    def aggregate(self, aliases):
        column = f"{self.random.choice(aliases)}.{self.random.choice(COLUMNS)}"
        return self.random.choice([f"max({column})", f"sum({column})", "count(*)", f"count(distinct {column})"])


def rows(random, number):
    return [tuple(random.choice([None, 0, 1, 1, 2, 2, 3]) for _ in COLUMNS) for _ in range(number)]


def results(query, changed, fixed):
    with closing(sqlite3.connect(":memory:")) as connection:
        for name, content in (("c", changed), ("f", fixed)):
            connection.execute(f"create table {name} ({', '.join(f'{column} int' for column in COLUMNS)})")
            connection.executemany(f"insert into {name} values (?, ?, ?)", content)
        return Counter(connection.execute(query).fetchall())


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 39), reason="SQLite has no full join")
@pytest.mark.parametrize("number", [600, pytest.param(60_000, marks=pytest.mark.nightly)])
def test_rows_without_the_values_of_a_change_are_what_they_were(number):
    random, checked, differing = Random(number), 0, 0
    for _ in range(number):
        query = Queries(random).query(2)
        days = random.choice([(), COLUMNS])  # all columns are of one type here
        of = confined_of(re.sub(r"\bis (?=[xyz]\.)", "<=> ", query), days)
        found = [(place, known.column) for place, name in enumerate(COLUMNS) if (known := of(name)) is not None]
        fixed = rows(random, 6)
        for place, column in found:
            at, values = COLUMNS.index(column), set(random.sample([0, 1, 2, 3], random.choice([1, 2])))
            kept = [row for row in rows(random, 8) if row[at] not in values]
            old, new = (kept + [row for row in rows(random, 8) if row[at] in values] for _ in range(2))
            before, after = results(query, old, fixed), results(query, new, fixed)
            left = [{row: n for row, n in each.items() if row[place] not in values} for each in (before, after)]
            assert left[0] == left[1], (query, COLUMNS[place], column, values, old, new, fixed)
            checked, differing = checked + 1, differing + (before != after)
    assert checked > number / 4
    assert differing > checked / 4
