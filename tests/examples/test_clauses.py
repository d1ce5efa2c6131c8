"""examples/clauses: what the clauses of a MERGE do, by unit tests; two source rows for one row; two writers of one table."""

import pytest

from merge_runner import Project
from merge_runner.run.node_plans import plan_nodes
from merge_runner.run.scheduling.write_conflicts import write_keys

BY_CLAUSE = ("MatchedUpdated", "MatchedDeleted", "Inserted", "NotMatchedBySourceUpdated", "NotMatchedBySourceDeleted")
WRITERS = ("temperature_north", "temperature_south", "stock", "stock_withdrawn")


def test_only_writers_of_two_partitions_may_run_at_once(example):
    root, _ = example("clauses")
    project = Project.load(root)
    plans = plan_nodes(project.prepared, [f"model.clauses.{name}" for name in WRITERS], "test").plans
    north, south, stock, withdrawn = write_keys(plans, project.graph.nodes).values()
    assert (north.table, north == south) == (south.table, False)
    assert stock == withdrawn


def test_on_databricks_concurrent_writers_are_told_apart_by_rows(example):
    root, _ = example("clauses")

    def properties():
        nodes = Project.load(root).graph.nodes
        return {name: dict(nodes[f"model.clauses.{name}"].config.properties) for name in ("temperature_north", "stock")}

    assert properties() == {"temperature_north": {}, "stock": {}}
    profiles = root / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("master:", "platform: databricks\n      master:"))
    assert properties() == {"temperature_north": {"delta.enableDeletionVectors": "true"}, "stock": {}}


def test_lint_reports_a_source_that_may_hold_a_key_twice(example):
    root, _ = example("clauses")
    models = root / "models/models.yml"
    before, key, after = models.read_text().rpartition("    config: {unique_key: item}\n")
    assert key
    models.write_text(before + after)
    assert [(each.code, each.model) for each in Project.load(root).lint().findings] == [("C003", "price")]


@pytest.mark.spark
@pytest.mark.nightly
def test_every_clause_does_what_its_unit_test_says(example, driver, spark):
    root, schema = example("clauses")
    results = Project.load(root).build(driver=driver)
    assert results.ok, [result.message for result in results.results]
    tests = {each.unique_id.split(".")[-1]: each.status for each in results.results if "unit_test." in each.unique_id}
    assert tests == dict.fromkeys(
        [
            "the_first_clause_whose_condition_holds_wins",
            "set_sees_the_row_as_it_was",
            "two_notices_delete_one_row_once",
            "two_prices_for_an_item_are_an_error",
            "two_prices_for_a_new_item_are_both_inserted",
            "a_new_column_is_added",
        ],
        "pass",
    )

    def rows(table):
        return sorted(tuple(row) for row in spark.table(f"{schema}.{table}").collect())

    # Two came in, and two notices took one of them out.
    assert results["stock"].adapter_response["rows_inserted"] == 2
    withdrawn = results["stock_withdrawn"].adapter_response
    assert (withdrawn["rows_source"], withdrawn["rows_deleted"]) == (2, 1)
    assert rows("stock") == [(1, 5, "new")]
    for table in ("item", "item_by_setting"):
        assert spark.table(f"{schema}.{table}").columns == ["item", "name", "colour"]
    assert [results[name].adapter_response["attempts"] for name in WRITERS[:2]] == [1, 1]
    assert rows("temperature") == [("north", 1, 4), ("north", 2, 6), ("south", 1, 21)]

    # The same table as before, and the keys.
    prices = rows("price")
    with (root / "seeds/price_list.csv").open("a") as file:
        file.write("2,9.00\n")
    again = Project.load(root).build(["price_list", "price"], ["test_type:unit"], driver=driver)
    assert again["price"].status == "error"
    assert "several source rows match one target row: t.item = 2 (2 source rows)" in again["price"].message
    assert rows("price") == prices

    # Rows are counted by the clause that acted on them.
    spark.sql(f"truncate table {schema}.stock")
    spark.sql(f"insert into {schema}.stock (item, pieces) values (1, 2), (3, 10), (7, 0), (8, 9), (9, 10)")
    counted = Project.load(root).build("stock", "test_type:unit", driver=driver)["stock"].adapter_response
    assert [counted[f"rows_{kind}"] for kind in ("inserted", "updated", "deleted", "copied")] == [1, 2, 2, 1]
    assert {name: counted["metrics"][f"numTargetRows{name}"] for name in BY_CLAUSE} == dict.fromkeys(BY_CLAUSE, 1)
    assert rows("stock") == [(1, 5, "doubled"), (2, 40, "many"), (8, 9, "few"), (9, 10, None)]
