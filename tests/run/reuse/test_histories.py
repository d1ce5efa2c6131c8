"""Histories of random projects: what is built with reuse is what is built without it, on both formats.

`python -m tests.run.reuse.history_report` has hundreds: docs/contributing/quality-report.md.
"""

import pytest

from tests.run.reuse.histories import run_histories
from tests.run.reuse.simulated import simulated_project


@pytest.mark.parametrize(
    ("table_format", "seed", "number"),
    [
        ("delta", 19, 3),
        ("iceberg", 5, 3),
        *(pytest.param(each, 3, 60, marks=[pytest.mark.slow, pytest.mark.nightly]) for each in ("delta", "iceberg")),
    ],
)
def test_reuse_changes_nothing_where_the_oracle_runs_the_statements(tmp_path, monkeypatch, table_format, seed, number):
    monkeypatch.delenv("MERGE_RUNNER_REUSE", raising=False)
    wrong, seen = run_histories(tmp_path, None, table_format, seed, number, builds=4, make=simulated_project)
    assert not wrong, "\n".join(each.text for each in wrong)
    assert seen.statuses["no-op"] and seen.plain["no-op"] == 0


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("table_format", "seed", "number"),
    [
        ("delta", 2, 3),
        pytest.param("iceberg", 1, 3, marks=pytest.mark.nightly),
        *(pytest.param(each, 2, 12, marks=pytest.mark.nightly) for each in ("delta", "iceberg")),
    ],
)
def test_reuse_changes_nothing(tmp_path, driver, monkeypatch, table_format, seed, number):
    monkeypatch.delenv("MERGE_RUNNER_REUSE", raising=False)
    wrong, seen = run_histories(tmp_path, driver, table_format, seed, number, builds=4)
    assert not wrong, "\n".join(each.text for each in wrong)
    assert seen.statuses["no-op"] > seen.statuses["success"] / 4
