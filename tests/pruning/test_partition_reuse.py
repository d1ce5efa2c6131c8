"""A MERGE over changed partitions of its source: when it may be, and that it gives what the whole source gives."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.judge.partition_reuse import joined_columns
from merge_runner.pruning.judge.repetition import repetition
from tests.oracle.expression import Call, Column
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.merge import MultipleMatchesError, merged
from tests.oracle.query import SIDE, Arm, Query, rows_of
from tests.oracle.spark_sql import merge_text
from tests.oracle.tables import listed
from tests.oracle.usual import usual
from tests.pruning.test_repetition import TABLES, TARGET
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "partition_reuse.yml")


def columns_of(text):
    found = joined_columns(judge_merge(parse(text), TARGET, TABLES.get))
    return found if isinstance(found, str) else sorted(found)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['using']} on {case['match']}" for case in CASES])
def test_by_which_columns_on_joins(case):
    clauses = case.get("clauses", "when not matched then insert *")
    text = f"merge into target t using {case['using']} on {case['match']} {clauses}"
    assert columns_of(text) == case.get("columns", case.get("why"))


def outcome(merge, target, source):
    try:
        found = merged(merge, target, source, COLUMNS)
    except MultipleMatchesError:
        return "several matches"
    return listed(found.rows), found.inserted, found.deleted  # an update may set what is there


def check(seed, seen):
    """Run a MERGE on rows until it changes nothing, change some of these rows, and run it over all and over those."""
    random = Random(seed)
    make, merge = Generator(random), usual(random)
    if random.random() < 0.7:
        merge = replace(merge, on=Call("and", (merge.on, Call("=", (Column("t", "d"), Column("s", "d"))))))
    query = Query((Arm("plain", None, tuple((name, Column(SIDE, name)) for name in COLUMNS)),), (), ())
    text = merge_text(merge, "target", query, str, {"t": "t", "s": "s"}, cte=False)
    judged = judge_merge(parse(text), TARGET, TABLES.get)
    by = joined_columns(judged)
    if isinstance(by, str):
        return
    column = random.choice(sorted(by))
    target = make.rows(8, unique=random.random() < 0.5, keys=["id"])
    before = make.rows(10, target, ["id", "d"], unique=random.random() < 0.7)
    try:
        first = merged(merge, target, rows_of(query, {"plain": before}), COLUMNS)
    except MultipleMatchesError:
        return
    proof = repetition(judged)
    proven = not any([proof.varies, proof.updates, first.inserted and proof.inserts, first.deleted and proof.deletes])
    keys_hold = all(key.null_safe or all(row[key.column] is not None for row in first.rows) for key in proof.keys)
    shown = not (first.inserted or first.updated or first.deleted)
    if not shown and not (proven and (keys_hold or not first.inserted)):
        return
    values = sorted({row[column] for row in before} - {None}, key=str)
    changed = {value for value in values if random.random() < 0.4}
    kept = [row for row in before if row[column] not in changed]
    fresh = make.rows(8, [*before, *first.rows], [*{"id", "d", column}])
    new = [row for row in fresh if row[column] in changed or row[column] not in (None, *values)]
    whole = outcome(merge, first.rows, rows_of(query, {"plain": [*kept, *new]}))
    part = outcome(merge, first.rows, rows_of(query, {"plain": new}))
    seen["compared"] += 1
    seen["several matches"] += whole == "several matches"
    seen["changing"] += whole != "several matches" and whole[0] != listed(first.rows)
    assert whole == part, text


@given(st.integers(0, 10**9))
def test_changed_partitions_give_what_the_whole_source_gives(seed):
    check(seed, Counter())


@pytest.mark.slow
@given(st.integers(0, 10**9))
@settings(max_examples=10 * settings.default.max_examples)
def test_changed_partitions_of_many_merges_do(seed):
    check(seed, Counter())
