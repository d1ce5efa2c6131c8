"""Builds on the fake engine: what is asked of it, and what the next build makes of that."""

import json
import os
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta, timezone

import pytest

from merge_runner import Project
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.plan import Planner
from merge_runner.run.results.event_types import NodeStarted
from merge_runner.run.reuse.fingerprint import environment_of, fingerprint
from merge_runner.run.reuse.likely import likely_unchanged
from merge_runner.run.reuse.records import Record, Records
from merge_runner.run.reuse.reuse import Reuse
from tests.fake_engine.driver import FakeDriver
from tests.fake_engine.faults import Faults
from tests.fake_engine.lake import Lake, Table


@pytest.fixture(autouse=True)
def reusing(monkeypatch):
    monkeypatch.delenv("MERGE_RUNNER_REUSE")


class Shop:
    """A project that is built again and again on one lake."""

    def __init__(self, root, **given):
        self.root = root
        self.driver = FakeDriver(Lake(), **given)

    def build(self):
        results = Project.load(self.root).build(driver=self.driver, lint=False, reuse="auto").results
        assert {result.status for result in results} <= {"success", "pass", "no-op"}, [each.message for each in results]
        return {result.unique_id.split(".")[2]: result for result in results}

    def reason(self, name):
        levels = Project.load(self.root).explain().levels
        return next(str(node.reuse) for level in levels for node in level if node.name == name)


@pytest.mark.parametrize("word", ["current_date()", "current_timestamp()", "date'today'"])
def test_what_reads_the_clock_runs_in_each_build(make_project, word):
    shop = Shop(make_project({"models/m.sql": f"{{{{ config(materialized='table') }}}} select {word} as now"}))
    assert [shop.build()["m"].status for _ in range(2)] == ["success", "success"]
    assert shop.reason("m") == "would run: its query may read the clock"


@pytest.mark.parametrize(
    ("at", "runs"), [(timedelta(days=6.9), False), (timedelta(days=7), True), (-timedelta(days=1), True)]
)
def test_a_record_is_not_believed_for_ever(make_project, at, runs):
    shop = Shop(make_project({"models/m.sql": "{{ config(materialized='table') }} select 1 as id"}))
    shop.build()
    path = shop.root / "target/reuse.json"
    kept = json.loads(path.read_text())
    for record in kept["records"].values():
        record["at"] = (datetime.now(timezone.utc) - at).isoformat()
    path.write_text(json.dumps(kept))
    assert (shop.reason("m") == "would run: its last run is more than 7 days old") is runs
    assert shop.build()["m"].status == ("success" if runs else "no-op")


@pytest.mark.parametrize(
    "output",
    [
        "schema: lake.shop, catalogs: {lake: {type: rest, uri: 'http://127.0.0.1:1'}}",
        "schema: shop, conf: {spark.sql.catalogImplementation: hive}",
    ],
)
def test_a_view_in_a_catalog_is_defined_by_each_build(make_project, output):
    """Another tool may have replaced or dropped it; what is on no disk of this machine is not known."""
    profile = f"shop: {{outputs: {{dev: {{master: 'local[2]', {output}}}}}}}"
    text = "{{ config(materialized='view') }} select 1 as one"
    shop = Shop(make_project({"profiles.yml": profile, "models/v.sql": text}))
    for _ in range(2):
        assert shop.build()["v"].status == "success"
    name = "lake.shop.v" if "lake" in output else "shop.v"
    assert shop.reason("v") == f"would run: the state of {name} is not known"


def test_what_is_in_a_catalog_is_not_known_before_spark_runs(make_project):
    """And a Spark that does not say it, as this one, has it run again."""
    files = {
        "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: lake.shop, "
        "catalogs: {lake: {type: rest, uri: 'http://127.0.0.1:1'}}}}}",
        "models/m.yml": "{version: 2, sources: [{name: other, database: lake, tables: [{name: orders}]}]}",
        "models/t.sql": "{{ config(materialized='table', format='iceberg') }} select 1 as one",
        "models/u.sql": "{{ config(materialized='table', format='iceberg') }} select * from {{ source('other', 'orders') }}",
    }
    shop = Shop(make_project(files))
    assert shop.reason("t") == "would run: no earlier run of it is known"
    assert shop.reason("u") == "would run: whether lake.other.orders has changed is not known before Spark runs"
    project = Project.load(shop.root)
    for _ in range(2):
        assert project.build("t", driver=shop.driver, lint=False, reuse="auto")["t"].status == "success"
    assert shop.reason("t") == "would run: whether its table or view has changed is not known before Spark runs"
    path = shop.root / "target/reuse.json"
    kept = json.loads(path.read_text())
    assert kept["records"]["model.shop.t"]["doubt"] == "the state of its table or view cannot be read"
    kept["records"]["model.shop.t"] |= {"doubt": None, "left": "a state"}
    path.write_text(json.dumps(kept))
    assert not likely_unchanged(project.prepared, ["model.shop.t"])


def test_a_node_with_a_catalog_of_its_own_runs_in_each_build(make_project):
    text = "{{ config(materialized='table', conf={'spark.sql.catalog.lake.uri': 'http://h'}) }} select 1 as one"
    shop = Shop(make_project({"models/t.sql": text}))
    assert [shop.build()["t"].status for _ in range(2)] == ["success", "success"]
    assert "by which a name may be another table" in shop.reason("t")


ORDERS = {
    "models/m.yml": """
        version: 2
        sources: [{name: raw, tables: [{name: orders, path: data/orders, format: delta, partition_by: [day],
          columns: [{name: id, data_type: bigint, data_tests: [unique]}, {name: n, data_type: int}, {name: day, data_type: date}]}]}]
        models: [{name: m, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}, {name: day, data_type: date}]}]
    """,
    "models/m.sql": "{{ config(partition_by=['day'], bounds='off') }}\n"
    "merge into {{ this }} as t using (select * from {{ source('raw', 'orders') }} where n > 0) as s\n"
    "on t.day = s.day and t.id = s.id when matched and s.n > t.n then update set * when not matched then insert *",
}
TYPES = {"id": "bigint", "n": "int", "day": "date"}
UNCHANGED = {"SELECT 1 AS changes": [], "SELECT * FROM": TYPES}


class Orders(Shop):
    """A source with a log of its own."""

    def __init__(self, make_project):
        self.root = make_project(ORDERS)
        super().__init__(self.root, answers=UNCHANGED)
        self.folder = self.root / "data/orders"
        (self.folder / "_delta_log").mkdir(parents=True)
        self.commit(0, "2024-01-01")
        prepared = Project.load(self.root).prepared
        self.name = prepared.graph.nodes["source.shop.raw.orders"].relation
        name = f"{self.name.schema}.{self.name.identifier}"
        self.driver.lake.tables[name] = Table(name, TYPES, {"partition_by": "day"}, self.folder)

    def commit(self, version, *days, **action):
        actions = [{"commitInfo": {"operation": "WRITE", "txnId": f"{version}"}}, *([action] if action else [])]
        actions += [
            {"add": {"path": f"{version}", "partitionValues": {"day": day}, "dataChange": True}} for day in days
        ]
        text = "".join(json.dumps(each) + "\n" for each in actions)
        (self.folder / "_delta_log" / f"{version:020}.json").write_text(text)


def test_a_node_waits_and_is_built_once_the_time_has_passed(make_project):
    shop = Orders(make_project)
    path = shop.root / "models/m.sql"
    path.write_text(path.read_text().replace("bounds='off'", "build_after={'count': 1, 'period': 'hour'}"))
    shop.build()
    shop.commit(1, "2024-01-02")
    found = shop.build()["m"]
    assert (found.status, found.message[:31]) == ("no-op", "`build_after`: it waits until 2")
    path = shop.root / "target/reuse.json"
    kept = json.loads(path.read_text())
    for record in kept["records"].values():
        record["at"] = "2020-01-01T00:00:00+00:00"
    path.write_text(json.dumps(kept))
    assert shop.build()["m"].status == "success"


@pytest.mark.parametrize("after", [False, True])
def test_a_failure_does_not_wait(make_project, after):
    shop = Orders(make_project)
    path = shop.root / "models/m.sql"
    path.write_text(path.read_text().replace("bounds='off'", "build_after={'count': 1, 'period': 'hour'}"))
    shop.build()
    shop.driver.faults = Faults({"m": ["fails after" if after else "fails"]})
    results = Project.load(shop.root).build(driver=shop.driver, lint=False, reuse="fresh").results
    assert "error" in {result.status for result in results}
    assert shop.reason("m") == "would run: no earlier run of it is known"


OF_A_CATALOG = {
    "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: shop, warehouse: warehouse, catalogs: {ice: {type: embedded}}}}}\n",
    "models/m.yml": "{version: 2, sources: [{name: raw, tables: [{name: orders, CATALOG}]}]}",
    "models/m.sql": "{{ config(materialized='table') }} select * from {{ source('raw', 'orders') }}",
}


def catalog_names(file, metadata):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "create table iceberg_tables (catalog_name text, table_namespace text, table_name text, metadata_location text)"
        )
        if metadata is not None:
            connection.execute("insert into iceberg_tables values ('ice', 'raw', 'orders', ?)", (str(metadata),))


@pytest.mark.parametrize(
    ("catalog", "known", "said"),
    [
        ("catalog: ice", True, "no earlier run of it is known"),
        ("catalog: ice", False, "ice.raw.orders was written just now, or cannot be read"),
        (
            "catalog: far",
            True,
            "whether far.raw.orders has changed is not known",
        ),
    ],
)
def test_a_source_in_an_embedded_catalog_has_versions(make_project, catalog, known, said):
    root = make_project({**OF_A_CATALOG, "models/m.yml": OF_A_CATALOG["models/m.yml"].replace("CATALOG", catalog)})
    (root / "warehouse").mkdir()
    metadata = root / "warehouse/1.metadata.json"
    metadata.write_text('{"table-uuid": "u", "current-schema-id": 0, "snapshots": []}')
    catalog_names(root / "warehouse/ice.db", metadata if known else None)
    assert Shop(root).reason("m") == f"would run: {said}"


def test_a_first_run_says_nothing_about_an_incremental_one(make_project):
    text = (
        "merge into {{ this }} as t using (select 1L as id, {% if is_incremental() %}3{% else %}2{% endif %} as n) as s\n"
        "on t.id = s.id when matched then update set * when not matched then insert *"
    )
    types = "{version: 2, models: [{name: m, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}]}]}"
    shop = Shop(make_project({"models/m.sql": text, "models/m.yml": types}))
    assert shop.build()["m"].response.is_incremental is False
    said = "its last run was its first one, in which `is_incremental()` is false: the next one has another text"
    assert shop.reason("m") == f"would run: {said}"


OF_ITS_TARGET = "merge into {{ this }} as t using (USING) as s on t.id = s.id MATCHED when not matched then insert *"
CARRIED = "select id, max(n) as n from (select 1L as id, 2 as n union all select id, null from {{ this }}) group by id"


@pytest.mark.parametrize("using", ["select 1L as id, 2 as n", CARRIED])
@pytest.mark.parametrize(
    ("answer", "said"), [([], "be left out: inputs"), ([{"changes": 1}], "run: a second run would change")]
)
def test_the_engine_is_asked_after_the_run_whether_another_one_changes_rows(make_project, using, answer, said):
    types = "{version: 2, models: [{name: m, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}]}]}"
    text = OF_ITS_TARGET.replace("USING", using).replace(
        "MATCHED", "when matched and s.n <> t.n then update set n = s.n"
    )
    answers = {"SELECT 1 AS changes": answer}
    shop = Shop(make_project({"models/m.sql": text, "models/m.yml": types}), answers=answers)
    shop.build()
    assert sum(text.startswith("SELECT 1 AS changes") for text in shop.driver.statements) == 1
    assert shop.reason("m").startswith(f"would {said}")
    assert shop.build()["m"].status == ("no-op" if answer == [] else "success")


@pytest.mark.parametrize("kind", ["map<string,int>", "variant", "interval"])
def test_values_that_are_not_compared_leave_the_node_to_the_next_build(make_project, kind):
    types = f"{{version: 2, models: [{{name: m, columns: [{{name: id, data_type: bigint}}, {{name: n, data_type: '{kind}'}}]}}]}}"
    text = OF_ITS_TARGET.replace("USING", "select 1L as id, null as n").replace(
        "MATCHED", "when matched then update set n = s.n"
    )
    shop = Shop(make_project({"models/m.sql": text, "models/m.yml": types}))
    shop.build()
    said = f"whether a second run would change rows is not known: values of the type {kind} are not compared"
    assert shop.reason("m") == f"would run: {said}"


def test_a_query_after_the_run_that_fails_leaves_the_node_to_the_next_build(make_project):
    types = "{version: 2, models: [{name: m, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}]}]}"
    text = OF_ITS_TARGET.replace("USING", CARRIED).replace("MATCHED", "")
    shop = Shop(make_project({"models/m.sql": text, "models/m.yml": types}), answers={"SELECT 1 AS changes": []})
    shop.driver.faults = Faults({"SELECT 1 AS changes": ["fails", "fails"]})
    assert [shop.build()["m"].status for _ in range(2)] == ["success", "success"]
    assert shop.reason("m") == "would run: no earlier run of it is known"


def test_a_view_that_is_left_out_has_the_columns_that_its_tables_have_now(make_project):
    shop = Orders(make_project)
    (shop.root / "models/v.sql").write_text(
        "{{ config(materialized='view') }} select * from {{ source('raw', 'orders') }}"
    )
    (shop.root / "models/r.sql").write_text("{{ config(materialized='table') }} select * from {{ ref('v') }}")
    shop.build()
    shop.commit(1, metaData={})
    before = len(shop.driver.statements)
    found = shop.build()
    assert (found["v"].status, found["r"].status) == ("no-op", "success")
    assert any(text.startswith("CREATE OR REPLACE VIEW") for text in shop.driver.statements[before:])


@pytest.mark.parametrize("place", ["profile", "config"])
def test_a_session_on_a_branch_has_no_versions(make_project, place):
    conf = "conf: {spark.wap.branch: audit}"
    files = {"models/m.sql": "{{ config(materialized='table', CONF) }} select 1 as id"}
    files["models/m.sql"] = files["models/m.sql"].replace(
        ", CONF", ", conf={'spark.wap.branch': 'audit'}" if place == "config" else ""
    )
    files["profiles.yml"] = (
        f"shop: {{outputs: {{dev: {{schema: shop, {conf if place == 'profile' else 'threads: 1'}}}}}}}\n"
    )
    shop = Shop(make_project(files))
    said = "`spark.wap.branch` has it read and write a branch, of which no version is known here"
    assert shop.reason("m") == f"would run: {said}"


@pytest.mark.parametrize("writer", [False, True])
def test_rows_that_another_writer_appends_while_a_merge_runs_are_not_merged_yet(make_project, writer):
    shop = Orders(make_project)

    def append(_session, text):
        if writer and text.lstrip().lower().startswith("merge into"):
            shop.driver.lake.commit(shop.driver.lake["m"], "WRITE", "of another job", 2)

    shop.driver.observe = append
    shop.build()
    wanted = "would be left out: inputs unchanged since version 1"
    if writer:
        wanted = "would run: another writer has changed its table meanwhile"
    assert shop.reason("m") == wanted


@pytest.mark.parametrize(
    ("query", "checksum", "runs"),
    [
        ("select id, _metadata.file_path as f from {{ ref('t') }}", False, True),
        ("select id, _METADATA.file_modification_time as f from {{ source('raw', 'files') }}", True, True),
        ("select id, _metadata.file_path as f from {{ source('raw', 'files') }}", False, False),
        ("select id, my_metadata as f from {{ ref('t') }}", False, False),
        ("select * from {{ ref('v') }}", False, True),
    ],
)
def test_where_rows_are_stored_changes_when_no_row_does(make_project, query, checksum, runs):
    source = f"{{name: files, path: data/a.csv, format: csv, checksum: {str(checksum).lower()}}}"
    root = make_project(
        {
            "models/m.yml": f"{{version: 2, sources: [{{name: raw, tables: [{source}]}}]}}",
            "models/t.sql": "{{ config(materialized='table') }} select 1 as id",
            "models/v.sql": "{{ config(materialized='view') }} select id, _metadata.file_path as f from {{ ref('t') }}",
            "models/m.sql": "{{ config(materialized='table') }} " + query,
            "data/a.csv": "1",
        }
    )
    os.utime(root / "data/a.csv", (1_700_000_000, 1_700_000_000))
    shop = Shop(root)
    if "source" not in query:  # the fake engine reads no files
        shop.build()
    assert shop.reason("m").startswith("would run: it reads `_") is runs


@pytest.mark.parametrize("changed", [False, True])
def test_a_node_that_is_left_out_is_not_expected_to_take_as_long_as_before(make_project, changed):
    text = "{{ config(materialized='table') }} select 1 as id"
    shop = Shop(make_project({"models/one.sql": text, "models/other.sql": text}))
    shop.build()
    path = shop.root / "target/run_results.json"
    results = json.loads(path.read_text())
    for result in results["results"]:
        result["execution_time"] = 30.0
    path.write_text(json.dumps(results))
    if changed:
        (shop.root / "models/other.sql").write_text(text.replace("1", "2"))
    started = {}

    def note(event):
        if isinstance(event, NodeStarted):
            started[event.name] = event.expected

    Project.load(shop.root).build(driver=shop.driver, lint=False, reuse="auto", on_event=note)
    assert started == {"one": None, "other": 30.0 if changed else None}


def test_explain_has_a_line_for_each_node(make_project):
    files = {
        "models/one.sql": "{{ config(materialized='table') }} select 1 as id",
        "models/other.sql": "{{ config(materialized='table') }} select id from {{ ref('one') }}",
        "models/last.sql": "{{ config(materialized='table') }} select id from {{ ref('other') }}",
    }
    shop = Shop(make_project(files))
    shop.build()
    path = shop.root / "models/other.sql"
    path.write_text(path.read_text().replace("select id", "select id + 1 as id"))
    assert [line.split(maxsplit=4) for line in Project.load(shop.root).explain().table()] == [
        ["level", "node", "kind", "would", "run  because"],
        ["1", "one", "table", "no", "inputs unchanged since version 0"],
        ["2", "other", "table", "yes", "its compiled text has changed"],
        ["3", "last", "table", "yes", "other, which it reads, would run"],
    ]


def test_the_profile_may_ask_for_all_nodes(make_project):
    shop = Shop(make_project({"models/m.sql": "{{ config(materialized='table') }} select 1 as id"}))
    assert [shop.build()["m"].status for _ in range(2)] == ["success", "no-op"]
    profiles = shop.root / "profiles.yml"
    text = profiles.read_text()
    profiles.write_text(text.replace("master:", "reuse: off, master:"))
    assert shop.reason("m") == "would run: its profile says `reuse: off`"
    assert shop.build()["m"].status == "success"
    profiles.write_text(text)
    assert shop.build()["m"].status == "success"  # no run of it was kept, and its table is another version
    assert shop.build()["m"].status == "no-op"


def test_a_unit_test_does_not_run_because_its_model_does(make_project):
    files = {
        "models/one.sql": "{{ config(materialized='table') }} select 1 as id",
        "models/other.sql": "{{ config(materialized='table') }} select id from {{ ref('one') }}",
        "models/m.yml": "{version: 2, unit_tests: [{name: adds, model: other, given: [{input: ref('one'), rows: [{id: 1}]}],"
        " expect: {rows: [{id: 1}]}}]}",
    }
    root = make_project(files)
    prepared = Project.load(root).prepared
    (unit_test,) = (name for name in prepared.graph.nodes if name.startswith("unit_test."))
    plan = Planner(prepared, "").plan(unit_test)
    text = fingerprint(environment_of(prepared), prepared.graph.nodes[unit_test], plan, Scratch.of(""))
    records = Records(root / "target/reuse.json")
    at = datetime.now(timezone.utc)
    records.keep(unit_test, Record(text, {}, None, None, None, "i", at.isoformat()))
    records.save()
    reasons = {node.name: str(node.reuse) for level in Project.load(root).explain().levels for node in level}
    assert reasons["adds"] == f"would be left out: inputs unchanged since {at:%Y-%m-%d %H:%M} UTC"
    assert reasons["other"].startswith("would run: ")


MERGE = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"


@pytest.mark.parametrize("full_refresh", [False, True])
def test_no_session_is_opened_for_what_runs_whatever_it_reads(make_project, full_refresh):
    profiles = "shop:\n  target: dev\n  outputs:\n    dev: {schema: main, warehouse: s3a://bucket/lake}\n"
    files = {"models/m.sql": MERGE, "profiles.yml": profiles}
    prepared = Project.load(make_project(files), full_refresh=full_refresh).prepared
    plan = Planner(prepared).plan("model.shop.m")
    assert Reuse(prepared, "auto", "now").needs_spark(plan) is not full_refresh
