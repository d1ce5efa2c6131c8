"""examples/iceberg_writes: how a MERGE is joined and sorted, and how many files it reads, writes and takes out."""

import re

import pytest

from merge_runner import Project
from merge_runner.engine.driver.driver_source import GivenDriver
from merge_runner.formats.lines import installed_line
from merge_runner.plan.explain.explain import explain
from merge_runner.run.explain import explain_on_spark
from merge_runner.run.results.events import Events

pytestmark = [
    pytest.mark.spark,
    pytest.mark.nightly,
    pytest.mark.skipif("iceberg" not in installed_line().formats, reason="Iceberg has no build for this line of Spark"),
]

WRITES = ("files_added", "files_removed", "rows_copied")
READS = ("verdict", "verdict_held", "files_scanned", "files_total")
DAY_1 = {"day": 1, "regions": ["north"]}


def test_what_a_merge_reads_and_writes(example, driver, spark):
    root, _ = example("iceberg_writes")

    def build(**variables):
        results = Project.load(root, vars=variables).build(driver=driver)
        assert results.ok, [result.message for result in results.results]
        responses = {each.unique_id.split(".")[-1]: each.adapter_response for each in results.results}
        del responses["stg_order"]
        return responses

    def told(responses, keys, *names):
        return {name: tuple(responses[name][key] for key in keys) for name in names or responses}

    first = build()
    assert set(told(first, ("rows_inserted", "rows_updated")).values()) == {(400, 0)}
    assert told(first, WRITES, "spread_hash", "spread_range", "spread_none") == {
        "spread_hash": (4, 0, 0),
        "spread_range": (4, 0, 0),
        "spread_none": (12, 0, 0),
    }

    second = build(**DAY_1)
    assert set(told(second, ("rows_inserted", "rows_updated")).values()) == {(0, 4)}
    assert told(second, WRITES) == {
        "spread_hash": (1, 1, 96),
        "spread_range": (1, 1, 96),
        "spread_none": (3, 3, 96),
        "sorted_tasks": (1, 1, 96),
        "copied": (1, 1, 96),
        "marked": (1, 0, 0),
        "joined_by_sort": (1, 0, 0),
        "joined_by_hash": (1, 0, 0),
        "filter_in_on": (1, 1, 96),
        "filter_in_when": (1, 1, 96),
    }
    assert told(second, READS, "filter_in_on", "filter_in_when") == {
        "filter_in_on": ("static", True, 1, 4),
        "filter_in_when": ("none", True, 4, 4),
    }
    assert second["marked"]["metrics"]["added-position-deletes"] == 4

    # The engine's own plans: what sorts, what takes that away, and which filter reaches the scan.
    project = Project.load(root, vars=DAY_1)
    ids = project.select(["sorted_tasks", "joined_by_sort", "joined_by_hash", "filter_in_on", "filter_in_when"]).ids
    explained = explain_on_spark(project.prepared, explain(project.prepared, ids), Events(), GivenDriver(driver))
    planned = {node.name: node.engine_report for level in explained.levels for node in level}

    def sorts(name):
        found = (each for each in planned[name].shuffles if each.shuffle.kind == "Sort")
        return {each.shuffle.words: [" and ".join(map(str, remedy)) for remedy in each.remedies] for each in found}

    by_hash = ["`spark.sql.join.preferSortMergeJoin: 'false'` in conf"]
    joined = {"sorts the target for the join": by_hash, "sorts the source for the join": by_hash}
    fanout = {"sorts the rows before they are written": ["`write.spark.fanout.enabled: 'true'` in properties"]}
    assert sorts("joined_by_sort") == joined
    assert sorts("joined_by_hash") == {}
    assert sorts("sorted_tasks") == joined | fanout
    assert [line.strip() for line in planned["joined_by_hash"].lines()][1] == "in the engine's plan: 3 Exchange, 0 Sort"
    assert "<-- sorts the target for the join" in "\n".join(planned["joined_by_sort"].lines())
    scans = {
        name: re.search(r"IcebergCopyOnWriteScan\(.*, filters=(.*), groupedBy=", planned[name].plan)[1]
        for name in ("filter_in_on", "filter_in_when")
    }
    assert scans == {"filter_in_on": "region = 'north'", "filter_in_when": ""}
    assert [(planned[name].files.read, planned[name].files.total) for name in ("filter_in_on", "filter_in_when")] == [
        (1, 4),
        (4, 4),
    ]

    # However they are written: the same rows.
    assert rows_of(root, second, spark) == {
        ("north", "day 0", 10 * 96),
        ("north", "day 1", 10 * 4),
        *((region, "day 0", 10 * 100) for region in ("east", "south", "west")),
    }


def rows_of(root, models, spark):
    """How many rows the tables of models have together, by region and status."""
    relations = [Project.load(root).graph.nodes[f"model.iceberg_writes.{name}"].relation for name in models]
    union = " union all ".join(f"select * from {relation}" for relation in relations)
    counts = spark.sql(f"select region, status, count(*) from ({union}) group by region, status").collect()
    return {tuple(row) for row in counts}


@pytest.mark.lines
@pytest.mark.nightly
def test_each_line_of_spark_writes_the_rows_and_a_second_run_none(example, driver, spark):
    root, _ = example("iceberg_writes")
    models = ("spread_hash", "copied", "marked")
    for variables in ({}, DAY_1, DAY_1):
        results = Project.load(root, vars=variables).build([f"+{name}" for name in models], driver=driver)
        assert results.ok, [result.message for result in results.results]
    assert rows_of(root, models, spark) == {
        ("north", "day 0", 3 * 96),
        ("north", "day 1", 3 * 4),
        *((region, "day 0", 3 * 100) for region in ("east", "south", "west")),
    }
