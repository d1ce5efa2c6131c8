"""A runtime filter of a source that reads a mark of the target changes nothing, whenever a second writer commits."""

import itertools
import threading
import time
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from merge_runner.engine.context import NodeContext
from merge_runner.engine.merge.pipeline import run_merge
from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.table_format import registry
from merge_runner.engine.tables.input_cache import SharedInputs
from merge_runner.formats.branches import CONF
from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.runtime_filter import bounding
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import PartitionField, TableColumn, TableLayout
from merge_runner.pruning.query.source import KnownTable
from merge_runner.relation import Relation

pytestmark = pytest.mark.spark

SCHEMA = {"delta": "mark_test", "iceberg": "ice.mark_test"}
COLUMNS = (("id", "bigint"), ("dt", "date"), ("ts", "timestamp"), ("v", "string"))
MARK = "select max(ts) from {target}"
SOURCES = {
    "scan": f"(select * from {{source}} where ts > ({MARK})) as s",
    "scan, default": f"(select * from {{source}} where ts > coalesce(({MARK}), timestamp'1900-01-01')) as s",
    "a filter in the mark": f"(select * from {{source}} where ts >= ({MARK} where v <> 'x') or v = 'u') as s",
    "cross join": (
        "(select q.* from {source} as q cross join "
        "(select max(ts) - interval 1 day as mark, count(*) from {target}) as m where q.ts > m.mark or m.mark is null) as s"
    ),
    "grouped": f"(select id, dt, max(ts) as ts, max(v) as v from {{source}} where ts > ({MARK}) group by id, dt) as s",
}
MERGE = """merge into {target} as t using {using} on t.id = s.id and t.dt = s.dt
when matched then update set v = concat(t.v, s.v), ts = s.ts
when not matched then insert *"""
WRITERS = {
    "newer rows": "insert into {target} select id + 10, dt, ts, 'w' from ({rows})",
    "no rows any more": "delete from {target}",
    "the newest rows gone": "delete from {target} where ts >= timestamp'2024-01-03'",
    "other values, the same mark": "update {target} set v = 'changed' where id = 1",
    "a merge from itself": (
        "merge into {target} as t using (select id + 20 as id, dt, max(ts) as ts, 'm' as v from {target} group by all) as s "
        "on t.id = s.id and t.dt = s.dt when not matched then insert *"
    ),
}
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Formats:
    """What the pipeline asks of a catalog."""

    table_format = staticmethod(registry.table_format)


@pytest.fixture(scope="module")
def session(driver):
    session = driver.spark.newSession()
    for schema in SCHEMA.values():
        session.sql(f"create schema if not exists {schema}")
    yield session
    for schema in SCHEMA.values():
        session.sql(f"drop schema {schema} cascade")


def rows_of(given):
    """A query for rows: a number, a day from 2024-01-01 on, a value, and by how many days `ts` is after that day."""
    listed = ", ".join(f"({id}, {day}, '{v}', {day + sum(late)})" for id, day, v, *late in given) or "(0, 0, '', 0)"
    where = "" if given else " where false"
    return (
        "select cast(col1 as bigint) as id, date_add(date'2024-01-01', col2) as dt, "
        f"timestamp'2024-01-01 06:00:00' + make_interval(0, 0, 0, col4) as ts, col3 as v from values {listed}{where}"
    )


def make_table(session, table_format, held):
    """The name of a table with these rows."""
    name = f"{SCHEMA[table_format]}.t{next(_NUMBERS)}"
    session.sql(f"create table {name} using {table_format} partitioned by (dt) as {rows_of(held)}")
    return name


def step_of(table_format, target, source, using, merge=MERGE):
    text = merge.format(target=target, using=SOURCES[using].format(target=target, source=source))
    columns = tuple(TableColumn(name, parse_type(type_)) for name, type_ in COLUMNS)
    layout = TableLayout(table_format, columns, complete=True, partition_by=(PartitionField("dt"),), cluster_by=())
    known = KnownTable(TableLayout(table_format))
    judged = judge_merge(parse(text), layout, lambda _: known, ["dt"])
    return RunMerge(Relation(*reversed(target.split("."))), text, judged, bounding(judged, ["dt"]))


def context_of(session, before=lambda _: None, *, alone=True):
    return NodeContext(session, Formats(), SharedInputs([]), "run model.shop.m", "", on_statement=before, alone=alone)


def content(session, table):
    return Counter(tuple(map(str, row)) for row in session.table(table).collect())


def drop(session, tables):
    for name in tables:
        session.sql(f"drop table {name}")


def check(session, table_format, using, writer, target, source, late):
    """Run the MERGE with a second writer between its runtime filter and its statement; compare with both orders."""
    own, given = tables = [make_table(session, table_format, held) for held in (target, source)]
    other = WRITERS[writer].format(target="{target}", rows=rows_of(late)) if writer else "select 1"
    statements = []

    def commit(text):
        statements.append(text)
        if len(statements) == 1:
            session.sql(other.format(target=own)).collect()

    step = step_of(table_format, own, given, using)
    context = context_of(session, commit)
    run_merge(step, context)
    found, expected = content(session, own), []
    for writes_first in (True, False) if writer else (True,):
        if found not in expected:  # the other order is run where it is asked for
            table = make_table(session, table_format, target)
            tables.append(table)
            pair = [other.format(target=table), step_of(table_format, table, given, using).sql]
            for text in pair if writes_first else reversed(pair):
                session.sql(text).collect()
            expected.append(content(session, table))
    drop(session, tables)
    assert found in expected, statements
    return statements, context.output.response


TARGET = [(1, 0, "a"), (2, 1, "b"), (3, 2, "c")]
SOURCE = [(1, 0, "u"), (3, 2, "u"), (4, 3, "n"), (5, 4, "n")]


def some(fast):
    """All pairs of a format and another parameter; of those that are not `fast`, Iceberg's are slow and Delta's nightly tests."""
    rest = {"delta": pytest.mark.nightly, "iceberg": pytest.mark.slow}
    pairs = itertools.product(SCHEMA, fast)
    return [pytest.param(*pair, marks=() if fast[pair[1]] == pair[0] else rest[pair[0]]) for pair in pairs]


@pytest.mark.parametrize(("table_format", "using"), some(dict.fromkeys(SOURCES) | {"scan": "iceberg"}))
def test_the_filter_of_each_form_of_a_mark(session, table_format, using):
    statements, response = check(session, table_format, using, None, TARGET, SOURCE, [])
    (text,) = statements
    assert response.runtime_filter.bounds_left_out == []
    assert response.runtime_filter.bounds["dt"].endswith("values")
    assert response.runtime_filter.staged == (using in ("cross join", "grouped"))
    assert "raise_error" in text


@pytest.mark.parametrize(
    ("table_format", "writer"),
    some(dict.fromkeys(WRITERS) | {"newer rows": "iceberg"}),
)
def test_a_writer_that_changes_the_mark_makes_the_merge_run_as_its_author_wrote_it(session, table_format, writer):
    statements, response = check(session, table_format, "scan", writer, TARGET, SOURCE, [(7, 3, "l")])
    if writer in ("other values, the same mark", "a merge from itself"):
        assert len(statements) == 1
        assert response.runtime_filter.bounds
    else:
        assert len(statements) == 2
        assert "raise_error" not in statements[1]
        (reason,) = response.runtime_filter.bounds_left_out
        assert reason == "another writer has changed what the source reads of the target meanwhile"


def rows(most):
    values = st.tuples(st.integers(1, 3), st.integers(0, 3), st.sampled_from("abux"), st.integers(0, 3))
    return st.lists(values, max_size=most)


PAIRS = {
    "using": st.sampled_from(sorted(SOURCES)),
    "writer": st.sampled_from(sorted(WRITERS)),
    "target": rows(6),
    "source": rows(8).map(lambda found: list({row[:2]: row for row in found}.values())),
    "late": rows(3),
}
CHANGED = {"target": [(1, 0, "a"), (2, 3, "b")], "source": [(1, 0, "u", 2), (2, 3, "n", 1)], "late": []}
"""Rows with which the result is another one where the MERGE does not notice that the mark has changed."""


@pytest.mark.slow
@pytest.mark.parametrize("table_format", SCHEMA)
@settings(
    max_examples=max(1, settings.default.max_examples // 50), suppress_health_check=list(HealthCheck), derandomize=True
)
@given(**PAIRS)
@example(using="scan", writer="the newest rows gone", **CHANGED)
@example(using="grouped", writer="no rows any more", **CHANGED)
def test_the_result_is_that_of_some_order_of_the_writers(session, table_format, using, writer, target, source, late):
    check(session, table_format, using, writer, target, source, late)


@pytest.mark.nightly
@pytest.mark.parametrize("table_format", SCHEMA)
@settings(max_examples=20, suppress_health_check=list(HealthCheck), derandomize=True)
@given(**PAIRS)
def test_the_result_is_that_of_some_order_in_many_merges(session, table_format, using, writer, target, source, late):
    check(session, table_format, using, writer, target, source, late)


def test_a_merge_into_an_iceberg_table_that_others_may_write_runs_on_a_branch(session):
    own, copy, given = tables = [make_table(session, "iceberg", held) for held in (TARGET, TARGET, SOURCE)]
    statements = []
    context = context_of(session, statements.append, alone=False)
    run_merge(step_of("iceberg", own, given, "scan"), context)
    session.sql(step_of("iceberg", copy, given, "scan").sql)
    found, expected = content(session, own), content(session, copy)
    assert context.output.response.runtime_filter.bounds
    assert "branch_merge_runner" in statements[0]
    other = session.newSession()
    busy = context_of(session, lambda _: other.sql(f"insert into {own} {rows_of([(9, 0, 'l')])}"), alone=False)
    session.sql(f"insert into {given} {rows_of([(6, 4, 'n')])}")
    with pytest.raises(EngineError) as raised:
        run_merge(step_of("iceberg", own, given, "a filter in the mark"), busy)
    refs = [row.name for row in session.sql(f"select name from {own}.refs").collect()]
    last = content(session, own)
    drop(session, tables)
    assert found == expected
    assert raised.value.kind is Kind.CONFLICT
    assert (refs, last.total() - found.total()) == (["main"], 1)


def test_a_session_that_writes_a_branch_gets_no_filter_there(session):
    own, given = tables = [make_table(session, "iceberg", held) for held in (TARGET, SOURCE)]
    on_branch = session.newSession()
    on_branch.conf.set(CONF, "main")
    context = context_of(on_branch, alone=False)
    run_merge(step_of("iceberg", own, given, "scan"), context)
    drop(session, tables)
    (reason,) = context.output.response.runtime_filter.bounds_left_out
    assert reason == "the source reads the target, and a commit of another process to it would not be noticed"


@pytest.mark.slow
def test_a_commit_to_another_partition_during_the_merge_conflicts_as_without_a_filter(session):
    """Delta: the filter leaves the partition out, and the mark has read it."""

    def slowly(value):
        time.sleep(3)
        return value

    own, given = tables = [make_table(session, "delta", held) for held in (TARGET, SOURCE)]
    session.udf.register("slowly", slowly)
    slow = MERGE.replace("insert *", "insert (id, dt, ts, v) values (s.id, s.dt, s.ts, slowly(s.v))")
    other = session.newSession()
    writing = threading.Timer(
        2, lambda: other.sql(WRITERS["newer rows"].format(target=own, rows=rows_of([(7, 9, "l")])))
    )
    step = step_of("delta", own, given, "scan", slow)
    with pytest.raises(EngineError) as raised:
        run_merge(step, context_of(session, lambda _: writing.start(), alone=False))
    writing.join()
    drop(session, tables)
    assert raised.value.kind is Kind.CONFLICT
