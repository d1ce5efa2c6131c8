"""Builds of small projects on real Spark with real Delta tables."""

import json
from datetime import date, datetime
from decimal import Decimal

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MERGE = """
{{ config(unique_key='id') }}
merge into {{ this }} as t
using (select id, name from {{ ref('stg') }}) as s
   on t.id = s.id
when matched and s.name <> t.name then update set *
when not matched then insert *
"""
STAGING = "{{ config(materialized='view') }} select * from values (1, 'a'), (2, 'b') as v(id, name)"


@pytest.fixture
def build(make_project, driver):
    """Writes a project, builds it on the shared driver, and gives project and results."""

    def run(files, root=None, command="build", load=None, **options):
        root = root or make_project(files)
        project = Project.load(root, **(load or {}))
        if command == "build":
            options.setdefault("lint", False)  # these models are about what a build does, not about how they scan
        return project, getattr(project, command)(driver=driver, **options)

    return run


def rows(spark, project, name):
    node = next(node for node in project.graph.nodes.values() if node.name == name)
    return sorted(tuple(row) for row in spark.table(str(node.relation)).collect())


def statuses(results):
    return {result.unique_id.split(".")[2]: result.status for result in results.results}


class Twice:
    """A view and a MERGE from it, built twice."""

    def __init__(self, root, driver, spark):
        self.root = root
        self.project = Project.load(root)
        self.first = self.project.run(driver=driver)
        self.target = self.project.prepared.target_path
        self.artifacts = {
            str(path.relative_to(self.target)): path.read_text()
            for path in self.target.rglob("*")
            if path.suffix in (".json", ".jsonl", ".sql")
        }
        self.rows = rows(spark, self.project, "fct")
        self.tested = Project.load(root).test(driver=driver)
        for node in self.project.graph.nodes.values():
            if node.relation is not None:  # as after the end of the process: only the files are left
                spark.sql(f"drop {'view' if node.name == 'stg' else 'table'} {node.relation}")
        self.again = Project.load(root).build(driver=driver, lint=False, select="fct", exclude="resource_type:test")


@pytest.fixture(scope="module")
def twice(tmp_path_factory, driver, spark):
    root = tmp_path_factory.mktemp("twice")
    files = {
        "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
        "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: built_twice}}}\n",
        "models/stg.sql": STAGING,
        "models/sub/fct.sql": MERGE,
        "models/m.yml": "models: [{name: stg, columns: [{name: id, data_tests: [unique]}]}]",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Twice(root, driver, spark)


def test_a_merge_creates_its_target_from_the_analysed_source_and_reports_the_engines_counts(twice):
    assert twice.first.ok, twice.first.results
    assert twice.rows == [(1, "a"), (2, "b")]
    response = twice.first["fct"].adapter_response
    assert {
        key: response[key] for key in ("operation", "rows_source", "rows_inserted", "rows_updated", "rows_deleted")
    } == {
        "operation": "MERGE",
        "rows_source": 2,
        "rows_inserted": 2,
        "rows_updated": 0,
        "rows_deleted": 0,
    }
    assert response["table_version"] == 1
    assert response["attempts"] == 1
    assert response["metrics"]["numTargetRowsInserted"] == 2


def test_a_view_of_an_earlier_process_is_known_to_a_later_one(twice):
    assert statuses(twice.again) == {"fct": "success"}


def test_a_second_build_changes_no_row(twice):
    response = twice.again["fct"].adapter_response
    assert [response[f"rows_{kind}"] for kind in ("inserted", "updated", "deleted")] == [0, 0, 0]
    assert response["files_total"] == response["files_scanned"] > 0


def test_run_leaves_tests_out_and_test_runs_nothing_else(twice):
    assert statuses(twice.first) == {"stg": "success", "fct": "success"}
    assert [result.status for result in twice.tested.results] == ["pass"]


def test_artifacts_say_what_ran(twice):
    document = json.loads(twice.artifacts["run_results.json"])
    assert document["metadata"]["dbt_schema_version"].endswith("run-results/v6.json")
    assert {entry["unique_id"]: entry["status"] for entry in document["results"]} == {
        "model.shop.stg": "success",
        "model.shop.fct": "success",
    }
    manifest = json.loads(twice.artifacts["manifest.json"])
    assert manifest["nodes"]["model.shop.fct"]["depends_on"]["nodes"] == ["model.shop.stg"]
    for folder in ("compiled", "run"):
        text = twice.artifacts[f"{folder}/shop/models/sub/fct.sql"]
        assert text == twice.first["fct"].compiled_code
        assert "merge into built_twice" in text
    events = [json.loads(line) for line in twice.artifacts["journal.jsonl"].splitlines()]
    names = [event["event"] for event in events]
    assert names[0] == "invocation_started"
    assert names[-1] == "invocation_finished"
    assert [event["node"] for event in events if event["event"] == "node_finished"] == [
        "model.shop.stg",
        "model.shop.fct",
    ]
    assert len({twice.first.invocation_id, document["metadata"]["invocation_id"], events[0]["invocation_id"]}) == 1


def test_a_target_is_created_as_it_is_declared(build, spark):
    project, _ = build(
        {
            "models/stg.sql": "{{ config(materialized='ephemeral') }} select 1 as id, date'2024-01-02' as day, 7 as n",
            "models/fct.sql": """
                {{ config(partition_by='day', properties={'delta.enableChangeDataFeed': true}) }}
                merge into {{ this }} as t using {{ ref('stg') }} as s on t.id = s.id
                when not matched then insert *
            """,
            "models/m.yml": """
                models:
                  - name: fct
                    columns:
                      - {name: id, data_type: bigint, constraints: [{type: not_null}], description: the key}
                      - {name: day, data_type: date}
                      - {name: n, data_type: "decimal(8, 2)", constraints: [{type: check, expression: n > 0, name: positive}]}
            """,
        }
    )
    relation = next(node.relation for node in project.graph.nodes.values() if node.name == "fct")
    schema = spark.table(str(relation)).schema
    assert [(field.name, field.dataType.simpleString()) for field in schema] == [
        ("id", "bigint"),
        ("day", "date"),
        ("n", "decimal(8,2)"),
    ]
    detail = spark.sql(f"describe detail {relation}").first()
    assert detail["partitionColumns"] == ["day"]
    assert detail["properties"]["delta.enableChangeDataFeed"] == "true"
    assert detail["properties"]["delta.constraints.positive"] == "n > 0"
    assert detail["location"].endswith(f"/warehouse/{relation.schema}/fct")
    assert rows(spark, project, "fct") == [(1, date(2024, 1, 2), Decimal("7.00"))]


def test_insert_with_columns_gives_the_target_their_names_and_types(build, spark):
    project, _ = build(
        {
            "models/fct.sql": """
                with s as (select 1 as a, 'x' as b)
                merge into {{ this }} as t using (select * from s) as src on t.key = src.a
                when not matched and src.b = 'y' then insert (key) values (src.a)
                when not matched then insert (key, label, doubled) values (src.a, upper(src.b), src.a * 2L)
            """
        }
    )
    assert rows(spark, project, "fct") == [(1, "X", 2)]
    relation = next(iter(project.graph.nodes.values())).relation
    assert spark.table(str(relation)).dtypes == [("key", "int"), ("label", "string"), ("doubled", "bigint")]


def test_a_merge_that_inserts_nothing_into_a_missing_table_says_what_to_declare(build):
    _, results = build(
        {
            "models/fct.sql": "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when matched then delete",
        }
    )
    result = results["fct"]
    assert result.status == "error"
    assert "columns are not known" in result.message
    assert "declare columns with data_type" in result.message


def test_an_existing_table_is_adopted_with_its_rows_and_drift_is_reported(build, spark):
    project, _ = build({"models/stg.sql": STAGING, "models/fct.sql": MERGE})
    root = project.prepared.files.root
    (root / "models/m.yml").write_text(
        "models: [{name: fct, columns: [{name: id, data_type: bigint}, {name: other, data_type: string}]}]"
    )
    (root / "models/fct.sql").write_text(MERGE.replace("unique_key='id'", "partition_by='id'"))
    relation = next(node.relation for node in project.graph.nodes.values() if node.name == "fct")
    spark.sql(f"drop table {relation}")  # as after the end of a process: only the folder is left
    _, results = build({}, root=root)
    assert rows(spark, project, "fct") == [(1, "a"), (2, "b")]
    assert results["fct"].adapter_response["created"] is False
    assert [text.split(": ")[1] for text in results["fct"].warnings] == [
        "column id is int, declared bigint",
        "column other is missing",
        "column name is not declared",
        "partitioned by (), declared (id)",
    ]


def test_full_refresh_rebuilds_unless_the_model_forbids_it(build, spark):
    files = {
        "models/one.sql": "merge into {{ this }} t using (select {{ var('n') }} as id) s on t.id = s.id when not matched then insert *",
        "models/kept.sql": "{{ config(full_refresh=false) }} merge into {{ this }} t using (select {{ var('n') }} as id) s "
        "on t.id = s.id when not matched then insert *",
    }
    project, _ = build(files, load={"vars": {"n": 1}})
    build({}, root=project.prepared.files.root, load={"vars": {"n": 2}, "full_refresh": True})
    assert rows(spark, project, "one") == [(2,)]
    assert rows(spark, project, "kept") == [(1,), (2,)]


def test_tables_views_ephemeral_models_and_seeds_feed_each_other(build, spark):
    project, results = build(
        {
            "seeds/colour.csv": 'id,name,at\n1,red,2024-05-06 07:08:09\n2,"green, dark",\n',
            "seeds/place.csv": "zip,price,since\n007,1.10,2024-05-06\n",
            "seeds/s.yml": """
                seeds:
                  - name: colour
                    columns: [{name: id, data_type: bigint}, {name: name, data_type: string}, {name: at, data_type: timestamp}]
                  - name: place
                    config: {column_types: {zip: string, price: "decimal(5, 2)"}}
            """,
            "models/eph.sql": "{{ config(materialized='ephemeral') }} select id, name, at from {{ ref('colour') }} -- end",
            "models/v.sql": "select id * 10 as id, name, at from {{ ref('eph') }} as e;",
            "models/tab.sql": "{{ config(materialized='table', partition_by='id') }}\nselect * from {{ ref('v') }}",
        }
    )
    assert results.ok
    assert rows(spark, project, "tab") == [
        (10, "red", datetime(2024, 5, 6, 7, 8, 9)),
        (20, "green, dark", None),
    ]
    assert results["tab"].adapter_response["rows_affected"] == 2
    assert rows(spark, project, "place") == [("007", Decimal("1.10"), date(2024, 5, 6))]


def test_a_parent_that_was_never_built_is_named(build):
    _, results = build({"models/stg.sql": STAGING, "models/fct.sql": MERGE}, select="fct")
    assert results["fct"].status == "error"
    assert "stg has not been built yet" in results["fct"].message


FILE_FORMATS = {"csv": "{header: true}", "json": "{}", "parquet": "{}", "orc": "{}", "delta": "{}"}


def test_sources_of_files_are_read_by_column_names(build, spark, tmp_path):
    frame = spark.sql("select 'x' as label, 7 as n, date'2024-01-01' as day")
    tables, models = [], {}
    for format, options in FILE_FORMATS.items():
        data = tmp_path / f"data_{format}"
        (frame.write.option("header", True) if format == "csv" else frame.write).format(format).save(str(data))
        tables.append(
            f"{{name: of_{format}, path: {data}, format: {format}, options: {options}, columns: "
            "[{name: n, data_type: int}, {name: day, data_type: date}, {name: label, data_type: string}]}"
        )
        materialized = "table" if format == "csv" else "view"
        models[f"models/{format}.sql"] = (
            f"{{{{ config(materialized='{materialized}') }}}} select n, day, label from {{{{ source('raw', 'of_{format}') }}}}"
        )
    yml = "sources: [{name: raw, tables: [" + ", ".join(tables) + "]}]"
    project, results = build({"models/m.yml": yml, **models}, threads=2)
    assert results.ok, [result.message for result in results.results]
    read = {format: rows(spark, project, format) for format in FILE_FORMATS}
    assert read == {format: [(7, date(2024, 1, 1), "x")] for format in FILE_FORMATS}


def test_a_declared_column_that_a_csv_file_does_not_have_is_named(build):
    _, results = build(
        {
            "data/thing.csv": "label,n\nx,1\n",
            "models/m.yml": """
                sources:
                  - name: raw_bad
                    tables:
                      - {name: thing, path: data/thing.csv, format: csv, options: {header: true},
                         columns: [{name: lable, data_type: string}]}
            """,
            "models/t.sql": "{{ config(materialized='table') }} select * from {{ source('raw_bad', 'thing') }}",
        }
    )
    assert "declares column lable" in results["t"].message
    assert 'did you mean "label"?' in results["t"].message


@pytest.mark.slow
def test_an_existing_table_is_a_source(build, spark):
    spark.sql("create schema if not exists depot")
    spark.sql("create or replace table depot.thing (n int) using delta")
    spark.sql("insert into depot.thing values (5)")
    project, results = build(
        {
            "models/m.yml": "sources: [{name: depot, tables: [{name: thing}]}]",
            "models/t.sql": "{{ config(materialized='table') }} select * from {{ source('depot', 'thing') }}",
        }
    )
    assert results.ok
    assert rows(spark, project, "t") == [(5,)]


def test_a_failure_is_told_at_the_authors_line_and_only_its_descendants_are_skipped(build):
    _, results = build(
        {
            "models/stg.sql": STAGING,
            "models/bad.sql": "{{ config(unique_key='id') }}\n\nmerge into {{ this }} t\nusing {{ ref('stg') }} s\n"
            "on t.id = s.id\nwhen not matched then insert (id, name) values (s.id, s.nmae)\n",
            "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('bad') }}",
            "models/lower.sql": "{{ config(materialized='table') }} select * from {{ ref('below') }}",
            "models/good.sql": MERGE,
        }
    )
    assert statuses(results) == {
        "stg": "success",
        "bad": "error",
        "good": "success",
        "below": "skipped",
        "lower": "skipped",
    }
    assert results["bad"].message.startswith("models/bad.sql:6:55: ")
    assert "s.nmae" in results["bad"].message or "`nmae`" in results["bad"].message
    assert results["below"].message == "skipped because bad failed"
    assert results["below"].cause == "model.shop.bad"


def test_a_failing_data_test_keeps_children_from_running_and_a_warning_does_not(build):
    tests = "models: [{{name: stg, columns: [{{name: id, data_tests: [{{accepted_values: {{values: [1], quote: false, severity: {}}}}}]}}]}}]"
    files = {"models/stg.sql": STAGING, "models/fct.sql": MERGE}
    _, failed = build({**files, "models/m.yml": tests.format("error")})
    assert failed["fct"].status == "skipped"
    assert [result.failures for result in failed.results if result.status == "fail"] == [1]
    _, warned = build({**files, "models/m.yml": tests.format("warn")})
    assert warned["fct"].status == "success"
    assert warned.ok
    assert [result.failures for result in warned.results if result.status == "warn"] == [1]


def test_singular_and_relationship_tests_run(build):
    _, results = build(
        {
            "models/stg.sql": STAGING,
            "models/fct.sql": MERGE,
            "tests/no_b.sql": "{{ config(limit=1) }} select * from {{ ref('fct') }} limit 5; -- one of two rows counts",
            "models/m.yml": """
                models:
                  - name: fct
                    columns:
                      - name: id
                        data_tests: [unique, not_null, {relationships: {to: ref('stg'), field: id}}]
                    data_tests:
                      - unique_combination_of_columns: {combination_of_columns: [id, name]}
                      - expression_is_true: {expression: id > 0}
            """,
        }
    )
    counts = results.counts()
    assert counts == {"success": 2, "pass": 5, "fail": 1}
    assert results["no_b"].failures == 1


def test_independent_models_overlap_in_time(build):
    slow = "{{ config(materialized='table') }} select count(*) as n from range(150000) a where sha2(cast(id as string), 512) <> 'x'"
    _, results = build({"models/a.sql": slow, "models/b.sql": slow}, threads=2)
    assert results.ok
    (_, a), (_, b) = (results[name].timing for name in "ab")
    assert a.started_at < b.completed_at
    assert b.started_at < a.completed_at


def test_each_model_has_confs_and_temporary_views_of_its_own(build, spark):
    files = {
        "models/a.sql": "{{ config(materialized='table', conf={'spark.sql.shuffle.partitions': '3'}, "
        "pre_hook='create temporary view mine as select 1 as n') }} select * from mine",
        "models/b.sql": "{{ config(materialized='table', pre_hook='create temporary view mine as select 2 as n', "
        "post_hook=\"alter table {{ this }} set tblproperties ('team' = 'us')\") }} select * from mine",
    }
    project, results = build(files)
    assert results.ok, results.results
    assert rows(spark, project, "a") == [(1,)]
    assert rows(spark, project, "b") == [(2,)]
    relation = next(node.relation for node in project.graph.nodes.values() if node.name == "b")
    properties = {row["key"]: row["value"] for row in spark.sql(f"show tblproperties {relation}").collect()}
    assert properties["team"] == "us"
    assert spark.conf.get("spark.sql.shuffle.partitions") != "3"


ENDLESS = "{{ config(materialized='table') }} select count(*) n from range(0, 100000000000L, 1, 1) where sha2(cast(id as string), 512) = 'x'"


def test_fail_fast_cancels_what_runs_and_says_what_became_of_it(build):
    _, results = build(
        {
            "models/endless.sql": ENDLESS,
            "models/bad.sql": "{{ config(materialized='table', pre_hook='select count(*) from range(1000000)') }} select nope",
            "models/later.sql": "{{ config(materialized='table') }} select * from {{ ref('endless') }}",
        },
        threads=2,
        fail_fast=True,
    )
    assert results["bad"].status == "error"
    assert results["endless"].status == "error"
    assert "cancelled; nothing was committed" in results["endless"].message
    assert results["later"].status == "skipped"


def test_a_model_is_stopped_at_its_timeout(build):
    _, results = build(
        {"models/endless.sql": ENDLESS.replace("materialized='table'", "materialized='table', timeout=2")}
    )
    assert results["endless"].status == "error"
    assert "stopped after its timeout of 2" in results["endless"].message


def test_on_error_continue_lets_children_run(build):
    _, results = build(
        {
            "models/bad.sql": "{{ config(materialized='table', on_error='continue') }} select nope",
            "models/child.sql": "-- depends_on: {{ ref('other') }}\n{{ config(materialized='table') }} select 1 as n",
            "models/other.sql": "-- depends_on: {{ ref('bad') }}\n{{ config(materialized='ephemeral') }} select 1 as n",
        }
    )
    assert results["bad"].status == "error"
    assert results["child"].status == "error"
    assert "bad has not been built yet" in results["child"].message


def test_a_secret_of_the_profile_is_in_no_message(make_project, driver):
    root = make_project(
        {
            "profiles.yml": """
                shop: {outputs: {dev: {master: 'local[2]', schema: hiding, conf: {some.password: "{{ env_var('PASS') }}"}}}}
            """,
            "models/m.sql": "{{ config(materialized='table') }} select cast(raise_error(concat('no access with hunter2', 'hunter')) as int) as n",
        }
    )
    project = Project.load(root, env={"PASS": "hunter2hunter"})
    result = project.build(driver=driver, lint=False)["m"]
    assert "no access with *****" in result.message
    assert "hunter2hunter" not in (root / "target/journal.jsonl").read_text()


def test_a_project_is_the_same_by_a_relative_path(make_project, driver, monkeypatch):
    root = make_project({"models/m.sql": "{{ config(materialized='table') }} select 1 as n"})
    monkeypatch.chdir(root.parent)
    results = Project.load(root.name).build(driver=driver, lint=False)
    assert results.ok, results.results
    assert list(root.glob("warehouse/*/m/_delta_log/*.json"))
