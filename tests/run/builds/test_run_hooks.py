"""Hooks of a run on Spark: the tables that they write, and what Spark says of one that fails."""

import json

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark
MODEL = """\
merge into {{ this }} as t
using (select 1L as id) as s on t.id = s.id
when not matched then insert *
"""
YAML = "models: [{name: fct, columns: [{name: id, data_type: bigint}]}]"
RECORD = """\
{% macro record(results) %}
{% set count = run_query('select count(*) from ' ~ ref('fct')).rows[0][0] if execute else 0 %}
insert into {{ target.schema }}.log
values {% for result in results %}('{{ result.node.name }}', '{{ result.status }}', {{ count }}){% endfor %}
{% endmacro %}
"""


@pytest.fixture
def make(make_project, tmp_path):
    def write(*more_at_end):
        create = f"create table {{{{ target.schema }}}}.log (name string, status string, n bigint) using delta location '{tmp_path}/log'"
        hooks = {
            "start": [create.replace("create table", "create table if not exists")],
            "end": ["{{ record(results) }}", *more_at_end],
        }
        lines = [f"on-run-{moment} = {json.dumps(texts)}" for moment, texts in hooks.items()]
        settings = "\n".join(["[tool.merge-runner]", 'name = "shop"', *lines, ""])
        files = {"pyproject.toml": settings, "models/fct.sql": MODEL, "models/m.yml": YAML, "macros/m.sql": RECORD}
        return make_project(files)

    return write


def test_hooks_write_tables_of_their_own(make, driver):
    root = make()
    project = Project.load(root)
    run = project.build(driver=driver, lint=False)
    assert [hook.message for hook in run.hooks] == ["OK", "OK"]
    schema = project.graph.nodes["model.shop.fct"].relation.schema
    rows = driver.spark.sql(f"select * from {schema}.log").collect()
    assert [tuple(row) for row in rows] == [("fct", "success", 1)]
    stamped = driver.spark.sql(f"describe history {schema}.log limit 1").collect()[0]["userMetadata"]
    assert json.loads(stamped)["merge_runner"] == {"invocation_id": run.invocation_id, "node": "on-run-end"}


def test_what_spark_says_of_a_hook_is_at_its_place(make, driver):
    run = Project.load(make("insert into {{ target.schema }}.log values (1)")).build(driver=driver, lint=False)
    assert not run.ok
    assert [(hook.status, hook.message.partition(" ")[0]) for hook in run.hooks] == [
        ("success", "OK"),
        ("success", "OK"),
        ("error", "pyproject.toml:4:40:"),
    ]
    assert run["fct"].status == "success"
