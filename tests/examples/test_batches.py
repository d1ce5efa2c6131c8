"""examples/batches: late events, a batch that fails, a backfill, on Delta and Iceberg, from six days ago to today."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from merge_runner import Project

EXAMPLE = Path(__file__).parents[2] / "examples" / "batches"


def test_it_lints_clean():
    assert [str(finding) for finding in Project.load(EXAMPLE).lint().findings] == []


@pytest.mark.spark
@pytest.mark.nightly
def test_its_numbers(example, driver):
    root, _ = example("batches")
    today = datetime.now(timezone.utc).date()

    def day(ago):
        return (today - timedelta(days=ago)).isoformat()

    def project(delivery):
        return Project.load(root, vars={"begin": day(6), "delivery": delivery})

    def ran(result):
        """The batches of a model: days ago of the first and behind the last day, reason, status, changed rows."""
        return [
            (
                *((today - datetime.fromisoformat(batch[side]).date()).days for side in ("start", "end")),
                *(batch[key] for key in ("reason", "status", "rows")),
            )
            for batch in result.response.batches
        ]

    def rows(result):
        with driver.session() as session:
            table = session.table(result.relation_name).orderBy("order_id").collect()
            return {row.order_id: ((today - row.day).days, str(row.amount)) for row in table}

    def build(delivery, **options):
        return project(delivery).build(driver=driver, lint=False, **options)

    results = build(1)
    assert results.ok, [result.message for result in results.results]
    counts = [(6, 1), (5, 2), (4, 0), (3, 1), (2, 0), (1, 1), (0, 1)]
    assert ran(results["order_fact"]) == [(ago, ago - 1, "new", "success", count) for ago, count in counts]
    # Days that `lookback` will ask for again are apart from those that are done.
    days = [(6, 2, "new", "success", 3), (2, 0, "new", "success", 1), (0, -1, "new", "success", 1)]
    assert ran(results["day_total"]) == days

    # Two late orders: one within `lookback`, one behind it, which is reported; a correction of three days ago, too.
    results = build(2)
    assert results.ok
    assert ran(results["order_fact"]) == [
        (2, 1, "lookback", "success", 0),
        (1, 0, "lookback", "success", 1),
        (0, -1, "open", "success", 0),
    ]
    assert [warning for warning in results["order_fact"].warnings if "came too late" in warning]
    assert 8 not in rows(results["order_fact"])

    # The backfill of a window, of both models.
    results = build(2, event_time_start=day(5), event_time_end=day(2))
    assert results.ok
    assert [batch[:3] for batch in ran(results["order_fact"])] == [(5, 4, "asked"), (4, 3, "asked"), (3, 2, "asked")]
    assert ran(results["day_total"]) == [(5, 2, "asked", "success", 2)]
    assert rows(results["order_fact"])[8] == (5, "100.00") and rows(results["order_fact"])[4] == (3, "44.00")

    # A batch that fails stops no other one; its children wait, and `retry` runs it alone.
    results = build(3)
    assert results["order_fact"].status == "partial success"
    assert [batch[3] for batch in ran(results["order_fact"])] == ["success", "error", "success"]
    assert results["day_total"].status == "skipped"
    model = root / "models/order_fact.sql"
    model.write_text(model.read_text().replace("cast(amount as", "cast(nullif(amount, 'n/a') as"))
    results = project(3).retry(driver=driver)
    assert results.ok, [result.message for result in results.results]
    assert ran(results["order_fact"]) == [(1, 0, "lookback", "success", 1)]
    assert results["day_total"].status == "success"
    orders = {1: (6, "10.00"), 2: (5, "20.00"), 3: (5, "5.00"), 4: (3, "44.00"), 5: (1, "7.50"), 6: (0, "2.50")}
    late = {7: (1, "12.00"), 8: (5, "100.00"), 9: (1, "None"), 10: (0, "1.00")}
    assert rows(results["order_fact"]) == {**orders, **late}
