"""What is proven of a second run of a MERGE: cases in repetitions.yml, and random MERGEs that the oracle runs twice."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.judge.repetition import repetition
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.query.source import KnownTable
from tests.oracle.expression import Column
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.merge import MultipleMatchesError, merged
from tests.oracle.query import SIDE, Arm, Query, rows_of
from tests.oracle.spark_sql import merge_text
from tests.oracle.tables import listed
from tests.oracle.usual import usual
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "repetitions.yml")
TYPED = tuple(TableColumn(name, parse_type(kind)) for name, kind in COLUMNS.items())
TARGET = TableLayout("delta", TYPED, partition_by=(), cluster_by=(), complete=True)
NEVER_NULL = tuple(TableColumn(name, parse_type(kind), nullable=False) for name, kind in COLUMNS.items())
TABLES = {
    ("never_null",): KnownTable(TableLayout("delta", NEVER_NULL, complete=True)),
    ("unique",): KnownTable(TableLayout("delta", TYPED, complete=True, unique=(frozenset({"id"}),))),
    ("plain",): KnownTable(TableLayout("delta", TYPED, complete=True)),
    ("target",): KnownTable(TARGET),
}


def found_of(text):
    return repetition(judge_merge(parse(text), TARGET, TABLES.get))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_is_proven(case):
    using, on = case.get("using", "unique s"), case.get("match", "t.id = s.id")
    found = found_of(f"merge into target t using {using} on {on} {case['clauses']}")
    reasons = {name: getattr(found, name) for name in ("varies", "updates", "inserts", "deletes")}
    assert {name: reason for name, reason in reasons.items() if reason is not None} == {
        name: case[name] for name in reasons if name in case
    }
    if "varies" not in case:
        keys = [f"{key.column}{' or NULL' if key.null_safe else ''}" for key in found.keys]
        wanted = case.get("keys", ["id"]) if "insert" in case["clauses"] else keys
        assert (keys, [key.column for key in found.set_keys]) == (wanted, case.get("set_keys", []))
    assert found.by_day == case.get("by_day", found.by_day)
    assert found.one_row_each == case.get("one_row_each", found.one_row_each)
    assert (found.reads_target, found.unique) == (case.get("reads_target", False), case.get("unique", found.unique))


def check(seed, seen):
    random = Random(seed)
    make = Generator(random)
    merge = usual(random) if random.random() < 0.6 else make.merge([])
    latest = ("id",) if random.random() < 0.5 else ()
    arm = Arm("plain", None, tuple((name, Column(SIDE, name)) for name in COLUMNS))
    query = Query((arm,), latest, tuple(COLUMNS) if latest else ())
    text = merge_text(merge, "target", query, str, {"t": "t", "s": "s"}, cte=False)
    found = found_of(text)
    target = make.rows(8, unique=random.random() < 0.5, keys=["id"])
    source = rows_of(query, {"plain": make.rows(8, target, ["id"], unique=random.random() < 0.7)})
    try:
        first = merged(merge, target, source, COLUMNS)
    except MultipleMatchesError:
        return
    seen["runs"] += 1
    keys_hold = all(key.null_safe or all(row[key.column] is not None for row in first.rows) for key in found.keys)
    doubts = [
        found.varies,
        found.updates,
        found.inserts if first.inserted else None,
        found.deletes if first.deleted else None,
    ]
    if any(doubts) or (first.inserted and not keys_hold):
        seen["not proven"] += 1
        return
    seen["proven"] += 1
    seen["inserted"] += first.inserted > 0
    seen["deleted"] += first.deleted > 0
    seen["updated"] += first.updated > 0
    second = merged(merge, first.rows, source, COLUMNS)
    assert listed(second.rows) == listed(first.rows), text
    assert not second.inserted, text
    assert not second.deleted, text


@given(st.integers(0, 10**9))
def test_a_second_run_changes_nothing_where_that_is_proven(seed):
    check(seed, Counter())


@pytest.mark.nightly
@given(st.integers(0, 10**9))
@settings(max_examples=10 * settings.default.max_examples)
def test_a_second_run_changes_nothing_in_many_merges(seed):
    check(seed, Counter())
