"""The audit table: one row for each model of each invocation, once."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import datetime, timezone

import pytest

from merge_runner import Project
from merge_runner.engine.response import MergeFigures, NodeResponse, RuntimeFilter, Verdict
from merge_runner.engine.steps.audit_table import COLUMNS, write_audit
from merge_runner.engine.table_format.registry import table_format
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.graph.graph import DataTestNode, ModelNode
from merge_runner.graph.naming import audit_table
from merge_runner.pages.runs.history import kept_runs, packed
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.data_test import DataTestConfig
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation
from merge_runner.run.results.audit_rows import audit, audit_rows
from merge_runner.run.results.audited_runs import restore_runs
from merge_runner.run.results.events import Events
from merge_runner.run.results.results import Result, Timing
from merge_runner.text import Place


def node(of, name, config):
    path = f"models/{name}.sql"
    return of(f"x.p.{name}", name, path, ("p", name), Place(path, 1, 1), config=config)


NODES = {
    "model.p.a": node(ModelNode, "a", ModelConfig()),
    "model.p.b": node(ModelNode, "b", ModelConfig()),
    "test.p.c": node(DataTestNode, "c", DataTestConfig()),
}


RECORD = {"id": "run1", "started_at": "2024-01-01T00:00:00.000000Z", "nodes": []}


def at(second):
    return datetime(2024, 1, 1, 0, 0, second, tzinfo=timezone.utc)


def test_a_row_has_every_column_and_tests_have_none():
    ran = Result(
        "model.p.a",
        "success",
        timing=(Timing("compile", at(1), at(2)), Timing("execute", at(5), at(9))),
        response=NodeResponse(
            statement=MergeFigures.of({"rows_inserted": 3}, {"n": 1}),
            runtime_filter=RuntimeFilter({"dt": "2 values"}, {}, [], False, "runtime filter"),
            verdict=Verdict("static", None),
            batches=[{"start": "2024-01-01", "end": "2024-01-02", "status": "success"}],
        ),
        message="3 inserted",
    )
    rows = audit_rows([ran, Result("model.p.b", "skipped"), Result("test.p.c", "pass")], RECORD, NODES)
    assert [row["unique_id"] for row in rows] == ["model.p.a", "model.p.b"]
    assert all(row.keys() == COLUMNS.keys() for row in rows)
    assert {key: value for key, value in rows[0].items() if value is not None} == {
        "invocation_id": "run1",
        "unique_id": "model.p.a",
        "name": "a",
        "status": "success",
        "started_at": at(1),
        "completed_at": at(9),
        "rows_inserted": 3,
        "verdict": "static",
        "bounds": '{"dt": "2 values"}',
        "metrics": '{"n": 1}',
        "batches": '[{"start": "2024-01-01", "end": "2024-01-02", "status": "success"}]',
        "message": "3 inserted",
        "run_started_at": at(0),
        "run_record": packed(RECORD),
    }
    assert {key for key, value in rows[1].items() if value is not None} == {
        "invocation_id",
        "unique_id",
        "name",
        "status",
        "run_started_at",
    }


@pytest.mark.parametrize(
    ("schema", "audit", "relation"),
    [
        ("shop", "runs", Relation("runs", "shop")),
        ("ice.shop", "runs", Relation("runs", "shop", "ice")),
        ("ice.shop", "ops.runs", Relation("runs", "ops")),
        ("shop", "ice.ops.runs", Relation("runs", "ops", "ice")),
        ("shop", None, None),
    ],
)
def test_the_name_of_the_table(schema, audit, relation):
    assert audit_table(Profile("p", "dev", schema, audit=audit)) == relation


FILES = {
    "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: SCHEMA, audit: AUDIT}}}\n",
    "models/fct.sql": """
        merge into {{ this }} as t using (select {{ var('id') }} as id) as s on t.id = s.id
        when matched then update set * when not matched then insert *
    """,
    "models/bad.sql": "{{ config(materialized='table') }} select nope",
    "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('bad') }}",
}


@pytest.fixture
def built(make_project, driver):
    """Builds the models once for each given id, with this audit table; gives the project and the results."""

    def run(schema, audit, *ids):
        text = FILES["profiles.yml"].replace("SCHEMA", schema).replace("AUDIT", audit)
        root = make_project({**FILES, "profiles.yml": text})
        projects = [Project.load(root, vars={"id": number}) for number in ids]
        return projects[0], [project.build(driver=driver, lint=False) for project in projects]

    return run


def rows_of(spark, table):
    return [row.asDict() for row in spark.sql(f"select * from {table} order by invocation_id, unique_id").collect()]


@pytest.mark.spark
@pytest.mark.parametrize("table", [pytest.param("audited_delta.runs", marks=pytest.mark.slow), "ice.audited.runs"])
def test_two_invocations_are_kept_and_the_same_one_is_written_once(built, driver, spark, table):
    project, (first, second) = built("audited_shop_" + table.partition(".")[0], table, 1, 2)
    rows = rows_of(spark, table)
    assert sorted((row["invocation_id"], row["name"], row["status"]) for row in rows) == sorted(
        (results.invocation_id, name, status)
        for results in (first, second)
        for name, status in (("fct", "success"), ("bad", "error"), ("below", "skipped"))
    )
    merged = next(row for row in rows if row["name"] == "fct" and row["invocation_id"] == second.invocation_id)
    response = second["fct"].adapter_response
    for name in (
        "rows_inserted",
        "rows_updated",
        "files_total",
        "files_scanned",
        "table_version",
        "verdict",
        "attempts",
    ):
        assert merged[name] == response[name]
    assert json.loads(merged["metrics"]) == response["metrics"]
    assert merged["message"] == second["fct"].message
    events = []
    again = Events(lambda event: events.append(event.event))
    record = {**RECORD, "id": first.invocation_id}
    audit(driver, project.prepared, audit_table(project.prepared.files.profile), first.results, record, again)
    assert events == ["audit_written"]
    assert rows_of(spark, table) == rows
    if table.startswith("audited"):
        folder = project.prepared.files.root / "warehouse" / "audited_delta" / "runs"
        assert (folder / "_delta_log").is_dir()


@pytest.mark.spark
@pytest.mark.slow
def test_a_folder_without_runs_gets_them_from_the_table_of_an_older_release(built, driver, spark):
    old = ", ".join(f"{name} {type}" for name, type in COLUMNS.items() if not name.startswith(("run_", "batches")))
    spark.sql("create schema if not exists ice.restored")
    spark.sql(f"create table ice.restored.runs ({old}) using iceberg")
    project, (first, second) = built("restored_shop", "ice.restored.runs", 1, 2)
    before = [run.record for run in kept_runs(project.prepared.target_path)]
    shutil.rmtree(project.prepared.target_path)
    third = Project.load(project.prepared.files.root, vars={"id": 3}).build(driver=driver, lint=False)
    kept = [run.record for run in kept_runs(project.prepared.target_path)]
    assert [each["id"] for each in kept] == [third.invocation_id, second.invocation_id, first.invocation_id]
    assert [each["nodes"] for each in kept[1:]] == [each["nodes"] for each in before]
    other = Project.load(project.prepared.files.root, target_path="other")
    assert other.restore_runs(driver=driver) == 3
    assert [run.record["id"] for run in kept_runs(other.prepared.target_path)] == [each["id"] for each in kept]
    assert restore_runs(driver, other.prepared, Relation("none", "restored", "ice")) == 0


@pytest.mark.spark
def test_a_table_that_cannot_be_written_is_a_warning_and_changes_no_result(built, spark):
    spark.sql("create schema if not exists audited_bad")
    spark.sql("create table if not exists audited_bad.runs (n int) using delta")
    project, (results,) = built("audited_shop_bad", "audited_bad.runs", 1)
    assert results.counts() == {"success": 1, "error": 1, "skipped": 1}
    journal = (project.prepared.target_path / "journal.jsonl").read_text().splitlines()
    failed = [event for event in map(json.loads, journal) if event["event"] == "audit_failed"]
    assert len(failed) == 1
    assert failed[0]["message"].startswith("the audit table audited_bad.runs is not written: ")
    assert failed[0]["level"] == "warn"


@pytest.mark.spark
@pytest.mark.slow
def test_writers_without_a_lock_try_again_after_a_conflict(spark, tmp_path):
    table, folder = Relation("runs", "audited_at_once"), tmp_path / "runs"

    def write(number):
        rows = audit_rows([Result("model.p.a", "success")], {**RECORD, "id": f"run{number}"}, NODES)
        return write_audit(spark.newSession(), Catalog(table_format), table, folder, rows, nullcontext)

    assert write(0) == ()
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(write, (1, 2, 3))) == [()] * 3
    assert [row["invocation_id"] for row in rows_of(spark, table)] == ["run0", "run1", "run2", "run3"]
