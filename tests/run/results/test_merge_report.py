"""What is said of merges after a build: which rows, in which order, and the hints under bad figures."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from merge_runner.engine.response import MergeFigures, NodeResponse, Verdict
from merge_runner.run.results.merge_report import summary
from merge_runner.run.results.results import Result, Timing

START = datetime(2024, 1, 1, tzinfo=timezone.utc)
GOOD = {
    "operation": "MERGE",
    "files_total": 365,
    "files_scanned": 2,
    "files_removed": 2,
    "rows_inserted": 10,
    "rows_updated": 100,
    "rows_deleted": 0,
    "rows_copied": 5_000,
    "verdict": "static",
    "verdict_held": True,
    "attempts": 1,
    "metrics": {},
}

ALL_FILES = {"files_total": 2, "rows_copied": 220_000}
"""A MERGE that writes all of its two files again."""


def merged(name="m", seconds=1.0, status="success", **response):
    timing = Timing("execute", START, START + timedelta(seconds=seconds))
    told = {**GOOD, **response}
    response = NodeResponse(
        statement=replace(MergeFigures.of(told, told["metrics"]), operation=told["operation"]),
        verdict=Verdict(told["verdict"], told["verdict_held"]),
        attempts=told["attempts"],
    )
    return Result(f"model.p.{name}", status, timing=(timing,), response=response)


def hints(format="delta", **response):
    return list(summary([merged(**response)], {"model.p.m": format})[0].hints)


def test_merges_stand_slowest_first_and_nothing_else_does():
    results = [
        merged("quick", 0.5),
        merged("slow", 9),
        merged("failed", 20, status="error"),
        merged("table", 30, operation="CREATE OR REPLACE TABLE AS SELECT"),
        Result("model.p.skipped", "skipped"),
        merged("middle", 2),
    ]
    rows = summary(results, {})
    assert [row.name for row in rows] == ["slow", "middle", "quick"]
    assert rows[0].as_json() == {
        "unique_id": "model.p.slow",
        "name": "slow",
        "seconds": 9.0,
        "files_scanned": 2,
        "files_total": 365,
        "rows_inserted": 10,
        "rows_updated": 100,
        "rows_deleted": 0,
        "rows_copied": 5_000,
        "copied_per_change": 50.0,
        "hints": [],
    }


@pytest.mark.parametrize(
    ("response", "ratio"),
    [
        ({}, 50.0),
        ({"rows_updated": 0}, None),  # inserting copies nothing: the ten inserted rows do not count
        ({"rows_copied": 0}, 0.0),
        ({"rows_copied": None}, None),
        ({"rows_deleted": None}, None),
    ],
)
def test_write_amplification_is_by_updated_and_deleted_rows(response, ratio):
    assert summary([merged(**response)], {})[0].copied_per_change == ratio


@pytest.mark.parametrize(
    ("response", "beginning"),
    [
        ({"files_scanned": 365}, "all 365 files were scanned to change 2: filter the target in ON"),
        ({"files_scanned": 365, "files_removed": 0}, "all 365 files were scanned to change 0"),
        ({"files_scanned": 365, "files_removed": 0, "metrics": {"numTargetDeletionVectorsAdded": 300}}, None),
        ({"files_scanned": 365, "files_removed": 0, "metrics": {"added-delete-files": 300}}, None),
        ({"files_scanned": 365, "files_removed": 300}, None),  # it had to rewrite most of them
        ({"files_scanned": 364, "files_removed": 0}, None),
        ({"files_scanned": 19, "files_total": 19, "files_removed": 0}, None),  # too few to matter
        ({"files_scanned": None}, None),
        ({"rows_copied": 99_999, "rows_updated": 1}, None),
        ({"rows_copied": 100_000, "rows_updated": 1_001}, None),
        (
            {"rows_copied": 100_000, "rows_updated": 1_000},
            "100 rows were rewritten for each that changed: set delta.enable",
        ),
        ({"rows_copied": 100_000, "rows_updated": 0}, "100,000 rows were rewritten and none was changed: leave rows"),
        ({"rows_copied": None}, None),
        (ALL_FILES | {"rows_updated": 780_000}, "78% of its rows changed, and all of its files were written again"),
        (ALL_FILES | {"rows_updated": 0, "rows_deleted": 780_000}, "78% of its rows changed"),
        (ALL_FILES | {"rows_updated": 780_000, "files_removed": 1}, None),
        (ALL_FILES | {"rows_updated": 200_000}, None),
        (ALL_FILES | {"rows_updated": 200_000, "rows_copied": None}, None),
        ({"rows_updated": 200_000, "files_total": None, "files_removed": None}, None),
        (ALL_FILES | {"rows_copied": 22_000, "rows_updated": 77_000}, None),  # too small to matter
        ({"verdict_held": False}, "lint said `static`, and the engine scanned otherwise"),
        ({"verdict_held": None}, None),
        ({"attempts": 3}, "it ran 3 times, for other writers committed first"),
    ],
)
def test_a_hint_stands_under_a_bad_figure(response, beginning):
    found = hints(**response)
    assert len(found) == (0 if beginning is None else 1)
    if beginning is not None:
        assert found[0].startswith(beginning)


def test_the_hint_against_copies_is_the_formats_own():
    found = hints("iceberg", rows_copied=1_000_000, rows_updated=10)
    assert "set write.merge.mode to merge-on-read" in found[0]
