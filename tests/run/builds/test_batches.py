"""`--batch-id`: a merge commits once for a batch, however often it is run."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MERGE = """
{{ config(post_hook="insert into {{ target.schema }}.hooked values ('NAME')") }}
merge into {{ this }} as t
using (select id, 1L as times from range({{ var('to') }})) as s on t.id = s.id
when matched then update set t.times = t.times + s.times
when not matched then insert (id, times) values (s.id, s.times)
"""
FAILS = """
-- depends_on: {{ ref('one') }}
merge into {{ this }} as t
using (select id, if({{ var('broken') }}, raise_error('broken'), 1L) as times from range(2)) as s on t.id = s.id
when matched then update set t.times = t.times + s.times
when not matched then insert (id, times) values (s.id, s.times)
"""
COLUMNS = """
models:
  - {name: two, columns: [{name: id, data_type: bigint}, {name: times, data_type: bigint}]}
"""


def merges(spark, project, name):
    relation = project.graph.nodes[f"model.shop.{name}"].relation
    history = [row["operation"] for row in spark.sql(f"describe history {relation}").collect()]
    times = {row["id"]: row["times"] for row in spark.table(str(relation)).collect()}
    return history.count("MERGE"), times


@pytest.mark.slow
def test_a_batch_is_merged_once(make_project, driver, spark):
    root = make_project(
        {
            "models/one.sql": MERGE.replace("NAME", "one"),
            "models/two.sql": FAILS,
            "models/whole.sql": "{{ config(materialized='table') }} select 1 as n",
            "models/m.yml": COLUMNS,
            "tests/some.sql": "select * from {{ ref('one') }} where times > 2",
        }
    )

    def build(batch_id, to=1, broken="false", select="one", **flags):
        project = Project.load(root, vars={"to": to, "broken": broken}, **flags)
        results = project.build(driver=driver, lint=False, batch_id=batch_id, threads=1, select=select)
        return project, {each.unique_id.split(".")[2]: (each.status, each.message) for each in results.results}

    schema = Project.load(root, vars={"to": 1, "broken": "false"}).graph.nodes["model.shop.one"].relation.schema
    spark.sql(f"create schema {schema}")
    spark.sql(f"create table {schema}.hooked (name string) using delta location '{root}/warehouse/{schema}/hooked'")

    project, found = build(5, broken="true", select=())
    assert {name: status for name, (status, _) in found.items()} == {
        "one": "success",
        "two": "error",
        "whole": "success",
        "some": "pass",
    }

    # The same batch again: what has not committed does so, and nothing else.
    _, found = build(5, to=9, select=())
    assert found["one"] == ("no-op", "batch 5 or a later one is committed already")
    assert found["two"][0] == found["whole"][0] == "success"
    assert found["some"][0] == "pass"
    assert merges(spark, project, "one") == (1, {0: 1})
    assert merges(spark, project, "two") == (1, {0: 1, 1: 1})
    assert spark.table(f"{schema}.hooked").count() == 2  # a hook is the author's, and runs each time

    # An earlier one is in the table as well, a later one is not.
    _, found = build(4)
    assert found["one"][0] == "no-op"
    _, found = build(6)
    assert found["one"][0] == "success"
    assert merges(spark, project, "one") == (2, {0: 2})

    # A build without a batch runs as ever, and leaves the record alone.
    _, found = build(None)
    assert merges(spark, project, "one") == (3, {0: 3})
    _, found = build(6)
    assert found["one"][0] == "no-op"

    # The record outlives the table that a full refresh replaces: the new one must not stay empty for it.
    _, found = build(5, full_refresh=True)
    assert found["one"][0] == "error"
    assert "has committed batch 6, which a full refresh with batch 5 does not undo" in found["one"][1]
    assert merges(spark, project, "one") == (3, {0: 3})
    _, found = build(6, to=3, full_refresh=True)
    assert found["one"][0] == "success"
    assert merges(spark, project, "one")[1] == {0: 1, 1: 1, 2: 1}
    _, found = build(6)
    assert found["one"][0] == "no-op"


def test_the_table_itself_skips_a_batch_that_another_one_commits_meanwhile(make_project, race, spark):
    root = make_project(
        {
            "models/fct.sql": """
                {{ config(bounds='off') }}
                merge into {{ this }} as t using (select gate(id) as id from range(0, 2, 1, 1)) as s on t.id = s.id
                when not matched then insert *
            """,
            "models/m.yml": "models: [{name: fct, columns: [{name: id, data_type: bigint}]}]",
        }
    )
    project = Project.load(root)
    relation = project.graph.nodes["model.shop.fct"].relation

    def other():
        session = spark.newSession()
        session.conf.set("spark.databricks.delta.write.txnAppId", "shop.fct")
        session.conf.set("spark.databricks.delta.write.txnVersion", "3")
        session.sql(f"insert into {relation} values (0), (1)")

    results = race.meanwhile(other, lambda: project.build(driver=race, lint=False, batch_id=3))
    assert (results["fct"].status, results["fct"].adapter_response["attempts"]) == ("no-op", 2)
    assert sorted(row["id"] for row in spark.table(str(relation)).collect()) == [0, 1]


@pytest.mark.parametrize("batch_id", [-1, 2**63, True])
def test_a_batch_is_a_whole_number_from_zero(make_project, driver, batch_id):
    project = Project.load(make_project({"models/a.sql": "{{ config(materialized='view') }} select 1 as n"}))
    with pytest.raises(ValueError, match="batch_id is a whole number from 0"):
        project.build(driver=driver, lint=False, batch_id=batch_id)
