"""examples/branches: a bad day stays on its branch, a good one is published."""

import shutil
from datetime import date
from pathlib import Path

import pytest

from merge_runner import Project

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EXAMPLE = Path(__file__).parents[2] / "examples" / "branches"
FIRST, SECOND = date(2026, 1, 1), date(2026, 1, 2)


def test_a_bad_day_stays_on_its_branch(tmp_path, driver, spark):
    root = tmp_path / "branches"
    shutil.copytree(EXAMPLE, root)

    def project(day):
        return Project.load(root, vars={"day": day})

    def days(branch="main"):
        query = f"select day, customer, orders, amount from ice.orders.agg_day version as of '{branch}' order by 1, 2"
        return [tuple(row) for row in spark.sql(query).collect()]

    assert project(FIRST).build(driver=driver).ok
    first = [(FIRST, "ann", 2, 30), (FIRST, "bob", 1, 30)]
    assert days() == first

    on_branch = project(SECOND).build(driver=driver, branch="day2")
    failed = [result.unique_id for result in on_branch.results if result.status == "fail"]
    assert failed == ["test.orders.amounts_are_positive"]
    assert days() == first
    assert days("day2") == [*first, (SECOND, "ann", 1, 40), (SECOND, "bob", 1, -50)]
    assert project(SECOND).publish("day2", driver=driver).undone == failed

    data = root / "data/orders.csv"
    data.write_text(data.read_text().replace("-50", "50"))
    spark.catalog.refreshTable("raw.orders")  # a command of its own would look at the file again
    again = project(SECOND).build(driver=driver, branch="day2")
    assert again.ok, [(result.unique_id, result.message) for result in again.results]
    assert project(SECOND).publish("day2", driver=driver).published == ["ice.orders.fct_order", "ice.orders.agg_day"]
    assert days() == [*first, (SECOND, "ann", 1, 40), (SECOND, "bob", 1, 50)]
    assert spark.sql("select count(*) from ice.orders.fct_order").collect()[0][0] == 5
