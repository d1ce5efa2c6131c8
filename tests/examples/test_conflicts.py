"""examples/conflicts: a table whose schema changes while it is merged; the MERGE runs again, or says why it does not."""

import pytest

from merge_runner import Project

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_another_writer_alters_the_table_while_it_is_merged(example, driver, spark):
    root, schema = example("conflicts")

    def build(**variables):
        events = []
        results = Project.load(root, vars=variables).build(driver=driver, on_event=events.append)
        retried = [event.data for event in events if event.event == "node_retried"]
        return results, [(each["name"], each["code"], each["kind"], each["attempt"]) for each in retried]

    def table():
        rows = spark.table(f"{schema}.orders")
        return rows.columns, {row["order_id"]: row["pieces"] for row in rows.collect()}

    results, retried = build()
    assert (results.ok, retried) == (True, [])
    assert table() == (["order_id", "pieces"], dict.fromkeys(range(4), 250))

    # It is read again and merged, once.
    results, retried = build(column="note")
    assert results.ok, [result.message for result in results.results]
    assert results["orders"].adapter_response["attempts"] == 2
    assert retried == [("orders", "DELTA_METADATA_CHANGED", "conflict", 1)]
    assert table() == (["order_id", "pieces", "note"], dict.fromkeys(range(4), 500))

    # With one attempt alone: an error that says what was in the way, and nothing is merged.
    results, retried = build(column="colour", retries=0)
    assert (results["orders"].status, results["other_writer"].status, retried) == ("error", "success", [])
    assert "has been changed by a concurrent update" in results["orders"].message
    assert "[DELTA_METADATA_CHANGED]" in results["orders"].message
    assert results["orders"].adapter_response["attempts"] == 1
    assert table() == (["order_id", "pieces", "note", "colour"], dict.fromkeys(range(4), 500))
