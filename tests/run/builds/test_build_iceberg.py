"""Builds of models in an Iceberg catalog."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MODEL = """
{{ config(partition_by=['p'], properties={'write.merge.mode': 'MODE'}, pre_hook="HOOK") }}
merge into {{ this }} as t
using (select id, cast(id % 4 as int) as p, {{ var('v') }} as v from range(40) where id % 4 < {{ var('of') }}) as s
   on t.id = s.id and t.p = s.p and t.p in (0, 1)
when matched then update set *
when not matched then insert *
"""


@pytest.fixture
def build(make_project, driver):
    def run(files, root=None, **variables):
        root = root or make_project(files, "iceberg")
        project = Project.load(root, vars=variables)
        return project, project.build(driver=driver, lint=False)

    return run


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_a_merge_creates_its_target_and_tells_what_it_did(build, spark, mode):
    hook = "create table if not exists ice.default.log (n int) using iceberg"
    files = {"models/fct.sql": MODEL.replace("MODE", mode).replace("HOOK", hook)}
    project, first = build(files, v=1, of=2)
    assert first.ok, first.results
    response = first["fct"].adapter_response
    assert (response["created"], response["rows_inserted"], response["files_total"]) == (True, 20, 0)
    spark.sql(f"insert into {project.graph.nodes['model.shop.fct'].relation} values (100, 2, 0), (101, 3, 0)")
    project, again = build({}, root=project.prepared.files.root, v=2, of=2)
    assert again.ok, again.results
    assert again["fct"].warnings == ()
    response = again["fct"].adapter_response
    assert response["created"] is False
    assert [response[key] for key in ("rows_inserted", "rows_updated", "files_total", "files_scanned")] == [0, 20, 4, 2]
    assert [response[key] for key in ("verdict", "verdict_held", "attempts")] == ["static", True, 1]
    relation = project.graph.nodes["model.shop.fct"].relation
    newest = spark.sql(f"select snapshot_id, summary from {relation}.snapshots order by committed_at desc").collect()[0]
    assert response["table_version"] == newest[0]
    assert again.invocation_id in newest["summary"]["merge-runner"]
    assert [row[0] for row in spark.sql(f"select distinct v from {relation} where p < 2").collect()] == [2]


def test_tables_and_drift(build, spark):
    properties = "version: 2\nmodels: [{name: fct, columns: [{name: id, data_type: bigint}, {name: p, data_type: int}, {name: v, data_type: int}]}]\n"
    files = {
        "models/fct.yml": properties,
        "models/fct.sql": MODEL.replace("MODE", "merge-on-read").replace("HOOK", "select 1"),
        "models/tab.sql": "{{ config(materialized='table') }} select p, count(*) as n from {{ ref('fct') }} group by p",
    }
    project, results = build(files, v=1, of=2)
    assert results.ok, results.results
    assert results["tab"].adapter_response["rows_affected"] == 2
    relation = project.graph.nodes["model.shop.tab"].relation
    assert sorted(map(tuple, spark.table(str(relation)).collect())) == [(0, 10), (1, 10)]
    root = project.prepared.files.root
    (root / "models/fct.yml").write_text(properties.replace("{name: v, data_type: int}", "{name: w, data_type: int}"))
    text = (root / "models/fct.sql").read_text()
    (root / "models/fct.sql").write_text(text.replace("partition_by=['p']", "partition_by=['bucket(4, id)']"))
    _, again = build({}, root=root, v=1, of=2)
    warnings = "\n".join(again["fct"].warnings)
    assert "column w is missing" in warnings
    assert "partitioned by (p), declared (bucket(4, id))" in warnings


@pytest.mark.parametrize(
    ("bounds", "mode"),
    [
        ("auto", "copy-on-write"),
        (["id"], "merge-on-read"),
        pytest.param("auto", "merge-on-read", marks=pytest.mark.slow),
        pytest.param(["id"], "copy-on-write", marks=pytest.mark.slow),
    ],
)
def test_a_source_in_delta(build, spark, mode, bounds):
    """Spark cannot read a Delta table in the plan of an Iceberg MERGE that copies files: it is computed once there."""
    stage = "{{ config(format='delta', schema='stage', materialized='table') }} select id, {{ var('v') }} as v from range(3)"
    merge = (
        f"{{{{ config(bounds={bounds!r}, properties={{'write.merge.mode': '{mode}'}}) }}}}\n"
        "merge into {{ this }} as t using {{ ref('stg') }} as s on t.id = s.id\n"
        "when matched and t.v <> s.v then update set * when not matched then insert *"
    )
    profile = (
        f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: of_{mode.replace('-', '_')}_{len(bounds)}, "
        "catalogs: {ice: {type: hadoop, warehouse: unused}}}}}\n"  # of the driver
    )
    settings = '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\nformat = "iceberg"\n'
    files = {"models/stg.sql": stage, "models/fct.sql": merge, "profiles.yml": profile, "pyproject.toml": settings}
    project, first = build(files, v=1)
    assert first.ok, first["fct"].message
    project, again = build({}, root=project.prepared.files.root, v=2)
    assert again.ok, again["fct"].message
    table = project.graph.nodes["model.shop.fct"].relation
    assert sorted(tuple(row) for row in spark.table(str(table)).collect()) == [(0, 2), (1, 2), (2, 2)]
    assert again["fct"].adapter_response["staged"] is (mode == "copy-on-write")
    spark.sql(f"drop table {table}")
