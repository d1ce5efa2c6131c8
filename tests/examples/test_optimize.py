"""The example of compaction: how many files there are, and how many of them a lookup reads."""

import pytest

from merge_runner import Project
from merge_runner.engine.spark.sql import files_read


def test_a_file_size_that_only_another_delta_knows_is_refused(example):
    root, _ = example("optimize")
    model = root / "models/orders_zordered.sql"
    model.write_text(
        model.read_text().replace("scan='full'", "scan='full', properties={'delta.targetFileSize': '128mb'}")
    )
    assert [(each.code, each.model) for each in Project.load(root).lint().findings] == [("E001", "orders_zordered")]


@pytest.mark.spark
@pytest.mark.nightly
def test_lookups_read_fewer_files_and_batches_pay_for_their_own(example, driver, spark):
    root, schema = example("optimize")
    tables = {name: f"{schema}.{name}" for name in ("orders_zordered", "orders_clustered")}

    def read(name, condition="true"):
        return files_read(spark, f"select * from {tables[name]} where {condition}")

    def files(name):
        return {row[0] for row in spark.sql(f"select distinct input_file_name() from {tables[name]}").collect()}

    lookup = "customer_id = 7"
    clustered, first = [], set()
    for batch in range(4):
        results = Project.load(root, vars={"batch": batch}).build(driver=driver)
        assert results.ok, [result.message for result in results.results]
        clustered.append(results["orders_clustered"].adapter_response.get("optimized"))
        first = first or (files("orders_clustered") if clustered[-1] else set())
    assert [done is not None for done in clustered] == [False, True, False, True]
    assert first < files("orders_clustered")  # what was clustered before is not written again
    assert read("orders_clustered", lookup) < read("orders_clustered")

    # Every batch has every customer: a lookup reads all files, and few once they are ordered by customer.
    before = read("orders_zordered")
    assert read("orders_zordered", lookup) == before
    result = Project.load(root).optimize("orders_zordered", driver=driver)["orders_zordered"]
    assert result.adapter_response["files_removed"] == before
    after = read("orders_zordered")
    assert read("orders_zordered", lookup) < after
    for table in tables.values():
        assert spark.table(table).count() == 8000
