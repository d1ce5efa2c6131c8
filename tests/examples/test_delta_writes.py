"""examples/delta_writes: how many files a Delta MERGE writes and reads, by how it is set and what its text says."""

import pytest

from merge_runner import Project
from merge_runner.plan.explain.explain import explain

WRITES = ("files_added", "files_removed", "rows_copied")
READS = ("verdict", "verdict_held", "files_scanned", "files_total")
METRICS = {
    **{"numSourceRows": 4, "numSourceRowsInSecondScan": 4, "numOutputRows": 100},
    **{"numTargetRowsUpdated": 4, "numTargetRowsInserted": 0, "numTargetRowsDeleted": 0, "numTargetRowsCopied": 96},
    **{"numTargetRowsMatchedUpdated": 4, "numTargetRowsMatchedDeleted": 0},
    **{"numTargetRowsNotMatchedBySourceUpdated": 0, "numTargetRowsNotMatchedBySourceDeleted": 0},
    **{"numTargetFilesBeforeSkipping": 4, "numTargetFilesAfterSkipping": 1},
    **{"numTargetFilesAdded": 1, "numTargetFilesRemoved": 1, "numTargetChangeFilesAdded": 0},
    **{"numTargetPartitionsAfterSkipping": 1, "numTargetPartitionsAddedTo": 1, "numTargetPartitionsRemovedFrom": 1},
}
SETTING = "spark.databricks.delta.merge.repartitionBeforeWrite.enabled"


def test_the_setting_is_explained_and_lint_reports_the_small_files(example):
    root, _ = example("delta_writes")
    prepared = Project.load(root).prepared
    told = {node.name: node for level in explain(prepared, tuple(prepared.graph.nodes)).levels for node in level}
    assert {name: told[name].distribution.words for name in ("spread_together", "spread_apart")} == {
        "spread_together": f"the rows of a partition are brought together before they are written ({SETTING} = true)",
        "spread_apart": f"every task writes a file into each partition that it has rows of ({SETTING} = false)",
    }
    joins = {name: (told[name].engine_plan.find, told[name].engine_plan.write) for name in ("bounded", "matched_only")}
    assert joins == {"bounded": ("inner", "full outer"), "matched_only": ("inner", "right outer")}

    model = root / "models/spread_apart.sql"
    model.write_text("".join(line for line in model.open() if "noqa" not in line))
    assert [(finding.code, finding.model) for finding in Project.load(root).lint().findings] == [
        ("E004", "spread_apart")
    ]


@pytest.mark.spark
@pytest.mark.nightly
def test_what_a_merge_reads_and_writes(example, driver, spark):
    root, schema = example("delta_writes")

    def build(day):
        results = Project.load(root, vars={"day": day}).build(driver=driver)
        assert results.ok, [result.message for result in results.results]
        return {each.unique_id.split(".")[-1]: each.adapter_response for each in results.results}

    def told(responses, keys, *names):
        return {name: tuple(responses[name][key] for key in keys) for name in names}

    spread = ("spread_together", "spread_apart")
    assert told(build(0), ("rows_inserted", *WRITES), *spread) == {
        "spread_together": (400, 4, 0, 0),
        "spread_apart": (400, 12, 0, 0),
    }

    second = build(1)
    assert told(second, ("rows_updated", *WRITES), *spread) == {
        "spread_together": (4, 1, 1, 96),
        "spread_apart": (4, 3, 3, 96),
    }
    assert told(second, ("rows_updated", *READS), "equality_alone", "bounded", "matched_only") == {
        "equality_alone": (4, "none", True, 4, 4),
        "bounded": (4, "runtime", True, 1, 4),
        "matched_only": (4, "static", True, 1, 4),
    }
    assert second["bounded"]["bounds"] == {"region": "1 value"}
    (statement,) = (root / "target/run").rglob("bounded.sql")
    assert statement.read_text().count("t.region = s.region and t.order_id = s.order_id AND t.region = 'north'") == 1

    # All that Delta counts of a MERGE: rows by clause, files, partitions, times.
    metrics = second["bounded"]["metrics"]
    assert METRICS.items() <= metrics.items()
    assert metrics["numTargetBytesAfterSkipping"] < metrics["numTargetBytesBeforeSkipping"]
    assert metrics["scanTimeMs"] + metrics["rewriteTimeMs"] <= metrics["executionTimeMs"]

    shipped = spark.sql(f"select region, status, count(*) from {schema}.bounded group by all").collect()
    assert {tuple(row) for row in shipped} == {
        ("north", "day 0, shipped", 96),
        ("north", "day 1, shipped", 4),
        *((region, "day 0", 100) for region in ("east", "south", "west")),
    }
