"""What the clauses of a MERGE do to rows: their conditions and values see both sides as they were, on every kind of table."""

from pathlib import Path

import pytest

from tests.yaml_data import read_yaml

pytestmark = pytest.mark.spark

CASES = read_yaml(Path(__file__).parent / "clause_semantics.yml")
KINDS = ("matched", "not matched", "not matched by source")
TABLES = {
    "delta": ("clauses.copied", "delta", "'delta.enableDeletionVectors' = 'false'"),
    "delta, deletion vectors": ("clauses.marked", "delta", "'delta.enableDeletionVectors' = 'true'"),
    "iceberg, copy-on-write": ("ice.clauses.copied", "iceberg", "'write.merge.mode' = 'copy-on-write'"),
    "iceberg, merge-on-read": ("ice.clauses.marked", "iceberg", "'write.merge.mode' = 'merge-on-read'"),
}


def values(cases, key):
    """The rows of all cases under this key, the name of the case in front."""
    return [(case["case"], *row) for case in cases for row in case[key]]


def literals(rows):
    return ", ".join(f"({', '.join('null' if value is None else repr(value) for value in row)})" for row in rows)


def clauses():
    for kind in KINDS:
        side = "s" if kind == "not matched" else "t"
        for case in CASES:
            for condition, action in case.get(kind, ()):
                yield f"when {kind} and {side}.c = '{case['case']}' and ({condition}) then {action}"


@pytest.mark.parametrize(
    "kind",
    ["delta", "iceberg, merge-on-read"]
    + [pytest.param(kind, marks=pytest.mark.slow) for kind in ("delta, deletion vectors", "iceberg, copy-on-write")],
)
def test_conditions_and_values_see_the_rows_as_they_were(spark, kind):
    table, table_format, properties = TABLES[kind]
    spark.sql(f"create schema if not exists {table.rpartition('.')[0]}")
    spark.sql(
        f"create table {table} (c string, id int, a int, b int) using {table_format} tblproperties ({properties})"
    )
    # One file: rows beside the changed ones are copied, or left alone.
    spark.sql(f"insert into {table} select /*+ coalesce(1) */ * from values {literals(values(CASES, 'target'))}")
    source = f"select * from values {literals(values(CASES, 'source'))} as s(c, id, x)"
    for case in CASES:
        if "from target" in case:
            source += f" union all select c, {case['from target']} from {table} where c = '{case['case']}'"
    spark.sql(f"merge into {table} as t using ({source}) as s on t.c = s.c and t.id = s.id {' '.join(clauses())}")
    rows = {case["case"]: [] for case in CASES}
    for row in spark.table(table).orderBy("id", "a").collect():
        rows[row["c"]].append([row["id"], row["a"], row["b"]])
    assert rows == {case["case"]: case["after"] for case in CASES}


@pytest.mark.parametrize("vectors", ["false", pytest.param("true", marks=pytest.mark.slow)])
def test_a_row_that_several_rows_of_the_source_delete_is_told_once(spark, vectors):
    """The change feed of a lone unconditional DELETE, the one MERGE in which several source rows may match a row."""
    table = f"clauses.deleted_{vectors}"
    spark.sql("create schema if not exists clauses")
    spark.sql(
        f"create table {table} (id int, v string) using delta tblproperties "
        f"('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = '{vectors}')"
    )
    spark.sql(f"insert into {table} select /*+ coalesce(1) */ * from values (1, 'a'), (2, 'b'), (3, 'c')")
    source = "values (1, 'x'), (1, 'y'), (1, 'z'), (3, 'x'), (4, 'x'), (4, 'x') as s(id, v)"
    spark.sql(
        f"merge into {table} as t using (select * from {source}) as s on t.id = s.id "
        "when matched then delete when not matched then insert *"
    )
    told = spark.sql(f"select _change_type, id, v from table_changes('{table}', 2) order by id, v").collect()
    assert [tuple(row) for row in told] == [
        ("delete", 1, "a"),
        ("delete", 3, "c"),
        # What is inserted is told as often as it is inserted.
        ("insert", 4, "x"),
        ("insert", 4, "x"),
    ]
    assert sorted(tuple(row) for row in spark.table(table).collect()) == [(2, "b"), (4, "x"), (4, "x")]
