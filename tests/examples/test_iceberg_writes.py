"""examples/iceberg_writes: how many files a MERGE reads, writes and takes out, by how it is set and where its filter stands."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

WRITES = ("files_added", "files_removed", "rows_copied")
READS = ("verdict", "verdict_held", "files_scanned", "files_total")


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
    assert told(first, WRITES, "spread_hash", "spread_none") == {"spread_hash": (4, 0, 0), "spread_none": (12, 0, 0)}

    second = build(day=1, regions=["north"])
    assert set(told(second, ("rows_inserted", "rows_updated")).values()) == {(0, 4)}
    assert told(second, WRITES) == {
        "spread_hash": (1, 1, 96),
        "spread_none": (3, 3, 96),
        "copied": (1, 1, 96),
        "marked": (1, 0, 0),
        "filter_in_on": (1, 1, 96),
        "filter_in_when": (1, 1, 96),
    }
    assert told(second, READS, "filter_in_on", "filter_in_when") == {
        "filter_in_on": ("static", True, 1, 4),
        "filter_in_when": ("none", True, 4, 4),
    }
    assert second["marked"]["metrics"]["added-position-deletes"] == 4

    # However they are written: the same rows.
    relations = [Project.load(root).graph.nodes[f"model.iceberg_writes.{name}"].relation for name in second]
    union = " union all ".join(f"select * from {relation}" for relation in relations)
    counts = spark.sql(f"select region, status, count(*) from ({union}) group by all").collect()
    assert {tuple(row) for row in counts} == {
        ("north", "day 0", 6 * 96),
        ("north", "day 1", 6 * 4),
        *((region, "day 0", 6 * 100) for region in ("east", "south", "west")),
    }
