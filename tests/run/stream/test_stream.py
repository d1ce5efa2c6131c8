"""Streams: batches that feed several models, that come again, and checkpoints that do not fit."""

import json

import pytest

from merge_runner import Project
from merge_runner.engine.driver.driver_source import GivenDriver
from merge_runner.errors import ProblemsError
from merge_runner.plan.explain.explain import explain
from merge_runner.run.explain import explain_on_spark
from merge_runner.run.results.events import Events

pytestmark = pytest.mark.spark

SOURCES = """
version: 2
sources:
  - name: raw
    tables:
      - name: orders
        path: landing
        format: json
        options: {maxFilesPerTrigger: "1"}
        stream: {CHECKPOINT}
        columns:
          - {name: id, data_type: bigint}
          - {name: region, data_type: string}
          - {name: amount, data_type: bigint}
"""
MERGE = """
merge into {{ this }} as t using (select id, region, amount from {{ ref('parsed') }} WHERE) as s on t.id = s.id
when matched then update set amount = t.amount + s.amount
when not matched then insert *
"""
FILES = {
    "models/sources.yml": SOURCES.replace("{CHECKPOINT}", "true"),
    "models/parsed.sql": "{{ config(materialized='ephemeral') }} select * from {{ source('raw', 'orders') }}",
    "models/eu.sql": MERGE.replace("WHERE", "where region = 'eu'"),
    "models/us.sql": MERGE.replace("WHERE", "where region = 'us'"),
    "models/total.sql": """
        merge into {{ this }} as t
        using (select region, sum(amount) as amount from (
            select * from {{ ref('eu') }} union all select * from {{ ref('us') }}) group by region) as s
        on t.region = s.region
        when matched then update set *
        when not matched then insert *
    """,
}


def land(root, name, *rows):
    """One file of rows (id, region, amount), which is one batch."""
    (root / "landing").mkdir(exist_ok=True)
    text = "\n".join(json.dumps(dict(zip(("id", "region", "amount"), row, strict=True))) for row in rows)
    (root / "landing" / f"{name}.json").write_text(text)


@pytest.fixture
def project(make_project):
    """A project of two models that a stream feeds and one below them; its profile has an embedded warehouse."""

    def make(files=FILES, table_format="delta"):
        root = make_project(files, table_format)
        text = (root / "profiles.yml").read_text().replace("}}}", f", warehouse: {root}/warehouse}}}}}}")
        if table_format == "delta":
            (root / "profiles.yml").write_text(text)
        (root / "landing").mkdir()
        return root

    return make


@pytest.fixture
def stream(driver):
    """Reads what is there, and gives the results and the events."""

    def run(root, **options):
        events = []
        results = Project.load(root).stream(driver=driver, available_now=True, on_event=events.append, **options)
        return results, events

    return run


@pytest.fixture
def rows(spark):
    def read(root, model):
        relation = Project.load(root).graph.nodes[f"model.shop.{model}"].relation
        return sorted(tuple(row) for row in spark.table(str(relation)).collect())

    return read


@pytest.mark.parametrize(
    "table_format", [pytest.param("delta", marks=pytest.mark.nightly), pytest.param("iceberg", marks=pytest.mark.slow)]
)
def test_a_batch_that_goes_beyond_a_models_limits_comes_again(project, stream, rows, table_format):
    limited = "{{ config(expect_merge={'max_updates': MOST}) }}" + FILES["models/eu.sql"]
    root = project({**FILES, "models/eu.sql": limited.replace("MOST", "1")}, table_format)
    land(root, "a", (1, "eu", 10), (2, "eu", 5), (3, "us", 1))
    land(root, "b", (1, "eu", 1), (2, "eu", 7), (3, "us", 2))
    results, _ = stream(root)
    assert "2 rows updated (`max_updates: 1`)" in results["eu"].message
    assert rows(root, "eu") == [(1, "eu", 10), (2, "eu", 5)]
    assert rows(root, "us") == [(3, "us", 3)]
    (root / "models/eu.sql").write_text(limited.replace("MOST", "2"))
    results, _ = stream(root)
    assert (results["eu"].status, results["us"].status) == ("success", "no-op")
    assert rows(root, "eu") == [(1, "eu", 11), (2, "eu", 12)]
    assert rows(root, "us") == [(3, "us", 3)]


def test_each_batch_after_the_first_is_an_incremental_run(project, stream, rows):
    by_run = MERGE.replace("WHERE", "{{ 'where amount > 5' if is_incremental() else '' }}")
    root = project({**FILES, "models/eu.sql": by_run}, "iceberg")
    land(root, "a", (1, "eu", 1), (2, "eu", 2))
    land(root, "b", (3, "eu", 3), (4, "eu", 9))
    results, _ = stream(root)
    assert results["eu"].adapter_response["is_incremental"] is True
    assert rows(root, "eu") == [(1, "eu", 1), (2, "eu", 2), (4, "eu", 9)]


def test_each_batch_feeds_all_models_and_what_follows(project, stream, rows):
    root = project()
    land(root, "a", (1, "eu", 10), (2, "us", 5))
    land(root, "b", (1, "eu", 1), (3, "us", 7))
    results, events = stream(root)
    assert results.ok, [result.message for result in results.results]
    assert rows(root, "eu") == [(1, "eu", 11)]
    assert rows(root, "us") == [(2, "us", 5), (3, "us", 7)]
    assert rows(root, "total") == [("eu", 11), ("us", 12)]
    batches = [event.data for event in events if event.event == "batch_finished"]
    assert [(batch["batch_id"], batch["rows"], batch["ok"]) for batch in batches] == [(0, 2, True), (1, 2, True)]
    assert {target["node"] for target in batches[0]["targets"]} == {
        f"model.shop.{name}" for name in ("eu", "us", "total")
    }
    response = results["us"].adapter_response
    assert (response["stream"], response["batch_id"], response["rows_inserted"]) == ("raw.orders", 1, 1)
    assert response["totals"] | {"seconds": 0} == {
        "batches": 2,
        "seconds": 0,
        "rows_inserted": 2,
        "rows_updated": 0,
        "rows_deleted": 0,
    }
    progress = [event.data["progress"]["batchId"] for event in events if event.event == "stream_progress"]
    assert progress == [0, 1]
    # Nothing new: no batch, and no change.
    results, events = stream(root)
    assert results["eu"].status == "no-op"
    assert rows(root, "eu") == [(1, "eu", 11)]


def test_a_batch_that_failed_in_part_comes_again_and_changes_nothing_twice(project, stream, rows, spark):
    broken = MERGE.replace("WHERE", "where region = 'us'").replace(
        "amount from", "cast(1 / (amount - 7) as bigint) amount from"
    )
    root = project({**FILES, "models/us.sql": broken, "models/other.sql": broken}, "iceberg")
    land(root, "a", (1, "eu", 10), (2, "us", 7))
    results, events = stream(root)
    statuses = {result.unique_id.rpartition(".")[2]: result.status for result in results.results}
    assert statuses == {"eu": "success", "us": "error", "other": "error", "total": "skipped"}
    failed = next(event for event in events if event.event == "batch_finished")
    assert (failed.level, failed.data["ok"], len(failed.data["targets"])) == ("error", False, 4)
    assert rows(root, "eu") == [(1, "eu", 10)]
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()
    for name in ("us", "other"):
        (root / f"models/{name}.sql").write_text(FILES["models/us.sql"])
    results, _ = stream(root)
    assert results.ok
    assert results["eu"].status == "no-op"
    assert results["eu"].message == "batch 0 or a later one is committed already"
    assert (rows(root, "eu"), rows(root, "us")) == ([(1, "eu", 10)], [(2, "us", 7)])
    assert rows(root, "total") == [("eu", 10), ("us", 7)]


@pytest.mark.slow
def test_a_checkpoint_that_does_not_fit_is_refused(project, stream, rows):
    root = project()
    land(root, "a", (1, "eu", 10))
    land(root, "b", (2, "eu", 10))
    assert stream(root)[0].ok
    checkpoint = root / "warehouse/.checkpoints/raw.orders"
    checkpoint.rename(root / "kept")
    with pytest.raises(ProblemsError) as refused:
        stream(root)
    (problem, *_) = refused.value.problems
    assert "is new, and" in problem.message and "has committed batch 1" in problem.message
    (root / "models/sources.yml").write_text(SOURCES.replace("CHECKPOINT", "checkpoint: again, generation: 2"))
    results, _ = stream(root)
    assert results.ok
    assert rows(root, "eu") == [(1, "eu", 20), (2, "eu", 20)]
    # The first generation's checkpoint is not the second one's.
    (root / "models/sources.yml").write_text(SOURCES.replace("CHECKPOINT", "checkpoint: kept, generation: 2"))
    with pytest.raises(ProblemsError, match=r"belongs to shop\.raw\.orders, and this stream is shop\.raw\.orders\.2"):
        stream(root)


@pytest.mark.nightly
def test_a_target_is_compacted_between_batches(project, stream, rows):
    config = "{{ config(cluster_by='id', optimize={'after': 2}) }}"
    root = project({**FILES, "models/eu.sql": config + FILES["models/eu.sql"]})
    for number in range(3):
        land(root, str(number), (number, "eu", 1))
    _, events = stream(root)
    finished = [
        event.data["result"] for event in events if event.event == "node_finished" and event.data["name"] == "eu"
    ]
    assert [result["status"] for result in finished] == ["success"] * 3
    optimized = [result["adapter_response"].get("optimized") for result in finished]
    assert [told and told["files_added"] for told in optimized] == [None, 1, None]
    assert len(rows(root, "eu")) == 3


def test_a_source_that_cannot_be_read_any_more(project, stream, rows):
    root = project(table_format="iceberg")
    land(root, "a", (1, "eu", 10))
    (root / "landing/b.json").write_text("not json")
    (root / "models/sources.yml").write_text(
        FILES["models/sources.yml"].replace('maxFilesPerTrigger: "1"', 'maxFilesPerTrigger: "1", mode: FAILFAST')
    )
    with pytest.raises(ProblemsError, match=r"(?s)stream raw\.orders: .*MALFORMED_RECORD_IN_PARSING"):
        stream(root)
    assert rows(root, "eu") == [(1, "eu", 10)]
    results = json.loads((root / "target/run_results.json").read_text())["results"]
    assert {result["status"] for result in results} == {"success"}


def test_a_model_that_was_fed_may_not_be_left_out(project, stream):
    root = project(table_format="iceberg")
    land(root, "a", (1, "eu", 10))
    assert stream(root)[0].ok
    with pytest.raises(ProblemsError, match="feeds us as well"):
        stream(root, select="eu")
    with pytest.raises(ProblemsError, match="no stream feeds the selected models"):
        stream(root, select="parsed")


def test_a_build_leaves_them_to_the_stream(project, driver, stream, rows):
    root = project(table_format="iceberg")
    land(root, "a", (1, "eu", 10))
    assert stream(root)[0].ok
    loaded = Project.load(root)
    told = explain_on_spark(
        loaded.prepared, explain(loaded.prepared, loaded.select("eu").ids), Events(), GivenDriver(driver)
    )
    assert "raw.orders is a stream, and no batch of it is being worked on" in told.levels[0][0].engine_report.error
    events = []
    results = Project.load(root).build(driver=driver, lint=False, on_event=events.append)
    assert [result.unique_id for result in results.results] == ["model.shop.total"]
    assert "left to `merge-runner stream`, since a stream feeds them: eu, us" in str(events)
    assert rows(root, "total") == [("eu", 10)]


@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.nightly), "iceberg"])
def test_a_table_as_a_stream(project, stream, rows, spark, table_format):
    schema = "ice.streamed" if table_format == "iceberg" else "streamed"
    spark.sql(f"create schema if not exists {schema}")
    place = f"using {table_format}"
    spark.sql(f"create or replace table {schema}.orders (id bigint, region string, amount bigint) {place}")
    spark.sql(f"insert into {schema}.orders values (1, 'eu', 10), (2, 'us', 5)")
    told = f"format: {table_format}, table: {schema}.orders, options: {{}}, checkpoint: point"
    source = SOURCES.replace("CHECKPOINT", told).replace("path: landing", "description: ''")
    source = source.replace("format: json\n", "\n").replace('options: {maxFilesPerTrigger: "1"}', "")
    bounded = "{{ config(partition_by='region', bounds=['region']) }}" + FILES["models/eu.sql"].replace(
        "s on t.id = s.id", "s on t.id = s.id and t.region = s.region"
    )
    root = project({**FILES, "models/sources.yml": source, "models/eu.sql": bounded}, table_format)
    assert stream(root)[0].ok
    spark.sql(f"insert into {schema}.orders values (1, 'eu', 1)")
    results, _ = stream(root)
    assert results.ok
    assert (rows(root, "eu"), rows(root, "us")) == ([(1, "eu", 11)], [(2, "us", 5)])
    assert results["eu"].adapter_response["bounds"] == {"region": "1 value"}
    assert results["us"].status == "success"
