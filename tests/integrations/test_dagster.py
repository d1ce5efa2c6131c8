"""Dagster in process: a component from a defs.yaml, whose runs are processes on the fake engine."""

import json
from pathlib import Path

import pytest
import tomli

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[2]
PACKAGES = ("dagster==1.13.27", *tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
"""`merge-runner[dagster]` without Spark."""
MODELS = {
    "a": {"tests": ["unique"], "config": "tags=['nightly']"},
    "b": {"parents": ["a"], "tests": [{"accepted_values": {"values": [888], "quote": False, "severity": "warn"}}]},
    "bad": {},
    "below": {"parents": ["bad"]},
    "guarded": {"config": "expect_merge={'min_source_rows': 1}"},
    "v": {"parents": ["b"], "materialized": "view"},
}
ACCEPTED = "accepted_values_b_id__d4e56d2f"
FILES = {
    "models/more.yml": """
        sources:
          - name: raw
            tables:
              - name: orders
                schema: raw
                description: What the shop sent.
                loaded_at_field: at
                freshness: {warn_after: {count: 6, period: hour}}
        models:
          - name: v
            description: What is read.
            config: {build_after: {count: 4, period: hour}, meta: {owner: sales, dagster: {group: marts}}}
    """,
    "models/v.sql": """
        {{ config(materialized='view') }}
        -- depends_on: {{ ref('b') }}
        select id from {{ source('raw', 'orders') }}
    """,
    "models/v.yml": "{}",
}
WINDOW = {"start": "2026-01-01", "vars": {"from": "{start}", "to": "{end}"}}
RANGE = {"dagster/asset_partition_range_start": "2026-01-05", "dagster/asset_partition_range_end": "2026-01-09"}
MERGE = {"operation": "MERGE", "rows_inserted": 1, "rows_affected": 1, "table_version": 4}
REFUSED = "m.sql:1:1: a source of 0 rows (`min_source_rows: 1`) [expect-merge]"
PHASES = {
    "declared": {"declared": True, "attributes": {"partitions": WINDOW}},
    "all": {
        "turns": [
            {
                "faults": {"bad": ["fails"]},
                "failures": {"888": 2},
                "counts": {"a": {"inserted": 5, "updated": 2}},
            }
        ],
        "attributes": {"exclude": "guarded"},
        "run": {},
    },
    "subset": {"attributes": {}, "run": {"selection": ["a", "b"]}},
    "range": {
        "attributes": {
            "partitions": WINDOW,
            "vars": {"late": 3},
            "exclude": "bad+ guarded",
            "args": ["--threads", "2"],
        },
        "run": {"tags": RANGE},
    },
    "retry": {
        "turns": [{"faults": {"bad": ["fails"]}}, {}],
        "attributes": {"retry": {"max_retries": 1}, "exclude": "guarded"},
        "run": {},
    },
    "cannot run": {"attributes": {"args": ["--no-such-option"], "exclude": "guarded"}, "run": {}},
    "results": {
        "attributes": {},
        "results": [
            {
                "unique_id": "model.shop.guarded",
                "status": "success",
                "execution_time": 1,
                "adapter_response": {**MERGE, "expect_merge": {"counted_by": "query", "rows_source": 3}},
            },
            {"unique_id": "model.shop.guarded", "status": "error", "execution_time": 1, "message": REFUSED},
            {"unique_id": "model.shop.guarded", "status": "error", "execution_time": 1, "message": "Division by zero"},
            {"unique_id": "model.shop.guarded", "status": "skipped", "execution_time": 0},
            {
                "unique_id": "model.shop.v",
                "status": "success",
                "execution_time": 1,
                "adapter_response": {"operation": "CREATE OR REPLACE TABLE AS SELECT", "rows_affected": 7},
            },
        ],
    },
}


BATCHES = {
    "hours": {"config": "event_time='times', batch_size='hour', begin='2026-01-05 10:30'"},
    "days": {"tests": ["unique"], "config": "event_time='times', batch_size='day', begin='2026-01-05'"},
    "months": {"config": "event_time='times', batch_size='month', begin='2026-01-05'"},
    "years": {"config": "event_time='times', batch_size='year', begin='2024-05-01'"},
    "plain": {"parents": ["days"]},
}
UNRESTRICTED = '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.lint]\nignore = ["C", "P"]\n'
"""Their statements merge the same rows in each batch."""
RANGE_OF_DAYS = {"dagster/asset_partition_range_start": "2026-01-06", "dagster/asset_partition_range_end": "2026-01-08"}
NEWEST_ROW = {"answers": {"SELECT unix_micros(CAST(": [{"newest": None}]}}
"""Of a table that an earlier phase has left, without its commits."""
BATCH_PHASES = {
    "declared": {"declared": True, "attributes": {}},
    "without": {"declared": True, "attributes": {"batch_partitions": False}},
    "day": {"attributes": {}, "run": {"selection": ["days", "plain"], "partition": "2026-01-07"}},
    "hour": {"attributes": {}, "run": {"selection": ["hours"], "partition": "2026-01-05-11:00"}},
    "year": {"attributes": {}, "run": {"selection": ["years"], "partition": "2025-01-01"}},
    "range": {
        "turns": [{**NEWEST_ROW, "faults": {"days": [None, "fails"]}}],
        "attributes": {},
        "run": {"selection": ["days", "plain"], "tags": RANGE_OF_DAYS},
    },
    "due": {"attributes": {}, "run": {"selection": ["months"]}},
    "window": {
        "turns": [NEWEST_ROW],
        "attributes": {"partitions": {**WINDOW, "every": "week"}, "select": "days"},
        "run": {"partition": "2026-01-11"},
    },
}


@pytest.fixture(scope="module")
def report(client, run_client, make_shop, tmp_path_factory):
    """What Dagster reports of each phase, from one process."""
    return reports(PHASES, make_shop(MODELS, FILES), client, run_client, tmp_path_factory)


@pytest.fixture(scope="module")
def of_batches(client, run_client, make_shop, tmp_path_factory):
    """The same of models with batches."""
    return reports(
        BATCH_PHASES, make_shop(BATCHES, {"pyproject.toml": UNRESTRICTED}), client, run_client, tmp_path_factory
    )


def reports(all_phases, shop, client, run_client, tmp_path_factory):
    """Run the phases; return what Dagster reports of each."""
    folder = tmp_path_factory.mktemp("dagster")
    (folder / "src/company/defs/shop").mkdir(parents=True)
    for package in (folder / "src/company", folder / "src/company/defs"):
        (package / "__init__.py").touch()
    root = '[tool.dg]\ndirectory_type = "project"\n[tool.dg.project]\nroot_module = "company"\n'
    (folder / "pyproject.toml").write_text(root)
    common = {"project": str(shop.root), "executable": str(shop.executable), "env": shop.env}
    phases = {
        name: {**phase, "project": str(shop.root), "attributes": {**common, **phase["attributes"]}}
        for name, phase in all_phases.items()
    }
    (folder / "phases.json").write_text(json.dumps(phases))
    script = Path(__file__).parent / "scripts/with_dagster.py"
    out = run_client(client(*PACKAGES), script, folder, PYTHONPATH=str(ROOT))
    return json.loads(next(line for line in out.splitlines() if line.startswith("REPORT "))[7:])


def test_the_component_declares_assets_and_checks(report):
    declared = report["declared"]
    assets = declared["assets"]
    assert {key: each["deps"] for key, each in assets.items()} == {
        "a": [],
        "b": ["a"],
        "bad": [],
        "below": ["bad"],
        "guarded": [],
        "v": ["b", "raw/orders"],
        "raw/orders": [],
    }
    assert assets["a"]["kinds"] == ["delta", "merge", "spark"]
    assert assets["a"]["tags"] == ["nightly"]
    assert assets["a"]["columns"] == [["id", "bigint", True], ["times", "bigint", True]]
    assert all(assets[key]["code version"] and assets[key]["table"] == f"shop.{key}" for key in MODELS)
    view = assets["v"]
    assert (view["group"], view["owners"], view["freshness"]) == ("marts", ["team:sales"], [14_400, 28_800])
    assert (view["description"], view["kinds"]) == ("What is read.", ["spark", "view"])
    assert assets["raw/orders"]["description"] == "What the shop sent."
    checks = ["a:unique_a_id", f"b:{ACCEPTED}", "guarded:expect_merge", "raw/orders:freshness"]
    assert declared["checks"] == checks
    assert (declared["can subset"], declared["backfill"]) == (True, ["single run"])


def test_a_run_is_one_build_whose_results_are_streamed(report):
    found = report["all"]
    assert not found["success"]
    assert found["commands"] == [["build", "--exclude", "guarded"]]
    built = found["materialized"]
    assert set(built) == {"a", "b", "v"}
    figures = {name.removeprefix("merge_runner/"): value for name, value in built["a"].items()}
    expected = {"status": "success", "operation": "MERGE", "rows_inserted": 5, "rows_updated": 2, "verdict": "none"}
    assert expected.items() <= figures.items()
    assert figures["files_total"] >= figures["files_scanned"] >= 0
    assert built["a"]["data version"] == figures["table_version"]
    (failure,) = found["failures"]
    assert "model.shop.bad: " in failure
    assert "Division by zero" in failure
    checks = {name: check[:2] for name, check in found["checks"].items()}
    assert checks == {"a.unique_a_id": [True, "ERROR"], f"b.{ACCEPTED}": [False, "WARN"]}
    assert found["checks"][f"b.{ACCEPTED}"][2]["merge_runner/failures"] == 2


def test_a_subset_is_one_build_of_it_with_its_checks(report):
    found = report["subset"]
    assert found["success"], found["failures"]
    assert set(found["materialized"]) == {"a", "b"}
    assert set(found["checks"]) == {"a.unique_a_id", f"b.{ACCEPTED}"}
    ((command, select, *chosen),) = found["commands"]
    assert (command, select) == ("build", "--select")
    assert chosen[:2] == ["path:models/a.sql", "path:models/b.sql"]
    assert chosen[-2:] == ["--indirect-selection", "empty"]


def test_a_range_of_partitions_is_one_build_over_its_window(report):
    found = report["range"]
    assert found["success"], found["failures"]
    assert set(found["materialized"]) == {"a", "b", "v"}
    assert found["partitions"] == [f"2026-01-0{day}" for day in range(5, 10)]
    (command,) = found["commands"]
    assert command[:2] == ["build", "--vars"]
    assert json.loads(command[2]) == {"late": 3, "from": "2026-01-05", "to": "2026-01-10"}
    assert command[3:] == ["--threads", "2", "--exclude", "bad+", "guarded"]


def test_a_failed_build_goes_on_by_retry(report):
    found = report["retry"]
    assert found["success"], found["failures"]
    assert [command[0] for command in found["commands"]] == ["build", "retry"]
    assert set(found["materialized"]) == set(MODELS) - {"guarded"}


def test_a_build_that_cannot_run_says_why(report):
    found = report["cannot run"]
    assert (found["success"], found["materialized"]) == (False, {})
    (failure,) = found["failures"]
    assert "no such option" in failure.lower()


def test_an_expectation_is_a_check_and_the_size_of_a_table_its_row_count(report):
    reported = [each[:4] if each[0] == "check" else each[:3] for each in report["results"]["reported"]]
    assert reported == [
        ["asset", "guarded", "4"],
        ["check", "guarded", "expect_merge", True],
        ["check", "guarded", "expect_merge", False],
        ["asset", "v", None],
    ]
    merged, counted, refused, table = (each[-1] for each in report["results"]["reported"])
    assert "dagster/row_count" not in merged
    assert counted == {"merge_runner/counted_by": "query", "merge_runner/rows_source": 3}
    assert refused == {"merge_runner/message": REFUSED}
    assert table["dagster/row_count"] == 7


def test_a_batch_of_a_model_is_a_partition(of_batches):
    declared = of_batches["declared"]
    assert {key: each["partitions"] for key, each in declared["assets"].items()} == {
        "hours": ["2026-01-05-10:00", "0 * * * *"],
        "days": ["2026-01-05", "0 0 * * *"],
        "months": ["2026-01-01", "0 0 1 * *"],
        "years": ["2024-01-01", "0 0 1 1 *"],
        "plain": None,
    }
    assert {each["partitions"] for each in of_batches["without"]["assets"].values()} == {None}


@pytest.mark.parametrize(
    ("phase", "window", "materialized"),
    [
        ("day", ["2026-01-07", "2026-01-08"], [["days", "2026-01-07"]]),
        ("hour", ["2026-01-05 11:00:00", "2026-01-05 12:00:00"], [["hours", "2026-01-05-11:00"]]),
        ("year", ["2025-01-01", "2026-01-01"], [["years", "2025-01-01"]]),
        ("window", ["2026-01-11", "2026-01-18"], [["days", "2026-01-11"]]),
    ],
)
def test_a_run_of_a_partition_is_one_of_its_batches(of_batches, phase, window, materialized):
    found = of_batches[phase]
    assert found["success"], found["failures"]
    (command,) = found["commands"]
    start = command.index("--event-time-start")
    assert command[start : start + 4] == ["--event-time-start", window[0], "--event-time-end", window[1]]
    assert found["partitions of assets"] == materialized
    assert {name: passed for name, (passed, *_) in found["checks"].items()} == (
        {"days.unique_days_id": True} if materialized[0][0] == "days" else {}
    )


def test_of_a_range_the_batches_that_succeeded_are_materialized(of_batches):
    found = of_batches["range"]
    assert not found["success"]
    (command,) = found["commands"]
    assert command[1:5] == ["--event-time-start", "2026-01-06", "--event-time-end", "2026-01-09"]
    assert found["partitions of assets"] == [["days", "2026-01-06"]]
    assert found["materialized"]["days"]["merge_runner/reason"] == "asked"
    (failure,) = found["failures"]
    assert "model.shop.days: 1 of 3 batches, " in failure


def test_a_run_without_a_partition_is_of_what_is_due(of_batches):
    found = of_batches["due"]
    assert found["success"], found["failures"]
    (command,) = found["commands"]
    assert "--event-time-start" not in command
    materialized = found["partitions of assets"]
    assert materialized[0] == ["months", "2026-01-01"]
    assert len(materialized) == found["materialized"]["months"]["merge_runner/batches_done"]
