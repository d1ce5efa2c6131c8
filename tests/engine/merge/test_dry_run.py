"""The dry count of a MERGE is what the MERGE then does: held against both engines with random statements."""

import random

import pytest

from merge_runner.engine.merge.dry_run import Figures, counting_query, dry_count
from merge_runner.engine.merge.statement import RewrittenMerge
from merge_runner.engine.spark.errors import EngineError
from merge_runner.merge.parse import parse
from merge_runner.project.schema.expect_merge import ExpectMerge
from merge_runner.relation import Relation
from merge_runner.text import Span

FAR = 10**9
ALL = ExpectMerge(min_source_rows=0, max_inserts=FAR, max_updates=FAR, max_deletes=FAR, max_percent_touched=100.0)

MERGE = (
    "with raw as (select 1 as id -- one\n)\nmerge into t0 as t using raw as s on t.id = s.id -- by id\n"
    "when matched and t.v > 1 -- much\n then delete when not matched by source and v < 0 then update set v = 0"
)


def test_the_query_is_made_of_the_statements_own_text():
    statement, made = parse(MERGE), RewrittenMerge(MERGE)
    query = counting_query(Relation("t0", "shop"), statement, made, ExpectMerge(max_deletes=1, max_percent_deleted=1.0))
    assert query.text == (
        "with raw as (select 1 as id -- one\n)\n"
        "SELECT 'target' AS what, count(*) AS n, 0 AS insert, 0 AS update, 0 AS delete FROM shop.t0\n"
        "UNION ALL\n"
        "SELECT 'matched' AS what, 0 AS n, 0 AS insert, 0 AS update, count_if(clause IN (0)) AS delete FROM (\n"
        "SELECT CASE WHEN (t.v > 1\n) IS TRUE THEN 0\n END AS clause FROM shop.t0 AS t\nJOIN raw as s\nON t.id = s.id\n)\n"
    )
    assert query.origin(query.text.index("t.v > 1")) == MERGE.index("t.v > 1")
    assert query.origin(0) == 0
    assert query.origin(query.text.index("SELECT 'target'")) is None


def test_a_source_is_evaluated_once_where_each_unmatched_row_is_inserted():
    text = (
        "merge into t0 as t using raw as s on t.id = s.id when matched and t.v > s.v then update set v = s.v "
        "when not matched then insert *"
    )
    query = counting_query(
        Relation("t0", "shop"), parse(text), RewrittenMerge(text), ExpectMerge(max_inserts=0, max_updates=0)
    )
    assert query.text.partition("UNION ALL\n")[2] == (
        "SELECT 'of_source' AS what, 0 AS n, count_if(clause IN (1)) AS insert, count_if(clause IN (0)) AS update, "
        "0 AS delete FROM (\n"
        "SELECT CASE WHEN __merge_runner_matched IS NULL THEN 1 ELSE CASE WHEN (t.v > s.v\n) IS TRUE THEN 0\n END END "
        "AS clause FROM raw as s\n"
        "LEFT JOIN (SELECT *, true AS __merge_runner_matched FROM shop.t0) AS t\nON t.id = s.id\n)\n"
    )
    conditional = text.replace("not matched then", "not matched and v > 1 then")
    query = counting_query(
        Relation("t0", "shop"),
        parse(conditional),
        RewrittenMerge(conditional),
        ExpectMerge(max_inserts=0, max_updates=0),
    )
    assert query.text.count("raw as s") == 2  # `v` is that of the source alone


def test_only_what_is_limited_is_counted():
    statement, made = parse(MERGE), RewrittenMerge(MERGE)
    table = Relation("t0", "shop")
    assert counting_query(table, statement, made, ExpectMerge(unique_source=True)) is None
    only_source = counting_query(table, statement, made, ExpectMerge(min_source_rows=1)).text
    assert "shop.t0" not in only_source
    made.edits.append((statement.source.relation, "(select 2 as id)"))
    end = statement.on_span.end
    made.edits.append((Span(end, end), " AND t.id IN (2)"))
    text = counting_query(table, statement, made, ExpectMerge(max_updates=1)).text
    assert "LEFT ANTI JOIN (select 2 as id) as s\nON t.id = s.id AND t.id IN (2)\n" in text


ON = [
    "t.id = s.id",
    "t.k = s.k",
    "t.k <=> s.k",
    "t.id = s.id and t.v > 1",
    "t.id = s.id and s.flag",
    "t.id = s.id or t.k = s.k + 100",
    "t.id = s.id and (t.v > s.v or null)",
    "false",
]
CONDITIONS = {
    "matched": ["s.v > t.v", "t.v is null", "s.flag", "null", "t.v <> s.v or s.flag", "not (t.k = s.k)"],
    "not matched": ["s.flag", "v > 2", "s.k is not null", "k = 3 or null", "not s.flag"],
    "not matched by source": ["t.v > 2", "v is null", "t.id % 2 = 0", "k > 1 and null", "t.k is not null"],
}
ACTIONS = {
    "matched": ["update set v = s.v", "delete"],
    "not matched": ["insert (id, k, v) values (s.id, s.k, s.v)"],
    "not matched by source": ["update set v = 0", "delete"],
}


def values(chance, rows):
    """A source of some rows, and how many these are."""

    def one(high):
        return str(chance.randint(1, high)) if chance.random() < 0.8 else "null"

    ids = chance.sample(range(1, 13), rows)
    if chance.random() < 0.3:
        ids += chance.choices(ids, k=2) if ids else []
    flags = ["true", "false", "cast(null as boolean)"]
    listed = ", ".join(
        f"({id}, {id if chance.random() < 0.8 else 'null'}, {one(4)}, {chance.choice(flags)})" for id in ids
    )
    return f"(select * from values {listed or '(0, 0, 0, true)'} as v(id, k, v, flag) where id > 0)", len(ids)


def statement(chance, table, shape):
    kinds = {
        "general": ["matched", "not matched", "not matched by source"],
        "insert-only": ["not matched"],
        "by source": ["not matched by source"],
        "delete-only": ["matched"],
    }[shape]
    clauses = ""
    for kind in kinds:
        if shape == "delete-only":
            clauses += " when matched then delete"
            continue
        given = [chance.choice(CONDITIONS[kind]) for _ in range(chance.randint(0, 2))]
        for condition in given:
            clauses += f"\nwhen {kind} and {condition} then {chance.choice(ACTIONS[kind])}"
        if chance.random() < 0.5 or not given:
            clauses += f"\nwhen {kind} then {chance.choice(ACTIONS[kind])}"
    source, rows = values(chance, chance.randint(0, 7))
    return f"merge into {table} as t using {source} as s on {chance.choice(ON)}{clauses}", rows


@pytest.mark.spark
@pytest.mark.parametrize(
    ("table_format", "cases"),
    [
        pytest.param("delta", 3, marks=pytest.mark.slow),
        ("iceberg", 5),
        pytest.param("delta", 15, marks=pytest.mark.nightly),
    ],
)
def test_it_is_what_the_merge_then_does(driver, table_format, cases):
    chance = random.Random(7)
    name = "spark_catalog.default.counted" if table_format == "delta" else "ice.tests.counted"
    relation = Relation(*reversed(name.split(".")))
    shapes = ["general", "general", "insert-only", "by source", "general", "delete-only"]
    compared = twice = held = 0
    with driver.session() as session:
        session.conf.set("spark.sql.shuffle.partitions", "1")
        session.sql(f"create or replace table {name} (id int, k int, v int) using {table_format}")
        for number in range(cases):
            if held < 3:
                rows = "(1, 1, 1), (2, 2, null), (3, null, 3), (4, 4, 4), (8, 8, 1), (9, 9, 2)"
                session.sql(f"insert into {name} values {rows}")
                held += 6
            text, source = statement(chance, name, shapes[number % len(shapes)])
            counted = dry_count(session, relation, parse(text), RewrittenMerge(text), ALL)
            try:
                rows = session.sql(text).collect()
            except Exception as error:
                assert "MULTIPLE_SOURCE_ROW" in str(error) or "CARDINALITY" in str(error), text
                twice += 1
                continue
            inserted, updated, deleted = changed(session, name, rows)
            assert counted == Figures(source, held, inserted, updated, deleted), text
            held += inserted - deleted
            compared += 1
    assert compared >= 0.6 * cases
    assert twice or cases < 15


def changed(session, name, rows):
    """Rows inserted, updated and deleted, as the engine tells them."""
    if rows:
        return rows[0]["num_inserted_rows"], rows[0]["num_updated_rows"], rows[0]["num_deleted_rows"]
    found = session.sql(
        f"select operation, summary from {name}.snapshots order by committed_at desc limit 1"
    ).collect()[0]
    told = found["summary"]
    if found["operation"] == "append" and "spark.merge-into.num-target-rows-inserted" not in told:
        return int(told.get("added-records", 0)), 0, 0
    return tuple(int(told[f"spark.merge-into.num-target-rows-{kind}"]) for kind in ("inserted", "updated", "deleted"))


@pytest.mark.spark
def test_an_error_of_the_count_is_told_at_the_authors_text(driver):
    text = "merge into default.counted_not as t using (select 1 as id) as s on t.id = s.idd when matched then delete"
    with driver.session() as session:
        session.sql("create or replace table default.counted_not (id int) using delta")
        with pytest.raises(EngineError, match="it did not run") as raised:
            dry_count(session, Relation("counted_not", "default"), parse(text), RewrittenMerge(text), ALL)
    assert raised.value.statement == text
    assert raised.value.offset == text.index("s.idd")
