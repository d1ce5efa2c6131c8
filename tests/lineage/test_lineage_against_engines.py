"""The edges of lineage against what the engines change: one value of a source is changed, and the MERGE is run again.

Every column of the target with a cell that differs then has to have an edge from the changed column; and every column
of a source that is said to be an input has to change something, for edges to values the very column.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import permutations

import pytest

from merge_runner.lineage.edge import Table
from merge_runner.lineage.merge import merge_lineage
from merge_runner.merge.parse import parse
from tests.lineage.lineage_cases import cases
from tests.lineage.truth_table import losses, record, truth_table
from tests.reports import write_report

CASES = cases("truth")
SOURCES = {
    "s": {
        "id": (1, 2, 3, 4),
        "a": (10, 20, 30, 40),
        "b": ("x", "y", "x", "z"),
        "c": (5, -1, 7, -2),
        "st": ((1, 2), (3, 4), (5, 6), (7, 8)),
    },
    "u": {"k": (1, 2, 3, 5), "x": (100, 200, 300, 500)},
}
CHANGES = {
    "s.id": ((0, 9), (2, 77), (1, 8), (1, 66)),
    "s.a": ((0, 1000), (2, -1000), (0, None), (1, 11), (3, 44)),
    "s.b": ((0, "y"), (1, "x"), (2, "long")),
    "s.c": ((0, -9), (1, 99), (2, -9), (0, 2)),
    "s.st": ((0, (100, 200)), (1, (30, 40)), (2, (300, 400))),
    "u.k": ((0, 4), (1, 77), (3, 1)),
    "u.x": ((0, 9000), (1, 20), (0, None), (3, 4000)),
}
"""For each column of a source, values that one of its rows gets instead: row, value."""
TARGET = (
    (1, 10, "x", 1, (0, 0)),
    (2, 11, "q", 2, (0, 0)),
    (8, 80, "o", -3, (9, 9)),
    (9, 90, "p", 4, (9, 9)),
)
TYPES = {"id": "int", "a": "int", "b": "string", "n": "int", "st": "struct<x: int, y: int>"}
DOUBLED = ("doubled", "a * 2")
ABSENT = object()


def statement(case):
    evolution = "with schema evolution " if case.get("evolution") else ""
    ctes = f"with {case['with']} " if "with" in case else ""
    using = f"{case['using']} as s" if "using" in case else "s"
    return f"{ctes}merge {evolution}into t using {using} on {case.get('on', 't.id = s.id')} {case['sql']}"


def lineage(case):
    generated = (DOUBLED,) if case.get("generated") else ()
    columns = (*TYPES, *(name for name, _ in generated))
    tables = {name: Table(name, tuple(columns), True) for name, columns in SOURCES.items()}
    target = tables["t"] = Table("t", columns, True, generated)
    return merge_lineage(parse(statement(case)), target, lambda parts: tables.get(parts[-1]))


def literal(value):
    if isinstance(value, tuple):
        return f"named_struct('x', {value[0]}, 'y', {value[1]})"
    return "null" if value is None else repr(value)


def rows_text(rows):
    return ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


class Engine:
    """A session in which `t`, `s` and `u` are the tables of the statements."""

    def __init__(self, spark):
        self.session = spark.newSession()
        self.merges = 0
        for schema in ("ice.lineage", "spark_catalog.lineage"):
            self.session.sql(f"create schema if not exists {schema}")
        self.session.sql("use ice.lineage")
        self.session.sql(f"create table t ({', '.join(map(' '.join, TYPES.items()))}) using iceberg")
        self.session.sql(f"insert into t select /*+ coalesce(1) */ * from values {rows_text(TARGET)}")
        self.first = self.session.sql("select snapshot_id from ice.lineage.t.snapshots").collect()[0][0]

    def source(self, name, change=None):
        """Make a source with its rows, one value of which may be another."""
        columns = {column: list(values) for column, values in SOURCES[name].items()}
        if change is not None:
            column, row, value = change
            columns[column][row] = value
        rows = rows_text(zip(*columns.values(), strict=True))
        self.session.sql(
            f"create or replace temp view {name} as select * from values {rows} as v({', '.join(columns)})"
        )

    def target(self, case):
        """Make the target as it was before."""
        if case.get("format") != "delta":
            self.session.sql("use ice.lineage")
            self.session.sql(f"call ice.system.rollback_to_snapshot('lineage.t', {self.first})")
            return
        self.session.sql("use spark_catalog.lineage")
        columns = [f"{name} {text}" for name, text in TYPES.items()]
        if case.get("generated"):
            columns.append(f"{DOUBLED[0]} int generated always as ({DOUBLED[1]})")
        self.session.sql(f"create or replace table t ({', '.join(columns)}) using delta")
        names = ", ".join(TYPES)
        self.session.sql(f"insert into t ({names}) select /*+ coalesce(1) */ * from values {rows_text(TARGET)}")

    def merged(self, case):
        """The target's rows by column after the MERGE; None where the engine refuses it for these values."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        self.target(case)
        self.merges += 1
        try:
            self.session.sql(statement(case))
        except (PySparkException, Py4JJavaError) as error:
            if re.search(r"CARDINALITY|MULTIPLE_SOURCE_ROW|[Mm]ultiple.*rows|ARITHMETIC|CAST_INVALID", str(error)):
                return None
            raise AssertionError(f"{case['name']}: {error}") from error
        return [row.asDict(recursive=True) for row in self.session.sql("select * from t").collect()]


def changed_columns(before, after):
    """The columns with a cell that differs: rows are paired so that as few cells as can be do."""
    columns = list(dict.fromkeys(name for row in (*before, *after) for name in row))
    count = Counter(map(str, before))
    left = []
    for row in after:
        if count[str(row)]:
            count[str(row)] -= 1
        else:
            left.append(row)
    gone = []
    for row in before:
        if count[str(row)]:
            count[str(row)] -= 1
            gone.append(row)
    size = max(len(gone), len(left))
    gone += [None] * (size - len(gone))
    left += [None] * (size - len(left))
    pairings = (
        [differing(one, other, columns) for one, other in zip(gone, each, strict=True)] for each in permutations(left)
    )
    best = min(pairings, key=lambda each: sum(map(len, each)), default=[])
    return set().union(*best)


def differing(one, other, columns):
    if one is None or other is None:
        return set(columns)
    return {name for name in columns if one.get(name, ABSENT) != other.get(name, ABSENT)}


def sources_of(case):
    """The columns of sources that the statement may depend on: those that its text names, or all with a star."""
    text = statement(case)
    star = "*" in re.sub(r"count\(\*\)|\w \* \d", "", text)
    for name, columns in SOURCES.items():
        if re.search(rf"\b{name}\b", re.sub(r"\bas s\b", "", text)):
            yield from ((name, column) for column in columns if star or re.search(rf"\b{column}\b", text))


def edges_of(case):
    """The edges from columns of sources, as source, column, target's column; whether values are made of it."""
    found = lineage(case)
    assert found.all_unresolved == (), (case["name"], found.all_unresolved)
    return {
        (part.relation, part.column, column.column): part.is_direct
        for column in found.columns
        for part in sorted(found.inputs(column), key=lambda part: part.is_direct)
        if part.relation in SOURCES
    }


def compare(engine, case):
    """Edges that are missing, that no change shows, and the numbers of edges and of those that were seen."""
    edges = edges_of(case)
    for name in SOURCES:
        engine.source(name)
    before = engine.merged(case)
    assert before is not None, case["name"]
    missing, seen = [], set()
    for name, column in sources_of(case):
        for row, value in CHANGES[f"{name}.{column}"]:
            engine.source(name, (column, row, value))
            after = engine.merged(case)
            for target in changed_columns(before, after) if after is not None else ():
                seen.add((name, column, target))
                if (name, column, target) not in edges:
                    missing.append(f"{case['name']}: {name}.{column} -> {target}, when row {row} becomes {value!r}")
        engine.source(name)
    moving = {(name, column) for name, column, _ in seen}
    unseen = [
        f"{case['name']}: {'.'.join(edge[:2])} -> {edge[2]}"
        for edge, is_direct in edges.items()
        if (edge not in seen if is_direct else edge[:2] not in moving)
        and ".".join(edge[:2]) not in case.get("unseen", {})
    ]
    direct = {edge for edge, is_direct in edges.items() if is_direct}
    return missing, unseen, (len(edges), len(direct), len(seen & edges.keys()), len(seen & direct))


def test_the_statements_are_many_and_of_all_kinds():
    assert len(CASES) >= 60
    text = " ".join(map(statement, CASES))
    for words in (
        "when matched then update",
        "when matched and",
        "then delete",
        "when not matched then insert",
        "when not matched and",
        "when not matched by source then update",
        "when not matched by source and",
        "update set *",
        "insert *",
        "schema evolution",
    ):
        assert words in text


SOME = ("all kinds",)


@pytest.mark.spark
@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param([case for case in CASES if case["name"] in SOME], id="some", marks=pytest.mark.slow),
        pytest.param(CASES[::32], id="a few", marks=pytest.mark.nightly),
        pytest.param(CASES, id="all", marks=pytest.mark.nightly),
    ],
)
def test_what_a_change_of_a_source_changes_has_an_edge(spark, chosen):
    engine = Engine(spark)
    results, shown = [], {}
    try:
        for case in chosen:
            before = engine.merges
            results.append(compare(engine, case))
            edges, direct, seen, direct_seen = results[-1][2]
            shown[case["name"]] = [engine.merges - before, direct, edges - direct, direct_seen, seen - direct_seen]
    finally:
        for table in ("ice.lineage.t", "spark_catalog.lineage.t"):
            engine.session.sql(f"drop table if exists {table}")
    write_report(f"lineage-{len(chosen)}.md", truth_table(shown))
    if "RECORD" in os.environ and chosen == CASES:
        record(shown)
    assert losses(shown) == []
    assert [line for missing, _, _ in results for line in missing] == []
    assert [line for _, unseen, _ in results for line in unseen] == []
