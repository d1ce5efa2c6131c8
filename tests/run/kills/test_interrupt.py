"""A build that is interrupted: what ran is cancelled, and the artifacts say what became of it."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

ENDLESS = (
    "{{ config(materialized='table') }} select count(*) as n from range(100000000000L) "
    "where sha2(cast(id as string), 512) = 'x'"
)


@pytest.mark.parametrize(
    ("number", "ends"),
    [
        (signal.SIGINT, os.kill),
        pytest.param(signal.SIGTERM, os.kill, marks=pytest.mark.nightly),
        # As the end of a terminal, which reaches the JVM as well.
        pytest.param(signal.SIGHUP, os.killpg, marks=pytest.mark.nightly),
    ],
)
def test_ctrl_c_and_other_signals_cancel_what_runs_and_record_it(make_project, number, ends):
    root = make_project(
        {
            "models/quick.sql": "{{ config(materialized='table') }} select 1 as n",
            "models/endless.sql": "-- depends_on: {{ ref('quick') }}\n" + ENDLESS,
            "models/later.sql": "{{ config(materialized='table') }} select * from {{ ref('endless') }}",
        }
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "merge_runner", "build", "--no-lint"],
        cwd=root,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    journal = root / "target/journal.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and '"node": "model.shop.endless"' in journal.read_text()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(2)
    ends(process.pid, number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Traceback" not in stderr
    assert stderr.rstrip().endswith("interrupted")
    results = {
        entry["unique_id"]: entry for entry in json.loads((root / "target/run_results.json").read_text())["results"]
    }
    assert {name.rsplit(".", 1)[-1]: entry["status"] for name, entry in results.items()} == {
        "quick": "success",
        "endless": "error",
        "later": "skipped",
    }
    assert results["model.shop.endless"]["message"].startswith("cancelled; nothing was committed")
    assert not (root / "warehouse" / "endless").exists()


@pytest.mark.nightly
def test_ctrl_c_twice_ends_at_once_with_what_is_known(make_project):
    root = make_project(
        {
            "models/quick.sql": "{{ config(materialized='table') }} select 1 as n",
            "models/endless.sql": "-- depends_on: {{ ref('quick') }}\n" + ENDLESS,
            "models/later.sql": "{{ config(materialized='table') }} select * from {{ ref('endless') }}",
        }
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "merge_runner", "build", "--no-lint"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = root / "target/journal.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and '"node": "model.shop.endless"' in journal.read_text()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2, stderr
    assert "Traceback" not in stderr
    assert stderr.rstrip().endswith("interrupted")
    entries = json.loads((root / "target/run_results.json").read_text())["results"]
    assert {entry["unique_id"].rsplit(".", 1)[-1]: entry["status"] for entry in entries} == {
        "quick": "success",
        "endless": "error",
        "later": "skipped",
    }
    assert not list((root / "warehouse").glob("*/endless/_delta_log/*.json"))
