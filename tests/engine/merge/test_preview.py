"""The rows that a MERGE is shown to change are those that it then changes, on both engines."""

import pytest

from merge_runner.engine.merge.preview import clause_query, clause_rows
from merge_runner.merge.parse import parse
from merge_runner.relation import Relation

MERGE = """
with raw as (select * from values (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (9, 90, 'n') as r(id, v, name)) -- new rows
merge into {table} as t using raw as s on t.id = s.id
when matched and s.v > 25 -- large
  then delete
when matched and s.id = 1 then update set t.v = s.v + t.v -- sum
when matched then update set *
when not matched and s.v is null then insert *
when not matched then insert (id, v) values (s.id, s.v * 2)
when not matched by source and t.id = 5 then update set name = upper(t.name), v = null
when not matched by source and name = 'old' then delete
"""
ROWS = "(1, 1, 'x'), (2, 2, 'y'), (3, 3, 'z'), (5, 5, 'five'), (6, 6, 'old'), (7, 7, 'kept')"
SHOWN = [
    ("delete", [(3, 3, "z")]),
    ("update", [(1, 11, "x")]),
    ("update", [(2, 20, "b")]),
    ("insert", []),
    ("insert", [(9, 180, None)]),
    ("update", [(5, None, "FIVE")]),
    ("delete", [(6, 6, "old")]),
]


@pytest.mark.spark
@pytest.mark.parametrize(("format", "name"), [("delta", "spark_catalog.default.shown"), ("iceberg", "ice.tests.shown")])
def test_what_is_shown_is_what_the_merge_then_does(driver, format, name):
    with driver.session() as session:
        session.sql(f"create or replace table {name} (id int, v int, name string) using {format}")
        session.sql(f"insert into {name} values {ROWS}")
        text = MERGE.format(table=name)
        shown = list(clause_rows(session, Relation(*reversed(name.split("."))), parse(text), 5))
        assert [(each.clause.action, [tuple(row) for row in each.rows]) for each in shown] == SHOWN
        assert session.table(name).count() == 6
        session.sql(text)
        written = [row for action, rows in SHOWN if action != "delete" for row in rows]
        assert sorted(map(tuple, session.table(name).collect())) == sorted([*written, (7, 7, "kept")])


def test_a_default_is_shown_by_name_and_a_field_by_its_path():
    statement = parse("merge into t using s on t.id = s.id when matched then update set t.v = default, t.p.q = s.x")
    query, columns = clause_query(Relation("t", "shop"), statement, statement.clauses[0], ["id", "v", "p"], ["id"], 2)
    assert columns == ("id", "v", "p", "p.q")
    assert query.text == (
        "SELECT t.id AS id\n, 'DEFAULT' AS v\n, t.p AS p\n, (s.x\n) AS `p.q`\n"
        "FROM shop.t\nJOIN s\nON t.id = s.id\nWHERE CASE WHEN true THEN 0\n END = 0 LIMIT 2"
    )
