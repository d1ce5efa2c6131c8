"""A driver that is lost in the middle of a build: what ran there says why, the rest runs on another one, and nothing is doubled."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from merge_runner import Project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc"),
]

# Spark folds no `repeat` whose length is a column's: a task makes the text. The MERGE adds, so that one too many is seen.
FILES = {
    "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: lost, conf: {spark.driver.memory: 700m}}}}",
    "models/lost.sql": """
        {{ config(priority=1) }}
        merge into {{ this }} as t
        using (select id, 1 as n, length(repeat('x', {{ var('length') }} - cast(id as int))) as size
                 from range({{ var('rows') }}) where id < 3 or sha2(cast(id as string), 512) = 'x') as s
           on t.id = s.id
        when matched then update set n = t.n + s.n
        when not matched then insert *
    """,
    "models/below.sql": "{{ config(materialized='table') }} select id, n from {{ ref('lost') }}",
    "models/beside.sql": """
        merge into {{ this }} as t using (select id, 1 as n from range(4)) as s on t.id = s.id
        when matched then update set n = t.n + s.n
        when not matched then insert *
    """,
}
IMPATIENT = (sys.executable, str(Path(__file__).with_name("impatient.py")), "2.0")
"""Reports trouble after so many seconds."""
ENDLESS = "{rows: 100000000000, length: 1}"
GREEDY = "{rows: 2, length: 2000000000}"
SMALL = {"rows": 3, "length": 1}


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


def begin(root, *words):
    return subprocess.Popen(
        [*IMPATIENT, *words],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process, status):
    _, stderr = process.communicate(timeout=150)
    assert process.returncode == status, stderr
    assert "Traceback" not in stderr
    assert "Warning:" not in stderr
    return stderr


def journal_has(root, process, text):
    journal = root / "target/journal.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and text in journal.read_text()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.2)


def task_seconds(jvm):
    """Seconds of processor that the threads of tasks of a JVM have taken."""
    ticks = 0
    for thread in Path(f"/proc/{jvm}/task").iterdir():
        with suppress(OSError):  # it has ended meanwhile
            if (thread / "comm").read_text().startswith("Executor task"):
                fields = (thread / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])  # in user and in kernel mode
    return ticks / os.sysconf("SC_CLK_TCK")


def in_its_merge(root, process):
    """The JVM, once the endless MERGE runs: the table is there, and since then tasks have computed for a while."""
    created = root / "warehouse/lost/lost/_delta_log/00000000000000000000.json"
    deadline = time.monotonic() + 120
    while not created.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.2)
    jvm = java_below(process.pid)
    before = task_seconds(jvm)
    while task_seconds(jvm) < before + 4:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return jvm


def results(root):
    assert all(json.loads(line) for line in (root / "target/journal.jsonl").read_text().splitlines())
    entries = json.loads((root / "target/run_results.json").read_text())["results"]
    return {entry["unique_id"].rsplit(".", 1)[-1]: entry for entry in entries}


def merged(root, name):
    """How many MERGEs a table's log has."""
    logs = (root / "warehouse/lost" / name / "_delta_log").glob("*.json")
    return sum('"operation":"MERGE"' in log.read_text() for log in logs)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (ENDLESS, "its JVM was killed (SIGKILL): by a user, or by the system because the machine ran out of memory"),
        pytest.param(GREEDY, "its JVM ran out of memory: Java heap space (exit status 52)", marks=pytest.mark.nightly),
    ],
    ids=["killed", "without memory"],
)
def test_what_ran_on_a_lost_driver_says_why_and_the_rest_runs_on_another_one(make_project, driver, how, why):
    root = make_project(FILES)
    process = begin(root, "build", "--no-lint", "--threads", "1", "--vars", how)
    if how is ENDLESS:
        os.kill(in_its_merge(root, process), signal.SIGKILL)
    stderr = ended(process, 1)
    assert "the Spark driver is lost: what has not begun (1) runs on another one" in stderr
    found = results(root)
    assert {name: entry["status"] for name, entry in found.items()} == {
        "lost": "error",
        "below": "skipped",
        "beside": "success",
    }
    message = found["lost"]["message"]
    # Now and then Spark still reports the failed stage before its JVM ends, as an error of the statement.
    of_stage = how is GREEDY and "Job aborted due to stage failure" in message and "OutOfMemoryError" in message
    told = f"the Spark driver is lost: {why}; whether its statement has committed is not known"
    assert of_stage or message.startswith(told), message
    assert ("spark.driver.memory" in message) == (how is GREEDY)
    assert "merge-runner retry" in message

    assert Project.load(root, vars=SMALL).retry(driver=driver).ok
    found = results(root)
    assert found.keys() == {"lost", "below"}
    assert found["lost"]["adapter_response"]["rows_inserted"] == 3
    assert found["below"]["adapter_response"]["rows_affected"] == 3
    assert (merged(root, "lost"), merged(root, "beside")) == (1, 1)


@pytest.mark.nightly
def test_a_driver_that_does_not_answer_is_told_and_ctrl_c_twice_ends_it(make_project):
    root = make_project(FILES)
    process = begin(root, "build", "--no-lint", "--threads", "1", "--vars", ENDLESS)
    java = in_its_merge(root, process)
    os.kill(java, signal.SIGSTOP)
    journal_has(root, process, f"Spark (process {java}) does not answer")
    process.send_signal(signal.SIGINT)
    journal_has(root, process, "stopping: what runs is cancelled")
    process.send_signal(signal.SIGINT)
    stderr = ended(process, 2)
    assert f"`kill -9 {java}` ends it, and `merge-runner retry` goes on then" in stderr
    # It can commit nothing any more, and nobody waits for a lock.
    assert not Path(f"/proc/{java}").exists()
    found = results(root)
    assert {name: entry["status"] for name, entry in found.items()} == {
        "lost": "error",
        "below": "skipped",
        "beside": "skipped",
    }
    assert "whether its statement has committed is not known" in found["lost"]["message"]
