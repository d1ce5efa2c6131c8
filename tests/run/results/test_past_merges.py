"""What the kept runs say of earlier MERGEs."""

import pytest

from merge_runner.engine.context import PastMerge
from merge_runner.pages.runs.history import keep
from merge_runner.run.results.past_merges import RUNS, past_merges

MERGED = {"operation": "MERGE", "bytes_scanned": 2048, "execution_ms": 1500}


def keep_run(folder, number, response, status="success", target="dev"):
    node = {"id": "model.shop.m", "name": "m", "status": status, "response": response}
    run = {"id": f"{number:08x}", "project": "shop", "target": target, "command": "build", "seconds": 1.0, "ok": True}
    keep(folder, {**run, "started_at": f"2026-01-01T00:{number:02}:00+00:00", "nodes": [node]})


@pytest.mark.parametrize(
    ("response", "status", "target", "past"),
    [
        (MERGED, "success", "dev", [PastMerge(2048, 1.5)]),
        (MERGED, "error", "dev", []),
        (MERGED, "success", "prod", []),
        ({**MERGED, "bytes_scanned": None}, "success", "dev", []),
        ({"operation": "CREATE VIEW"}, "success", "dev", []),
        (None, "success", "dev", []),
    ],
)
def test_merges_that_ended_well_in_the_same_target(tmp_path, response, status, target, past):
    keep_run(tmp_path, 1, response, status, target)
    assert past_merges(tmp_path, "dev") == ({"model.shop.m": tuple(past)} if past else {})


def test_the_last_runs_newest_first(tmp_path):
    for number in range(RUNS + 3):
        keep_run(tmp_path, number, {**MERGED, "bytes_scanned": number})
    sizes = [run.bytes for run in past_merges(tmp_path, "dev")["model.shop.m"]]
    assert sizes == [*range(RUNS + 2, 2, -1)]


def test_no_run_is_kept(tmp_path):
    assert past_merges(tmp_path, "dev") == {}
