"""A stream that is killed in the middle of batches, JVM and all, and started again."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from merge_runner import Project
from tests.run.stream.test_stream import FILES, land

pytestmark = pytest.mark.slow

BATCHES = 4
KILLED_AT = ["node_started", "node_finished"]
"""At the first event of this name that tells of a batch that is new."""


def started(root):
    return subprocess.Popen(
        [sys.executable, "-m", "merge_runner", "stream", "--available-now", "--threads", "2"],
        cwd=root,
        env={**os.environ, "MERGE_RUNNER_WARM": "0"},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process, journal, name, offset):
    """Until an event of this name stands in the journal beyond the offset."""
    deadline = time.monotonic() + 120
    while True:
        text = journal.read_text()[offset:] if journal.exists() else ""
        if f'"event": "{name}"' in text:
            return
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_the_tables_are_those_of_an_undisturbed_stream(make_project, driver, spark):
    profile = "shop: {outputs: {dev: {master: 'local[2]', schema: killed, warehouse: warehouse}}}\n"
    root = make_project(FILES | {"profiles.yml": profile})
    expected = {}
    for batch in range(BATCHES):
        rows = [(id, ("eu", "us")[id % 2], batch + id) for id in range(batch, batch + 6)]
        land(root, f"{batch:02}", *rows)
        for id, region, amount in rows:
            expected[id, region] = expected.get((id, region), 0) + amount
    journal = root / "target/journal.jsonl"
    for name in KILLED_AT:
        offset = len(journal.read_text()) if journal.exists() else 0
        process = started(root)
        wait_for(process, journal, name, offset)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert Project.load(root).stream(available_now=True, threads=2, driver=driver).ok
    found = {}
    for region in ("eu", "us"):
        rows = spark.read.format("delta").load(str(root / f"warehouse/killed/{region}")).collect()
        found |= {(row.id, row.region): row.amount for row in rows}
        assert len(rows) == sum(where == region for _, where in expected)
    assert found == expected
    totals = spark.read.format("delta").load(str(root / "warehouse/killed/total")).collect()
    assert {row.region: row.amount for row in totals} == {
        region: sum(amount for (_, where), amount in expected.items() if where == region) for region in ("eu", "us")
    }
    finished = [json.loads(line) for line in journal.read_text().splitlines() if '"batch_finished"' in line]
    assert {event["batch_id"] for event in finished} == set(range(BATCHES))
