"""The records that are kept, and the page of them."""

import json
import re

import pytest

from merge_runner.pages.runs import history
from merge_runner.pages.runs.history import keep, kept_runs, last_results
from merge_runner.pages.runs.runs_page import comparable, runs_data, write_report
from tests.pages.runs import batch, node, record

BATCH = batch("2026-01-01", "2026-01-02")


def test_runs_are_kept_newest_first_and_no_more_than_so_many(tmp_path, monkeypatch):
    for number in range(history.KEPT + 3):
        keep(
            tmp_path,
            record(node("a"), number=number % 60, started_at=f"2024-05-{1 + number // 60:02}T10:{number % 60:02}:00Z"),
        )
    kept = [run.record["started_at"] for run in kept_runs(tmp_path)]
    assert kept == sorted(kept, reverse=True)
    assert len(kept) == history.KEPT == len(list((tmp_path / "runs").iterdir()))


def test_what_no_run_has_written_is_passed_over(tmp_path):
    keep(tmp_path, record(node("a"), number=1))
    folder = tmp_path / "runs"
    (folder / "20240501T120000000000Z-00000000.json.gz").write_bytes(b"no gzip")
    (folder / "20240501T120100000000Z-00000000.json.gz").write_bytes(history.gzipped({"version": 99, "nodes": []}))
    (folder / "20240501T120200000000Z-00000000.json.gz").write_bytes(history.gzipped([]))
    (folder / "notes.txt").write_text("mine")
    assert [run.record["id"] for run in kept_runs(tmp_path)] == [record(number=1)["id"]]


def test_a_report_is_written_of_what_is_kept(tmp_path):
    assert write_report(tmp_path) is None
    for number in range(3):
        keep(tmp_path, record(node("a", 1.0 + 3 * (number == 2)), number=number))
    assert write_report(tmp_path) == tmp_path / "run_report.html"
    page = (tmp_path / "run_report.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert [run["started_at"][14:16] for run in data["runs"]] == ["02", "01", "00"]
    assert data["history"]["model.shop.a"] == [
        ["success", 4.0, None, None],
        ["success", 1.0, None, None],
        ["success", 1.0, None, None],
    ]
    assert write_report(tmp_path, tmp_path / "given" / "page.html").is_file()


@pytest.mark.parametrize("status", ["success", "partial success", "error", "no-op"])
def test_a_run_with_each_status_is_kept(tmp_path, status):
    keep(tmp_path, record(node("a", 1.0, status)))
    assert [run.record["nodes"][0]["status"] for run in kept_runs(tmp_path)] == [status]


@pytest.mark.parametrize(
    ("oldest_first", "last", "work"),
    [
        (["success"], 0, None),
        (["success", "success", "no-op", "skipped"], 3, 1),
        (["no-op", "error", "no-op"], 2, 1),
        (["success", "no-op", "error"], 2, None),
        (["skipped", "no-op"], 1, None),
    ],
)
def test_the_last_result_of_a_node_names_the_last_that_did_something(tmp_path, oldest_first, last, work):
    runs = [record(node("a", 1.0, status), number=number) for number, status in enumerate(oldest_first)]
    for run in (*runs, record(node("a"), number=9, target="prod")):
        keep(tmp_path, run)
    (result,) = last_results(tmp_path, "dev").values()
    began = [run["started_at"] for run in runs]
    assert (result.at, result.work and result.work.at) == (began[last], None if work is None else began[work])


@pytest.mark.parametrize(
    ("values", "is_kept"),
    [
        ({}, True),
        ({"start": "2026-01-01T05"}, True),
        ({"rows": None, "version": None, "message": "Division by zero"}, True),
        ({"start": "x"}, False),
        ({"end": "2026-01-01 00:00"}, False),
        ({"status": "odd"}, False),
        ({"reason": 1}, False),
        ({"rows": "many"}, False),
        ({"version": 3776207205136740581}, False),
        ({"message": ["no"]}, False),
    ],
)
def test_batches_that_no_run_has_written_are_passed_over(tmp_path, values, is_kept):
    keep(tmp_path, record({**node("a"), "batch_size": "day", "batches": [{**BATCH, **values}]}))
    assert len(list(kept_runs(tmp_path))) == is_kept


@pytest.mark.parametrize("size", [None, "week", 1])
def test_batches_of_no_size_are_passed_over(tmp_path, size):
    keep(tmp_path, record({**node("a"), "batch_size": size, "batches": [BATCH]}))
    assert list(kept_runs(tmp_path)) == []


def test_a_node_that_did_not_run_leaves_a_gap_and_tests_have_no_history():
    test = {**node("t"), "id": "test.shop.t", "kind": "test"}
    data = runs_data([record(node("b"), number=2), record(node("a"), test, number=1)])
    assert data["history"] == {
        "model.shop.b": [["success", 1.0, None, None], 0],
        "model.shop.a": [0, ["success", 1.0, None, None]],
    }


def test_runs_in_another_target_are_not_compared():
    now, same, other = record(number=3), record(number=2), record(number=1, target="prod")
    assert comparable(now, [same, other]) == [same]


ROWS = {"left": 2, "right": 1, "only_left": 1, "only_right": 0, "changed": 0}


@pytest.mark.parametrize(
    ("difference", "is_kept"),
    [
        ({}, True),
        ({"equal": None, "error": "it is gone"}, True),
        ({"equal": False, "rows": ROWS, "columns": {"n": 1}, "schema": {"only_left": ["n"], "types": {}}}, True),
        ("equal", False),
        ({"rows": {**ROWS, "changed": "x"}}, False),
        ({"columns": {"n": None}}, False),
        ({"columns": {"n": 1e300}}, False),
        ({"schema": {"only_left": 3}}, False),
        ({"schema": {"only_right": [1]}}, False),
        ({"schema": {"types": ["n"]}}, False),
        ({"error": 5}, False),
    ],
)
def test_a_comparison_that_no_run_has_written_is_passed_over(tmp_path, difference, is_kept):
    keep(tmp_path, record({**node("a"), "difference": difference}))
    assert len(list(kept_runs(tmp_path))) == is_kept
    assert (write_report(tmp_path) is not None) == is_kept
