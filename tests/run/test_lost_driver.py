"""A driver that dies in the middle of a build: each model says so, and the artifacts are whole."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ENDLESS = (
    "{{ config(materialized='table') }} select count(*) as n from range(100000000000L) "
    "where sha2(cast(id as string), 512) = 'x'"
)


def java_below(pid):
    """The JVM that a process has started, by way of Spark's launch scripts."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            name = (entry / "comm").read_text().strip()
        except OSError:  # it has ended meanwhile
            continue
        if parent == pid:
            return int(entry.name) if name == "java" else java_below(int(entry.name))
    raise AssertionError("no java")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_a_killed_driver_is_told_and_the_artifacts_are_whole(make_project):
    root = make_project(
        {
            "models/quick.sql": "{{ config(materialized='table') }} select 1 as n",
            "models/endless.sql": "-- depends_on: {{ ref('quick') }}\n" + ENDLESS,
            "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('endless') }}",
            "models/beside.sql": "-- depends_on: {{ ref('quick') }}\n{{ config(materialized='table') }} select 2 as n",
        }
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "merge_runner", "build", "--no-lint", "--threads", "1"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = root / "target/journal.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and '"name": "endless", "group"' in journal.read_text()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(2)
    os.kill(java_below(process.pid), signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 1, stderr
    assert "Traceback" not in stderr
    entries = json.loads((root / "target/run_results.json").read_text())["results"]
    statuses = {entry["unique_id"].rsplit(".", 1)[-1]: entry["status"] for entry in entries}
    assert statuses["quick"] == "success"
    assert statuses["endless"] == "error"
    assert statuses["below"] == "skipped"
    assert all(json.loads(line) for line in journal.read_text().splitlines())
