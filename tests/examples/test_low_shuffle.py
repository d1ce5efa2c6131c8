"""examples/low_shuffle: what a MERGE of a hundred rows copies, and which rows stay where they were."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MODELS = ("delta_copied", "delta_marked", "iceberg_copied", "iceberg_marked")


def test_a_hundred_changed_rows_and_the_others_beside_them(example, driver, spark):
    root, _ = example("low_shuffle")
    relations = {name: Project.load(root).graph.nodes[f"model.low_shuffle.{name}"].relation for name in MODELS}

    def build(day):
        results = Project.load(root, vars={"day": day}).build(driver=driver)
        assert results.ok, [result.message for result in results.results]
        responses = {name: results[name].adapter_response for name in MODELS}
        return {
            name: tuple(response[f"rows_{kind}"] for kind in ("inserted", "updated", "copied"))
            for name, response in responses.items()
        }

    def files(name):
        rows = spark.sql(f"select order_id, input_file_name() as file from {relations[name]}").collect()
        return {row["order_id"]: row["file"] for row in rows}

    assert {counts[:2] for counts in build(0).values()} == {(10000, 0)}
    before = {name: files(name) for name in MODELS}
    assert build(1) == {
        "delta_copied": (0, 100, 9900),
        "delta_marked": (0, 100, 0),
        "iceberg_copied": (0, 100, 9900),
        "iceberg_marked": (0, 100, 0),
    }
    for name in MODELS:
        after = files(name)
        moved = sum(after[order] != file for order, file in before[name].items())
        assert (len(after), moved) == (10000, 100 if name.endswith("marked") else 10000)
        statuses = spark.sql(f"select status, count(*) from {relations[name]} group by 1").collect()
        assert {tuple(row) for row in statuses} == {("day 0", 9900), ("day 1", 100)}
