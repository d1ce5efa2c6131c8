"""Builds on the fake engine: what is asked of it, and what the next build makes of that."""

import json
import os
import sqlite3
import time
from contextlib import closing

import pytest

from merge_runner import Project
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.plan import Planner
from merge_runner.run.results.event_types import NodeStarted
from merge_runner.run.reuse.fingerprint import environment_of, fingerprint
from merge_runner.run.reuse.partitions import needed_partitions
from merge_runner.run.reuse.records import Record, Records
from tests.engine.table_format.iceberg_metadata import write_metadata
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


def day(begins, ends):
    return {"SELECT unix_timestamp(": [{"begins": begins, "ends": ends}]}


@pytest.mark.parametrize(
    ("begins", "ends", "said"),
    [
        (-3600, 3600, "would be left out: inputs unchanged since version 0"),
        (-3600, 30, "would run: it reads what day it is, and the day has changed"),
        (30, 3600, "would run: it reads what day it is, and the day has changed"),
    ],
)
def test_the_engine_says_how_long_a_day_lasts(make_project, begins, ends, said):
    text = "{{ config(materialized='table') }} select current_date() as today"
    now = time.time()
    shop = Shop(make_project({"models/m.sql": text}), answers=day(now + begins, now + ends))
    assert shop.build()["m"].status == "success"
    assert shop.reason("m") == said


def test_a_day_that_is_over_is_another_input(make_project):
    text = "{{ config(materialized='table') }} select current_date() as today"
    now = time.time()
    shop = Shop(make_project({"models/m.sql": text}), answers=day(now - 3600, now + 3600))
    shop.build()
    path = shop.root / "target/reuse.json"
    kept = json.loads(path.read_text())
    (record,) = kept["records"].values()
    record["day"] = [now - 90_000, now - 3600]
    path.write_text(json.dumps(kept))
    assert shop.build()["m"].status == "success"
    assert shop.build()["m"].status == "no-op"


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
    assert shop.reason("v") == f"would run: the state of {name} is not known: it cannot be read without an engine"


ORDERS = {
    "models/m.yml": """
        version: 2
        sources: [{name: raw, tables: [{name: orders, path: data/orders, format: delta, partition_by: [day],
          columns: [{name: id, data_type: bigint, data_tests: [unique]}, {name: n, data_type: int}, {name: day, data_type: date}]}]}]
        models: [{name: m, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}, {name: day, data_type: date}]}]
    """,
    "models/m.sql": "{{ config(reuse='partitions', partition_by=['day'], bounds='off', skip_unchanged='off') }}\n"
    "merge into {{ this }} as t using (select * from {{ source('raw', 'orders') }} where n > 0) as s\n"
    "on t.day = s.day and t.id = s.id when matched and s.n > t.n then update set * when not matched then insert *",
}
TYPES = {"id": "bigint", "n": "int", "day": "date"}


class Orders(Shop):
    """A source with a log of its own."""

    def __init__(self, make_project):
        self.root = make_project(ORDERS)
        super().__init__(
            self.root,
            answers={
                "SELECT (s.day) AS b0": {"b0": "date", "b1": "bigint"},
                "SELECT 1 FROM (select *": [],
                "SELECT 1 FROM shop": [],
            },
        )
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

    def merges(self):
        return [text for text in self.driver.statements if text.lstrip().lower().startswith("merge into")]


def test_a_merge_reads_the_partitions_that_have_changed(make_project):
    shop = Orders(make_project)
    shop.build()
    assert shop.reason("m") == "would be left out: inputs unchanged since version 1"
    shop.commit(1, "2024-01-02", "2024-01-05")
    shop.commit(2, "2024-01-02")
    assert shop.reason("m") == "would run: raw.orders has changed in day=2024-01-02 and 1 more"
    found = shop.build()["m"]
    assert found.message == "0 inserted, 1 updated, 0 deleted; only day=2024-01-02 and 1 more"
    whole, part = shop.merges()
    name = f"{shop.name.schema}.{shop.name.identifier}"
    restricted = f"(SELECT * FROM {name} WHERE (cast(day AS string) = '2024-01-02') OR (cast(day AS string) = '2024-01-05')) AS orders"
    assert part == whole.replace(f"from {name} where", f"from {restricted} where")
    assert shop.build()["m"].status == "no-op"


@pytest.mark.parametrize(
    ("files", "where"),
    [
        ([[1, [19724]], [2, [19727]]], "(day = cast('2024-01-02' AS date)) OR (day = cast('2024-01-05' AS date))"),
        ([[1, [None]]], None),
    ],
)
def test_a_merge_reads_the_partitions_of_an_iceberg_source_that_have_changed(make_project, files, where):
    yml = ORDERS["models/m.yml"].replace("path: data/orders, format: delta", "catalog: ice, format: iceberg")
    shop = Shop(
        make_project({**ORDERS, "profiles.yml": OF_A_CATALOG["profiles.yml"], "models/m.yml": yml}),
        answers={
            "SELECT (s.day) AS b0": {"b0": "date", "b1": "bigint"},
            **{"SELECT 1 FROM (select *": [], "SELECT 1 FROM shop": []},
        },
    )
    (shop.root / "warehouse").mkdir()
    shop.driver.lake.tables["ice.raw.orders"] = Table("ice.raw.orders", TYPES, {"partition_by": "day"})
    shop.driver.known.add("ice.raw.orders")
    columns = {"id": "long", "n": "int", "day": "date"}
    snapshots = [{"files": [[1, [19723]]]}]
    metadata = write_metadata(shop.root, columns, [[("day", "identity")]], snapshots)
    catalog_names(shop.root / "warehouse/ice.db", metadata)
    shop.build()
    assert shop.reason("m") == "would be left out: inputs unchanged since version 1"
    write_metadata(shop.root, columns, [[("day", "identity")]], [*snapshots, {"files": files}])
    said = "would run: ice.raw.orders has changed"
    changed = " in day=2024-01-02 and 1 more"
    assert shop.reason("m") == said + (
        changed if where else "; `reuse: partitions` reads all of it: a partition of NULL has changed"
    )
    shop.build()
    whole, part = (text for text in shop.driver.statements if text.lstrip().lower().startswith("merge into"))
    restricted = f"(SELECT * FROM ice.raw.orders WHERE {where}) AS orders" if where else "ice.raw.orders"
    assert part == whole.replace("from ice.raw.orders where", f"from {restricted} where")
    assert shop.build()["m"].status == "no-op"


def test_partitions_need_a_format_and_one_table(make_project):
    text = ORDERS["models/m.yml"].replace("path: data/orders, format: delta", "catalog: ice")
    profiles = {"profiles.yml": OF_A_CATALOG["profiles.yml"], "models/m.yml": text}
    for name, why in (
        ("select * from {{ source('raw', 'orders') }}", "the format of ice.raw.orders is not declared"),
        ("select 1L as id, 2 as n, current_date() as day", "its source is more than filtered rows of one table"),
    ):
        model = ORDERS["models/m.sql"].replace("select * from {{ source('raw', 'orders') }} where n > 0", name)
        files = {**ORDERS, **profiles, "models/m.sql": model}
        prepared = Project.load(make_project(files)).prepared
        assert needed_partitions(Planner(prepared, "").plan("model.shop.m"), prepared, {}, {}) == why


def catalog_names(file, metadata):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "create table iceberg_tables (catalog_name text, table_namespace text, table_name text, metadata_location text)"
        )
        if metadata is not None:
            connection.execute("insert into iceberg_tables values ('ice', 'raw', 'orders', ?)", (str(metadata),))


@pytest.mark.parametrize(
    ("commits", "why"),
    [
        ([(("2024-01-02",), {}), ((None,), {})], "a partition of NULL has changed"),
        ([((), {"metaData": {}})], "its columns or properties have changed"),
        (
            [((), {"add": {"path": "x", "dataChange": True}})],
            "it is not partitioned, or a commit does not name the partition of a file",
        ),
        (
            [([f"2024-{month:02}-{day:02}" for month in range(1, 6) for day in range(1, 29)], {})],
            "140 partitions have changed",
        ),
    ],
)
def test_it_reads_all_of_it_where_that_is_not_known(make_project, commits, why):
    shop = Orders(make_project)
    shop.build()
    for number, (days, action) in enumerate(commits, start=1):
        shop.commit(number, *days, **action)
    assert shop.reason("m") == f"would run: raw.orders has changed; `reuse: partitions` reads all of it: {why}"
    assert "only" not in shop.build()["m"].message
    assert len({*shop.merges()}) == 1


def test_a_log_without_the_version_that_was_read(make_project):
    shop = Orders(make_project)
    shop.build()
    shop.commit(1, "2024-01-02")
    (shop.folder / "_delta_log" / f"{0:020}.json").unlink()
    assert shop.reason("m").endswith("its log does not have the version that was read before")


def test_two_types_that_are_compared_may_take_different_values_for_equal(make_project):
    shop = Orders(make_project)
    shop.build()
    shop.driver.lake["m"].columns = {**TYPES, "day": "string"}
    shop.commit(1, "2024-01-02")
    wanted = (
        "`reuse: partitions` reads the whole source: ON compares its partition column day with a column of another type"
    )
    assert wanted in shop.build()["m"].warnings
    assert len({*shop.merges()}) == 1


@pytest.mark.parametrize(
    ("clauses", "types", "said"),
    [
        (
            {"properties": "'delta.columnMapping.mode' = 'name'", "partition_by": "day"},
            TYPES,
            "its partition columns have other names in its log",
        ),
        ({"partition_by": "id"}, TYPES, "its partition columns have other names in its log"),
        ({"partition_by": "day"}, {**TYPES, "day": "timestamp"}, "its partition column day has the type timestamp"),
    ],
)
def test_it_reads_all_of_it_where_the_table_is_another_one(make_project, clauses, types, said):
    shop = Orders(make_project)
    shop.build()
    (table,) = [table for table in shop.driver.lake.tables.values() if table.location == shop.folder]
    table.clauses, table.columns = clauses, types
    shop.commit(1, "2024-01-02")
    assert shop.build()["m"].warnings == (f"`reuse: partitions` reads the whole source: {said}",)
    assert len({*shop.merges()}) == 1


def test_a_node_waits_and_is_built_once_the_time_has_passed(make_project):
    shop = Orders(make_project)
    path = shop.root / "models/m.sql"
    path.write_text(path.read_text().replace("reuse='partitions'", "build_after={'count': 1, 'period': 'hour'}"))
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
    path.write_text(path.read_text().replace("reuse='partitions'", "build_after={'count': 1, 'period': 'hour'}"))
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


@pytest.mark.parametrize(
    ("catalog", "known", "said"),
    [
        ("catalog: ice", True, "no earlier run of it is known"),
        ("catalog: ice", False, "ice.raw.orders was written just now, or cannot be read"),
        (
            "catalog: far",
            True,
            "whether far.raw.orders has changed is not known: it cannot be read without an engine",
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
NOTHING = {"n": 0, "insert": 0, "update": 0, "delete": 0}


@pytest.mark.parametrize(
    ("using", "matched", "counted", "several", "said"),
    [
        (
            CARRIED,
            "when matched and s.n <> t.n then update set *",
            {},
            None,
            "left out: inputs unchanged since version 1",
        ),
        (CARRIED, "when matched and s.n is null then delete", {}, None, "left out: inputs unchanged since version 1"),
        (CARRIED, "when matched then update set n = t.n + s.n", {"update": 1}, None, "run: a second run would change"),
        (CARRIED, "", {"insert": 1}, None, "run: a second run would change"),
        (CARRIED, "when matched then delete", {"delete": 1}, None, "run: a second run would change"),
        ("select id, n from {{ this }}", "when matched and s.n <> t.n then update set *", {}, [], "left out: inputs"),
        (
            "select id, n from {{ this }}",
            "when matched and s.n <> t.n then update set *",
            {},
            [{"n": 2}],
            "run: a second",
        ),
        ("select id, n from {{ this }}", "when matched then delete", {}, None, "left out: inputs unchanged since"),
        ("select id, n from {{ this }}", "", {}, None, "left out: inputs unchanged since version 1"),
    ],
)
def test_what_a_source_gives_that_reads_its_target_is_asked_for_after_the_run(
    make_project, using, matched, counted, several, said
):
    types = "{version: 2, models: [{name: m, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}]}]}"
    text = OF_ITS_TARGET.replace("USING", using).replace("MATCHED", matched)
    answers = {"SELECT 'target' AS what": [{"what": "target", **NOTHING}, {"what": "matched", **NOTHING, **counted}]}
    if several is not None:  # else it is not asked for: the source is unique, or the engines do not mind
        answers["SELECT max(n) FROM ("] = several
    shop = Shop(make_project({"models/m.sql": text, "models/m.yml": types}), answers=answers)
    shop.build()
    assert shop.reason("m").startswith(f"would {'be ' if said.startswith('left') else ''}{said}")
    assert shop.build()["m"].status == ("no-op" if said.startswith("left") else "success")


def test_a_query_after_the_run_that_fails_leaves_the_node_to_the_next_build(make_project):
    types = "{version: 2, models: [{name: m, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}]}]}"
    text = OF_ITS_TARGET.replace("USING", CARRIED).replace("MATCHED", "")
    answers = {"SELECT 'target' AS what": []}
    shop = Shop(make_project({"models/m.sql": text, "models/m.yml": types}), answers=answers)
    shop.driver.faults = Faults({"SELECT 'target' AS what": ["fails", "fails"]})
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
    records.keep(unit_test, Record(text, {}, None, None, None, "i", "2024-01-01T00:00:00+00:00"))
    records.save()
    reasons = {node.name: str(node.reuse) for level in Project.load(root).explain().levels for node in level}
    assert reasons["adds"] == "would be left out: inputs unchanged since 2024-01-01 00:00 UTC"
    assert reasons["other"].startswith("would run: ")
