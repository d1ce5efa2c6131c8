"""What the engine says of merges before they run: `explain --spark`."""

import itertools

import pytest

from merge_runner import Project
from merge_runner.engine.driver.driver_source import GivenDriver
from merge_runner.plan.explain.explain import explain
from merge_runner.run.explain import explain_on_spark
from merge_runner.run.results.events import Events

NUMBERS = itertools.count()
SOURCE = "select id, cast(id % 4 as int) as p, cast(id as int) as v from range(40)"
INSERT = "when not matched then insert *"
UPSERT = f"when matched then update set * {INSERT}"


def merge(on, clauses=UPSERT, config="", source=f"({SOURCE})"):
    config = "{{ config(partition_by=['p'], " + config + ") }}"
    return f"{config}\nmerge into {{{{ this }}}} as t\nusing {source} as s\n   on {on}\n{clauses}\n"


BUILT = {"on": "t.id = s.id and t.p = s.p", "clauses": INSERT}
BOUNDED = {"config": "bounds=['p']", "source": "(select * from values (1, 1, 1) as v(id, p, v))"}
DELTA = {
    "two": ("t.id = s.id and t.p = s.p and t.p in (0, 1)", UPSERT, 2),
    "all": ("t.id = s.id and t.p = s.p", UPSERT, 4),
    "none": ("false", INSERT, 0),
    "statistics": ("t.id = s.id and t.id < 0 -- of old", UPSERT, 0),
    "by_source": ("t.id = s.id and t.p = 1", f"{UPSERT} when not matched by source and t.p = 1 then delete", 4),
    "or": ("t.id = s.id and (t.p = 1 or s.p = 1)", UPSERT, 4),
    "legs": ("(t.id = s.id and t.p = 1) or (t.id = s.id and t.p = 2)", UPSERT, None),
    "matched": ("t.id = s.id", "when matched and t.p = 1 then delete", 4),
}


def asked(root, driver, **flags):
    project = Project.load(root, **flags)
    ids = project.select().ids
    return explain_on_spark(project.prepared, explain(project.prepared, ids), Events(), GivenDriver(driver))


def told(explanation):
    return {
        node.name: node.engine_report
        for level in explanation.levels
        for node in level
        if node.engine_report is not None
    }


def folder(root):
    return sorted(str(path) for path in (root / "warehouse").rglob("*") if path.is_file())


@pytest.mark.spark
def test_delta_merges(make_project, driver):
    root = make_project({"models/fct.sql": merge(**BUILT)})
    assert Project.load(root).build(driver=driver, lint=False).ok
    before = folder(root)
    found = {}
    for name, (on, clauses, _) in DELTA.items():
        (root / "models/fct.sql").write_text(merge(on, clauses, **(BOUNDED if name == "all" else {})))
        explanation = asked(root, driver)
        found[name] = told(explanation)["fct"]
        assert explanation.ok
    assert {name: (each.files.total, each.files.read) for name, each in found.items()} == {
        name: (4, read) for name, (_, _, read) in DELTA.items()
    }
    assert {name: each.predicted.files for name, each in found.items()} == {name: row[2] for name, row in DELTA.items()}
    assert found["all"].predicted.rewritten_bytes == found["all"].predicted.bytes > 0
    assert found["legs"].predicted.bytes is None
    assert all("MergeIntoCommand" in each.plan for each in found.values())
    assert [len(found[name].notes) for name in DELTA] == [0, 1, 0, 0, 0, 0, 1, 1]
    assert "bounds on p" in found["all"].notes[0]
    assert "WHEN" in found["matched"].notes[0]
    assert folder(root) == before
    (root / "models/fct.sql").write_text(merge("t.id = s.id and t.v = s.nope"))
    error = told(asked(root, driver))["fct"].error
    assert error == Project.load(root).build(driver=driver, lint=False)["fct"].message


@pytest.mark.spark
@pytest.mark.slow
def test_a_generated_partition_column_prunes_no_merge(make_project, driver, spark):
    columns = (
        "[{name: id, data_type: bigint}, {name: at, data_type: timestamp}, {name: p, data_type: date, "
        "constraints: [{type: custom, expression: 'generated always as (cast(at as date))'}]}]"
    )
    text = """
        {{ config(partition_by=['p'], properties={'delta.dataSkippingNumIndexedCols': '0'}) }}
        merge into {{ this }} as t
        using (select id, timestamp'2024-01-01 12:00:00' + make_dt_interval(id) as at from range(3)) as s
           on t.id = s.id and t.at < timestamp'2024-01-02 00:00:00'
        when not matched then insert (id, at) values (s.id, s.at)
    """
    root = make_project(
        {"models/fct.yml": f"version: 2\nmodels: [{{name: fct, columns: {columns}}}]\n", "models/fct.sql": text}
    )
    assert Project.load(root).build(driver=driver, lint=False).ok
    files = told(asked(root, driver))["fct"].files
    response = Project.load(root).build(driver=driver, lint=False)["fct"].adapter_response
    assert (files.total, files.read) == (response["files_total"], response["files_scanned"]) == (3, 3)


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_iceberg_merges(make_project, driver, mode):
    config = f"properties={{'write.merge.mode': '{mode}'}}"
    models = [
        ("t.id = s.id and t.p = s.p and t.p in (0, 1)", UPSERT, 2),
        ("t.id = s.id and t.p = s.p", UPSERT, 4),
        ("t.id = s.id and t.p = s.p and t.p = 1", INSERT, 1),
        ("false", INSERT, 0),
        ("t.id = s.id and t.p = 1", f"{UPSERT} when not matched by source and t.p = 1 then delete", 4),
    ]
    root = make_project({"models/fct.sql": merge(**BUILT, config=config)}, "iceberg")
    assert Project.load(root).build(driver=driver, lint=False).ok
    for on, clauses, read in models:
        (root / "models/fct.sql").write_text(merge(on, clauses, config))
        found = told(asked(root, driver))["fct"]
        assert (found.files.total, found.files.read, found.notes) == (4, read, ())
        assert ("BatchScan" in found.plan) is (read > 0)
    (root / "models/fct.sql").write_text(merge(*models[0][:2], config))
    assert Project.load(root).build(driver=driver, lint=False)["fct"].adapter_response["files_scanned"] == 2


def staged(format, schema):
    return {
        "pyproject.toml": f'[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\nformat = "{format}"\n',
        "profiles.yml": f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: {schema}{next(NUMBERS)}}}}}}}\n",
        "models/stg.sql": "{{ config(materialized='table') }} " + SOURCE,
        "models/fct.sql": merge(**BUILT, source="{{ ref('stg') }}"),
        "models/own.sql": merge(**BUILT),
    }


@pytest.mark.spark
@pytest.mark.parametrize(("format", "schema"), [("delta", "new"), ("iceberg", "ice.new")])
def test_what_is_not_built_yet_is_a_note(make_project, driver, format, schema):
    root = make_project(staged(format, schema))
    explanation = asked(root, driver)
    found = told(explanation)
    assert explanation.ok
    assert [note.split(".")[-1] for note in found["fct"].notes] == [
        "stg is not built yet: build its model first",
        "fct is not built yet: the first run creates it",
    ]
    assert [len(found["own"].notes), found["own"].plan, found["own"].files] == [1, None, None]
    assert folder(root) == []


@pytest.mark.spark
def test_what_is_refused_is_an_error_and_the_others_go_on(make_project, driver):
    root = make_project(staged("iceberg", "ice.refused"))
    assert Project.load(root).build(driver=driver, lint=False).ok
    (root / "models/own.sql").write_text(merge("t.id = s.nope", config="pre_hook='select 1'"))
    explanation = asked(root, driver)
    found = told(explanation)
    assert not explanation.ok
    assert found["own"].error.startswith("models/own.sql:4:14: ")
    assert "nope" in found["own"].error
    assert found["own"].error.endswith("explain runs no hooks: what its pre_hook makes is not there")
    text = list(explanation.lines())
    assert f"    error: {found['own'].error.splitlines()[0]}" in text
    assert "    files of the target that it would read: 4 of 4" in text
    nodes = {node["name"]: node for level in explanation.as_json()["levels"] for node in level}
    assert nodes["fct"]["files"] == {"total": 4, "read": 4}
    assert nodes["fct"]["spark_plan"] == found["fct"].plan
    assert nodes["own"]["spark_error"] == found["own"].error
    assert [nodes["stg"][key] for key in ("spark_plan", "files", "spark_notes", "spark_error")] == [
        None,
        None,
        [],
        None,
    ]
    refreshed = told(asked(root, driver, full_refresh=True))["fct"]
    assert (len(refreshed.notes), refreshed.plan) == (1, None)


def test_no_spark_is_needed_where_nothing_is_merged(make_project):
    root = make_project({"models/stg.sql": SOURCE})
    explanation = asked(root, None)
    assert told(explanation) == {}
    assert explanation.as_json()["levels"][0][0]["files"] is None


@pytest.mark.spark
def test_what_evolves_an_iceberg_table_is_not_asked(make_project, driver, spark):
    text = merge("t.id = s.id", source="(select 1L as id, 1 as p, 2 as v, 3 as w)")
    evolving = text.replace("merge into", "merge with schema evolution into")
    root = make_project({"models/fct.sql": merge(**BUILT)}, "iceberg")
    project = Project.load(root)
    assert project.build(driver=driver, lint=False).ok
    (root / "models/fct.sql").write_text(evolving)
    table = project.graph.nodes["model.shop.fct"].relation
    before = spark.table(str(table)).columns
    found = told(asked(root, driver))["fct"]
    assert (found.plan, found.shuffles, found.error) == (None, None, None)
    assert found.notes == ("WITH SCHEMA EVOLUTION would change an Iceberg table while it is planned: not asked",)
    assert spark.table(str(table)).columns == before
    # What it would have done.
    spark.sql(f"explain {evolving.partition('}}')[2].replace('{{ this }}', str(table))}").collect()
    assert spark.table(str(table)).columns == [*before, "w"]
