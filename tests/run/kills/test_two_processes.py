"""Builds as processes: two at the same time on one warehouse, and one that is killed in the middle.

What comes after them runs in this process, on the driver of the tests.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from merge_runner import Project
from tests.run.kills.kills import metadata_file, reader

pytestmark = pytest.mark.slow

# What a killed Spark leaves in its scratch folder goes with the test's folder.
PROFILE = "shop: {outputs: {dev: {master: 'local[2]', schema: processes, conf: {spark.local.dir: scratch}}}}"
WITH_ICEBERG = PROFILE.replace("conf:", "catalogs: {ice: {type: embedded}}, conf:")
MODELS = ("one", "two", "three")
COUNTING = """
    merge into {{ this }} as t using (select id as k from range({{ var('from') }}, {{ var('to') }})) as s on t.k = s.k
    when matched then update set t.times = t.times + 1
    when not matched then insert (k, times) values (s.k, 1)
"""
ONE_AFTER_ANOTHER = [(k, 2 if 40 <= k < 60 else 1) for k in range(100)]
"""The rows of each table after both builds."""
REPLACED = "{{ config(materialized='table') }}\nselect k, times from {{ ref('one') }}"


@pytest.fixture
def start():
    """Starts `merge-runner` in a process group of its own; what is left of all groups ends with the test."""
    processes = []

    def run(root, command, target_path, **variables):
        log = root / f"{target_path}.log"
        words = [
            command,
            *(["--no-lint"] if command == "build" else []),
            "--target-path",
            target_path,
            "--vars",
            json.dumps(variables),
        ]
        with log.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "merge_runner", *words],
                cwd=root,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        processes.append(process)
        return process, log

    yield run
    for process in processes:
        kill(process)


def kill(process):
    """Ends a process with all that it started: its JVM belongs to its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def succeeds(started):
    process, log = started
    assert process.wait(timeout=240) == 0, log.read_text()


def results(target):
    return json.loads((target / "run_results.json").read_text())


def events(target):
    return [json.loads(line) for line in (target / "journal.jsonl").read_text().splitlines()]


def commits(table):
    """What Delta's log says of each commit: version, operation, and the invocation that its stamp names."""
    for path in sorted((table / "_delta_log").glob("*.json")):
        for line in path.read_text().splitlines():
            info = json.loads(line).get("commitInfo")
            if info is not None:
                yield (
                    int(path.stem),
                    info["operation"],
                    json.loads(info["userMetadata"])["merge_runner"]["invocation_id"],
                )


ICEBERG = [f"ice_{name}" for name in MODELS]
BOTH = {
    **{f"models/{name}.sql": COUNTING for name in MODELS},
    **{f"models/{name}.sql": "{{ config(format='iceberg') }}" + COUNTING for name in ICEBERG},
    "models/replaced.sql": REPLACED,
    "models/ice_replaced.sql": REPLACED.replace("'table'", "'table', format='iceberg'").replace("'one'", "'ice_one'"),
}
"""The models that both builds write, in Delta's tables and in the embedded Iceberg catalog."""


def test_two_builds_at_once_lose_no_commit_and_end_as_one_after_another(make_project, start, spark):
    root = make_project({"profiles.yml": WITH_ICEBERG, **BOTH})
    started = [
        start(root, "run", "first", **{"from": 0, "to": 60}),
        start(root, "run", "second", **{"from": 40, "to": 100}),
    ]
    for one in started:
        succeeds(one)
    schema = root / "warehouse" / "processes"
    both = {results(root / target)["metadata"]["invocation_id"] for target in ("first", "second")}
    assert len(both) == 2
    for name in MODELS:
        history = list(commits(schema / name))
        assert [version for version, *_ in history] == [0, 1, 2]
        assert [operation for _, operation, _ in history] == ["CREATE TABLE", "MERGE", "MERGE"]
        assert {invocation for _, operation, invocation in history if operation == "MERGE"} == both
    assert {invocation for *_, invocation in commits(schema / "replaced")} == both
    for target in ("first", "second"):
        assert {entry["status"] for entry in results(root / target)["results"]} == {"success"}
        # The embedded catalog lets one writer of a table in at a time.
        retried = [event["name"] for event in events(root / target) if event["event"] == "node_retried"]
        assert not [name for name in retried if name.startswith("ice_")]
    rows = reader(spark)
    for name in MODELS:
        assert sorted(rows(schema / name, "delta", "k, times")) == ONE_AFTER_ANOTHER
    for name in ICEBERG:
        assert sorted(rows(metadata_file(root / "warehouse/ice.db", name), "iceberg", "k, times")) == ONE_AFTER_ANOTHER


@pytest.mark.nightly
def test_a_killed_build_leaves_nothing_that_blocks_or_spoils_the_next(make_project, start, driver):
    root = make_project(
        {
            "profiles.yml": PROFILE,
            "models/first.sql": """
                merge into {{ this }} as t using (select id, 'x' as name from range(5)) as s on t.id = s.id
                when matched and t.name <> s.name then update set *
                when not matched then insert *
            """,
            "models/wide.sql": """
                {{ config(materialized='table') }}
                select id, sha2(cast(id as string), 512) as text from range({{ var('rows') }})
                 where id >= (select count(*) - 5 from {{ ref('first') }})
            """,
            "tests/all_rows.sql": "select * from (select count(*) as n from {{ ref('wide') }}) where n <> {{ var('rows') }}",
        }
    )
    process, log = start(root, "build", "target", rows=2_000_000_000)
    wide = root / "warehouse" / "processes" / "wide"
    deadline = time.monotonic() + 120
    while not list(wide.glob("**/*.parquet")):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    kill(process)
    assert list(commits(wide)) == []
    assert [event["event"] for event in events(root / "target")].count("node_finished") == 1

    assert Project.load(root, vars={"rows": 10}).build(driver=driver, lint=False).ok
    assert {entry["unique_id"].split(".")[2]: entry["status"] for entry in results(root / "target")["results"]} == {
        "first": "success",
        "wide": "success",
        "all_rows": "pass",
    }
    killed, ended = (
        event["invocation_id"] for event in events(root / "target") if event["event"] == "invocation_started"
    )
    assert [
        (operation, invocation) for _, operation, invocation in commits(root / "warehouse" / "processes" / "first")
    ] == [
        ("CREATE TABLE", killed),
        ("MERGE", killed),
        ("MERGE", ended),
    ]
