"""DDL texts of layouts."""

from pathlib import Path

from merge_runner.engine.tables.ddl import cluster_by, create_table, replace_table_as
from merge_runner.plan.steps.table import Column, Layout
from merge_runner.relation import Relation


def layout(**options):
    return Layout(Relation("t", "s"), "delta", **options)


def test_a_table_is_created_with_everything_that_is_declared():
    columns = [
        Column("id", "bigint", nullable=False),
        Column("the day", "date", comment="it's a day"),
        Column("ts_day", "date", generated="generated always as (cast(ts as date))"),
    ]
    text = create_table(
        layout(location=Path("/w/s/t"), partition_by=("the day",), properties={"delta.enableChangeDataFeed": "true"}),
        columns,
    )
    assert text == (
        "CREATE TABLE IF NOT EXISTS s.t (id bigint NOT NULL, `the day` date COMMENT 'it\\'s a day', "
        "ts_day date generated always as (cast(ts as date))) USING delta PARTITIONED BY (`the day`) "
        "LOCATION '/w/s/t' TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    )


def test_clustering_and_replacing():
    text = create_table(layout(cluster_by=("a", "b")), [Column("a", "int")], replace=True)
    assert text == "CREATE OR REPLACE TABLE s.t (a int) USING delta CLUSTER BY (a, b)"


def test_transforms_stand_as_written():
    text = replace_table_as(Layout(Relation("t", "s"), "iceberg", partition_by=("days(ts)", "b")), "select 1 as b")
    assert text == "CREATE OR REPLACE TABLE s.t USING iceberg PARTITIONED BY (days(ts), b) AS\nselect 1 as b"


def test_a_clustering_column_with_a_word_of_delta_is_quoted():
    layout = Layout(Relation("t", "s"), "delta", cluster_by=("history", "id"))
    assert "CLUSTER BY (`history`, id)" in create_table(layout, [Column("id", "int")], replace=False)
    assert cluster_by(Relation("t", "s"), ["History"]) == "ALTER TABLE s.t CLUSTER BY (`History`)"
