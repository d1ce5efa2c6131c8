"""examples/changes: totals that are added up change by change, over three days."""

import shutil
from pathlib import Path

import pytest

from merge_runner import Project

EXAMPLE = Path(__file__).parents[2] / "examples" / "changes"


@pytest.fixture
def example(tmp_path):
    """A copy of the example, in a schema of its own."""
    shutil.copytree(EXAMPLE, tmp_path / "changes", ignore=shutil.ignore_patterns("warehouse", "target"))
    profiles = tmp_path / "changes" / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("schema: changes", "schema: changes_example"))
    return tmp_path / "changes"


def test_it_lints_clean():
    report = Project.load(EXAMPLE).lint()
    assert [str(finding) for finding in report.findings] == []


@pytest.mark.spark
@pytest.mark.nightly
def test_every_change_is_added_up_once(example, driver, spark):
    def build(day):
        results = Project.load(example, vars={"day": day}).build(driver=driver)
        assert results.ok, [result.message for result in results.results]
        return results

    def totals():
        rows = spark.table("changes_example.customer_total").collect()
        return {row["customer"]: (str(row["amount"]), row["orders"]) for row in rows}

    def latest():
        rows = spark.table("changes_example.order_latest").collect()
        return {row["order_id"]: (row["customer"], row["status"], row["gone"]) for row in rows}

    build(1)
    assert totals() == {"ann": ("15.00", 2), "bob": ("7.50", 1)}
    # Delta writes the feed as files of its own, where rows are updated or deleted.
    assert build(2)["orders"].adapter_response["metrics"]["numTargetChangeFilesAdded"] > 0
    after = {"ann": ("12.00", 1), "bob": ("7.50", 1), "cid": ("30.00", 1)}
    assert totals() == after
    # The same events again: orders are updated to what they are, and nothing adds up.
    build(2)
    assert totals() == after
    assert latest() == {
        1: ("ann", "paid", False),
        2: ("ann", "open", True),
        3: ("bob", "open", False),
        4: ("cid", "open", False),
    }
    build(3)
    assert totals() == {"ann": ("19.50", 2), "bob": ("0.00", 0), "cid": ("30.00", 1)}
    assert latest()[3] == ("ann", "open", False)
    assert latest()[4] == ("cid", "paid", False)
    statuses = Project.load(example, vars={"day": 9}).build(driver=driver, select=["customer_total", "order_latest"])
    assert {result.status for result in statuses.results if result.unique_id.startswith("model.")} == {"no-op"}
