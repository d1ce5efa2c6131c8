"""dagster-dbt: assets of the manifest, a build with `merge-runner` as the executable, checks of data tests."""

import json

import pytest

pytestmark = [pytest.mark.nightly, pytest.mark.spark]
PACKAGES = ("dagster-dbt==0.29.27", "python-dateutil")
"""It imports dateutil, and does not always bring it."""
TABLES = ("customers", "orders", "raw_orders", "stg_orders")


@pytest.mark.parametrize("variables", [{"DBT_LOG_FORMAT": "json"}, {}], ids=["as dbt 2", "as dbt 1"])
def test_dagster_builds_with_merge_runner(client, run_client, shop, merge_runner, variables):
    out = run_client(client(*PACKAGES), "with_dagster.py", shop, merge_runner, **variables)
    report = json.loads(next(line for line in out.splitlines() if line.startswith("REPORT "))[len("REPORT ") :])
    assert report["assets"] == sorted(TABLES)
    assert report["parents"] == ["stg_orders"]
    assert report["description"].startswith("The orders.")
    assert report["tables"] == {name: f"shop.{name}" for name in TABLES}
    # A failing data test fails the run; `customers` reads `orders`, and is skipped.
    assert not report["success"]
    assert report["checks"] == {
        "unique_orders_id": [True, "ERROR", 0],
        "not_null_orders_id": [True, "ERROR", 0],
        "no_negative": [False, "WARN", 1],
        "known_amounts": [False, "ERROR", 1],
    }
    built = report["materialized"]
    assert {name: metadata["status"] for name, metadata in built.items()} == dict.fromkeys(
        ("orders", "raw_orders", "stg_orders"), "success"
    )
    assert all(metadata["Execution Duration"] > 0 for metadata in built.values())
    assert len({metadata["invocation_id"] for metadata in built.values()}) == 1
