"""A merge that another writer gets ahead of: it runs again, and the table has both effects exactly once."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MODEL = """
{{ config(bounds='off', retries=RETRIES) }}
merge into {{ this }} as t
using (select gate(id) as id, 1L as times from range(3, 8, 1, 1)) as s
   on t.id = s.id
when matched then update set t.times = t.times + s.times
when not matched then insert (id, times) values (s.id, s.times)
"""
COLUMNS = "models: [{name: fct, columns: [{name: id, data_type: bigint}, {name: times, data_type: bigint}]}]"


@pytest.fixture
def begin(make_project, spark):
    """A project with a target of the ids 0 to 4, each with `times` 1."""

    def start(retries=3):
        files = {"models/fct.sql": MODEL.replace("RETRIES", str(retries)), "models/m.yml": COLUMNS}
        project = Project.load(make_project(files))
        relation = project.graph.nodes["model.shop.fct"].relation
        location = project.prepared.files.root / "warehouse" / relation.schema / "fct"
        spark.sql(f"create schema {relation.schema}")
        spark.sql(f"create table {relation} (id bigint, times bigint) using delta location '{location}'")
        spark.sql(f"insert into {relation} select id, 1L from range(0, 5, 1, 1)")
        return project, relation

    return start


def counted(spark, relation):
    return dict(sorted((row["id"], row["times"]) for row in spark.table(str(relation)).collect()))


MERGED = {0: 1, 1: 1, 2: 1, 3: 2, 4: 2, 5: 1, 6: 1, 7: 1}


def raced(race, project, winner, **options):
    events = []
    results = race.meanwhile(winner, lambda: project.build(driver=race, lint=False, on_event=events.append))
    return results["fct"], [event.data for event in events if event.event == "node_retried"]


@pytest.mark.parametrize(
    ("code", "statement", "change"),
    [
        ("DELTA_CONCURRENT_APPEND", "insert into {t} values (5, 10), (50, 10)", {5: 11, 50: 10}),
        pytest.param(
            "DELTA_CONCURRENT_DELETE_READ",
            "delete from {t} where id >= 0",
            {0: 0, 1: 0, 2: 0, 3: 1, 4: 1},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "DELTA_METADATA_CHANGED",
            "alter table {t} set tblproperties ('a.b' = 'c')",
            {},
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "DELTA_METADATA_CHANGED", "alter table {t} add columns (extra string)", {}, marks=pytest.mark.slow
        ),
        pytest.param("DELTA_CONCURRENT_APPEND", "optimize {t}", {}, marks=pytest.mark.slow),
    ],
)
def test_a_delta_merge_runs_again_after_another_writer(begin, race, spark, code, statement, change):
    project, relation = begin()
    spark.sql(f"insert into {relation} values (-1, 7)")  # a second file, so that OPTIMIZE has something to do
    result, retried = raced(race, project, lambda: spark.sql(statement.format(t=relation)))
    assert result.status == "success", result.message
    assert result.adapter_response["attempts"] == 2
    assert [(event["code"].partition(".")[0], event["kind"], event["attempt"]) for event in retried] == [
        (code, "conflict", 1)
    ]
    assert counted(spark, relation) == {id: times for id, times in ({-1: 7} | MERGED | change).items() if times}
    history = [row["operation"] for row in spark.sql(f"describe history {relation}").collect()]
    assert history.count("MERGE") == 1
