"""A bounded MERGE does what the same MERGE does without bounds, row by row, on Delta and Iceberg."""

import itertools
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge_runner.engine.merge.runtime_filter import prepared_statement
from merge_runner.engine.spark.sql import run_measured, temporary_confs
from merge_runner.engine.table_format import registry
from merge_runner.engine.table_format.commit_metadata import stamp, stamp_confs
from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.runtime_filter import bounding
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import PartitionField, TableColumn, TableLayout
from merge_runner.pruning.query.source import KnownTable
from merge_runner.relation import Relation

pytestmark = pytest.mark.spark

SCHEMA = {"delta": "bounds_test", "iceberg": "ice.bounds_test"}
VALUES = {
    "date": ["date'2024-01-01'", "date'2024-01-02'", "date'2024-02-29'", "date'1969-12-31'", "date'0001-01-01'"],
    "timestamp": [
        "timestamp'2024-10-27 00:30:00.000001Z'",
        "timestamp'2024-10-27 01:30:00Z'",
        "timestamp'1900-01-01 00:00:00.999999Z'",
        "timestamp'2024-01-01 12:00:00Z'",
    ],
    "timestamp_ntz": ["timestamp_ntz'2024-03-31 02:30:00'", "timestamp_ntz'1969-12-31 23:59:59.5'"],
    "string": ["'a'", "'A'", "''", "' a '", '"O\'Hare"', "'back\\\\slash'", "'line\\nbreak'", "'ü€𝄞'", "'100%'", "'z'"],
    "int": ["0", "-1", "7", "2147483647", "-2147483648"],
    "bigint": ["0L", "-5L", "9223372036854775807L", "-9223372036854775808L", "3L"],
    "decimal(10,2)": ["0.00BD", "-1.50BD", "99999999.99BD", "1.50BD", "2.00BD"],
    "boolean": ["true", "false"],
}
SOURCE_TYPES = {
    "int": ["int", "bigint", "smallint", "decimal(12,1)"],
    "bigint": ["bigint", "int"],
    "decimal(10,2)": ["decimal(10,2)", "decimal(12,3)", "int"],
    "date": ["date", "string"],
    "timestamp": ["timestamp", "string"],
}
CLAUSES = [
    "when matched and s.v > 5 then delete",
    "when matched then update set v = t.v + s.v, w = s.w",
    "when not matched and s.v <> 3 then insert (id, p, v, w) values (s.id, {value}, s.v, s.w)",
    "when not matched then insert (id, p, v) values (s.id, {value}, -s.v)",
]
SOURCES = {
    "{source} as s": "pinned",
    "(select id, q, v, w from {source} where v >= 0) as s": "pinned",
    "(select id, q, max(v) as v, max(w) as w from {source} group by id, q) s": "staged",
    "(select * from {source} where v < 4 union all select * from {source} where v >= 4) as s": "staged",
}
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def session(driver):
    session = driver.spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    for schema in SCHEMA.values():
        session.sql(f"create schema if not exists {schema}")
    yield session
    for schema in SCHEMA.values():
        session.sql(f"drop schema {schema} cascade")


@st.composite
def merges(draw):
    """Type of the column, type of the value, clauses, source and rows of a MERGE that can be bounded."""
    name = draw(st.sampled_from(sorted(VALUES)))
    value_type = draw(st.sampled_from(SOURCE_TYPES.get(name, [name])))
    pool = st.sampled_from(["null", *VALUES[name]])
    clauses = draw(st.lists(st.sampled_from(range(len(CLAUSES))), min_size=1, unique=True).map(sorted))
    target = draw(st.lists(st.tuples(st.integers(0, 3), pool, st.integers(0, 9)), max_size=8))
    source = draw(
        st.lists(st.tuples(st.integers(0, 3), pool, st.integers(0, 9)), max_size=6, unique_by=lambda row: row[:2])
    )
    using = draw(st.sampled_from(sorted(SOURCES)))
    wanted = draw(st.sampled_from([["p"], ["id"], ["p", "id"]]))
    return name, value_type, draw(st.booleans()), using, clauses, target, source, draw(st.booleans()), wanted


def rows(session, table):
    return Counter(tuple(map(repr, row)) for row in session.table(table).collect())


def values(given, name, empty):
    if not given:
        return f"select * from values {empty} limit 0"
    listed = ", ".join(f"({id}L, cast({p} as {name}), {v}, 'w')" for id, p, v in given)
    return f"select * from values {listed}"


def outcome(session, table, text):
    try:
        session.sql(text).collect()
    except Exception as error:
        return str(getattr(error, "getCondition", lambda: None)() or type(error).__name__), None
    return None, rows(session, table)


def run(session, table_format, case, race="", expression="s.q", written=None, alter=()):
    """Runs a MERGE with and without bounds on two tables that are alike; gives how the bounded one was made.

    `race` are rows that another writer adds to the source when the bounds are known, or columns that it drops. The
    values of the source are `written` in this type, the column's own if None; then come `alter`, changes of the source.
    """
    name, value_type, null_safe, using, clauses, target, source, partitioned, wanted = case
    number = next(_NUMBERS)
    plain, tied, given = (f"{SCHEMA[table_format]}.{word}{number}" for word in ("plain", "tied", "src"))
    empty = f"(0L, cast(null as {name}), 0, 'w')"
    by = "partitioned by (p)" if partitioned else ""
    for table in (plain, tied):
        session.sql(
            f"create table {table} using {table_format} {by} as select col1 as id, col2 as p, col3 as v, col4 as w "
            f"from ({values(target, name, empty)})"
        )
    session.sql(
        f"create table {given} using {table_format} as select col1 as id, "
        f"try_cast(col2 as {value_type}) as q, col3 as v, col4 as w from ({values(source, written or name, empty)})"
    )
    for change in alter:
        session.sql(f"alter table {given} {change}")
    equal = "<=>" if null_safe else "="
    text = (
        f"merge into {{target}} as t using {using.format(source=given)} on t.id = s.id and t.p {equal} {expression}\n"
        + "\n".join(CLAUSES[place].format(value=f"cast({expression} as {name})") for place in clauses)
    )
    layout = TableLayout(
        table_format,
        tuple(
            TableColumn(column, parse_type(of))
            for column, of in [("id", "bigint"), ("p", name), ("v", "int"), ("w", "string")]
        ),
        complete=True,
        partition_by=(PartitionField("p"),) if partitioned else (),
        cluster_by=(),
    )
    known = KnownTable(TableLayout(table_format))
    judged = judge_merge(parse(text.format(target=tied)), layout, lambda _: known, wanted)
    step = RunMerge(Relation(*reversed(tied.split("."))), text.format(target=tied), judged, bounding(judged, wanted))
    expected = outcome(session, plain, text.format(target=plain))
    with prepared_statement(step, session, registry.table_format) as made:
        if race:
            session.sql(race.format(source=given)).collect()
        found = outcome(session, tied, made.sql)
    for table in (plain, tied, given):
        session.sql(f"drop table {table}")
    assert found == expected, made.sql
    return judged, made


@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.nightly), "iceberg"])
@settings(max_examples=settings.default.max_examples // 12, suppress_health_check=list(HealthCheck), derandomize=True)
@given(case=merges())
def test_bounds_change_nothing(session, table_format, case):
    judged, made = run(session, table_format, case)
    assert bool(judged.judgement.bounds) == bool(made.bounds), made.left_out
    if made.bounds:
        assert made.staged == (SOURCES[case[3]] == "staged")


FIRST, *BETWEEN, LAST = SOURCES
RACES = {
    "a row of another partition": "insert into {source} values (1, date'2024-02-29', 7, 'late')",
    "other values": "update {source} set q = date'2024-02-29', v = 9",
    "no rows any more": "delete from {source}",
}


@pytest.mark.parametrize(
    ("table_format", "using", "race"),
    [
        pytest.param("delta", FIRST, "other values", marks=pytest.mark.slow),
        *(pytest.param("delta", using, "other values", marks=pytest.mark.nightly) for using in (*BETWEEN, LAST)),
        pytest.param("delta", FIRST, "a row of another partition", marks=pytest.mark.slow),
        *(("iceberg", using, "no rows any more") for using in BETWEEN[:2]),
    ],
)
def test_a_writer_between_the_two_steps_changes_nothing(session, table_format, using, race):
    target = [(id, f"date'2024-{month}'", id) for id in range(3) for month in ("01-01", "01-02", "02-29")]
    source = [(1, "date'2024-01-01'", 5), (2, "date'2024-01-02'", 6), (3, "date'2024-01-02'", 2)]
    case = ("date", "date", False, using, [0, 1, 3], target, source, True, ["p"])
    _, made = run(session, table_format, case, RACES[race])
    assert made.bounds == {"p": "2 values"}


@pytest.mark.parametrize(
    ("name", "value_type", "expression", "partitioned", "bounds"),
    [
        pytest.param(
            "date", "timestamp", "to_date(s.q)", True, {"p": "2 values", "id": "1 range"}, marks=pytest.mark.nightly
        ),
        pytest.param(
            "int",
            "string",
            "cast(s.q as int) + 1",
            False,
            {"p": "2 ranges", "id": "1 range"},
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "string", "string", "upper(s.q)", True, {"p": "2 values", "id": "1 range"}, marks=pytest.mark.slow
        ),
        pytest.param("date", "timestamp", "s.q", True, {"id": "1 range"}, marks=pytest.mark.nightly),
        pytest.param("int", "string", "s.q", True, {"id": "1 range"}, marks=pytest.mark.nightly),
    ],
)
def test_values_are_expressions_of_the_source(session, name, value_type, expression, partitioned, bounds):
    pool = {"date": ["2024-01-01", "2024-01-03"], "int": ["1", "3"], "string": ["A", "C"]}[name]
    target = [(id, f"'{p}'", id) for id in range(1, 4) for p in pool]
    source = [(1, f"'{pool[0]}'", 6), (2, f"'{pool[1]}'", 7), (3, "null", 8)]
    case = (name, value_type, False, "{source} as s", [0, 1, 3], target, source, partitioned, ["p", "id"])
    _, made = run(session, "delta", case, expression=expression)
    assert made.bounds == bounds
    assert bool(made.left_out) == ("p" not in bounds)


@pytest.mark.parametrize(
    ("alter", "using", "staged"),
    [
        (["drop column w", "add column w string"], FIRST, True),
        pytest.param(["drop column w", "add column w string"], BETWEEN[0], True, marks=pytest.mark.slow),
        pytest.param(["add column x string first"], FIRST, True, marks=pytest.mark.nightly),
        pytest.param(["alter column v type bigint"], FIRST, True, marks=pytest.mark.nightly),
        pytest.param(["set tblproperties ('a' = 'b')"], FIRST, False, marks=pytest.mark.slow),
    ],
)
def test_columns_are_those_of_now_not_of_the_newest_snapshot(session, alter, using, staged):
    target = [(id, "date'2024-01-01'", id) for id in range(3)]
    source = [(1, "date'2024-01-01'", 5), (7, "date'2024-01-01'", 6)]
    _, made = run(session, "iceberg", ("date", "date", False, using, [1, 2], target, source, True, ["p"]), alter=alter)
    assert made.bounds == {"p": "1 value"}
    assert (made.staged, bool(made.pins)) == (staged, not staged)


@pytest.mark.parametrize(
    ("table_format", "name", "texts"),
    [
        ("delta", "date", ["x"]),
        pytest.param("delta", "date", ["2025-01-01", "2024-02-30"], marks=pytest.mark.slow),
        pytest.param("delta", "timestamp", ["2025-01-01", ""], marks=pytest.mark.nightly),
        pytest.param("iceberg", "date", ["x"], marks=pytest.mark.slow),
    ],
)
def test_a_text_that_is_no_date_fails_as_without_bounds(session, table_format, name, texts):
    source = [(id, f"'{text}'", 6) for id, text in enumerate(texts)]
    case = (name, "string", False, FIRST, [1], [(0, "'2024-01-01'", 1)], source, True, ["p"])
    _, made = run(session, table_format, case, written="string")
    assert made.bounds == {}
    assert "cannot be cast" in made.left_out[0]


@pytest.mark.parametrize(
    ("table_format", "name", "words"),
    [
        ("iceberg", "int", "3 ranges"),
        pytest.param("delta", "int", "3 ranges", marks=pytest.mark.nightly),
        pytest.param("delta", "string", "5 values", marks=pytest.mark.slow),
        pytest.param("delta", "decimal(10,2)", "2 ranges", marks=pytest.mark.nightly),
    ],
)
def test_many_values_come_as_the_ends_of_ranges(session, monkeypatch, table_format, name, words):
    monkeypatch.setattr("merge_runner.engine.merge.source_values.MOST_COLLECTED", 3)
    pool = {"int": ["1", "2", "3", "900", "5000"], "string": ["a", "b", "c", "d", "é"]}.get(
        name, ["-1.5", "0.01", "0.02", "10.00", "99999999.99"]
    )
    rows = [(id, f"'{p}'", id) for id, p in enumerate([*pool, "7"])]
    source = [*rows[:5], (9, "null", 1)]
    _, made = run(session, table_format, (name, name, True, "{source} as s", [1, 3], rows, source, True, ["p"]))
    assert made.bounds == {"p": f"{words} and NULL"}


@pytest.mark.parametrize(
    ("table_format", "layout", "key"),
    [
        pytest.param("delta", {"cluster_by": ("id",)}, "bigint", marks=pytest.mark.slow),
        pytest.param("delta", {"cluster_by": ("id",)}, "string", marks=pytest.mark.nightly),
        pytest.param("iceberg", {"cluster_by": (), "sort_by": ("id",)}, "bigint", marks=pytest.mark.nightly),
        ("iceberg", {"cluster_by": (), "sort_by": ("id",)}, "string"),
    ],
)
def test_files_are_skipped_by_a_key_that_the_table_is_laid_out_by(session, table_format, layout, key):
    target, given = (f"{SCHEMA[table_format]}.{word}{next(_NUMBERS)}" for word in ("key", "src"))
    id = "id" if key == "bigint" else "lpad(cast(id as string), 9, '0')"
    session.sql(f"create table {target} (id {key}, v string) using {table_format}")
    text = " || ".join(f"sha2(cast(id + {place}000000 as string), 256)" for place in range(6))
    made = session.range(200_000).selectExpr(f"{id} as id", f"{text} as v").repartitionByRange(10, "id")
    made.sortWithinPartitions("id").writeTo(target).append()
    wanted = "in (20, 30, 150000, 150010)"
    session.sql(
        f"create table {given} using {table_format} as select {id} as id, 'w' as v from range(200000) where id {wanted}"
    )
    columns = (TableColumn("id", parse_type(key)), TableColumn("v", parse_type("string")))
    known = TableLayout(table_format, columns, complete=True, partition_by=(), **layout)
    merge = f"merge into {target} as t using {given} as s on t.id = s.id when matched then update set v = s.v"
    judged = judge_merge(parse(merge), known, lambda _: KnownTable(TableLayout(table_format)), "auto")
    assert judged.judgement.verdict == "runtime"
    step = RunMerge(Relation(*reversed(target.split("."))), merge, judged, bounding(judged, "auto"))
    format = registry.table_format(table_format)
    with prepared_statement(step, session, registry.table_format) as bounded:
        assert bounded.bounds == {"id": "4 ranges" if table_format == "delta" else "4 values"}
        own = stamp("run", target)
        with temporary_confs(session, stamp_confs(own)):
            figures = format.merge_figures(session, step.target, own, run_measured(session, bounded.sql))
    for table in (target, given):
        session.sql(f"drop table {table}")
    assert (figures.files_total, figures.files_scanned, figures.rows_updated) == (10, 2, 4)


@pytest.mark.nightly
@pytest.mark.parametrize("table_format", SCHEMA)
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(case=merges())
def test_bounds_change_nothing_in_many_merges(session, table_format, case):
    run(session, table_format, case)
