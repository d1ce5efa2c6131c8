"""A standalone cluster that loses executors and workers under a build: Spark goes on, or the build says what it waits for."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.standalone_cluster import Cluster, until

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc"),
]

FILES = {
    "profiles.yml": """
        shop:
          outputs:
            dev:
              master: "{{ env_var('SPARK_MASTER') }}"
              schema: shop
              warehouse: warehouse
              threads: 1
              jvm: fast-start
              conf:
                spark.executor.memory: 512m
                spark.executor.extraJavaOptions: >-
                  -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={{ env_var('BEGUN') }}
                spark.sql.shuffle.partitions: 1
                spark.databricks.delta.snapshotPartitions: 1
    """,
    # It adds, so that rows of a lost task that count twice are seen; each of its tasks leaves a file, and takes a while.
    "models/fct.sql": """
        merge into {{ this }} as t
        using (select id, 1 as n from range(0, 3, 1, 3)
                where reflect('java.io.File', 'createTempFile', 'begun', cast(id as string)) is not null
                  and reflect('java.lang.Thread', 'sleep', 1500L) is not null) as s
           on t.id = s.id
        when matched then update set n = t.n + s.n
        when not matched then insert (id, n) values (s.id, s.n)
    """,
    "models/m.yml": """
        models: [{name: fct, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}]}]
    """,
}
IMPATIENT = (sys.executable, str(Path(__file__).with_name("impatient.py")), "4.0")
"""Reports trouble after so many seconds."""


def executors(worker):
    """The JVMs of executors, which a worker starts as its children."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == worker.pid and "CoarseGrainedExecutorBackend" in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def test_a_build_bears_the_loss_of_an_executor_and_says_what_it_waits_for_without_any(make_project, tmp_path):
    root = make_project(FILES)
    for name in ("cluster", "begun"):
        (tmp_path / name).mkdir()
    with Cluster(tmp_path / "cluster") as cluster:
        worker = cluster.add_worker("worker1")
        cluster.wait_for("worker1")
        log, spark_log = tmp_path / "build.log", root / "target/logs/spark.log"
        with log.open("w") as output:
            build = subprocess.Popen(
                [*IMPATIENT, "build", "--no-lint"],
                cwd=root,
                env={**os.environ, "SPARK_MASTER": cluster.address, "BEGUN": str(tmp_path / "begun")},
                stdout=output,
                stderr=subprocess.STDOUT,
            )

        def begun(tasks):
            deadline = time.monotonic() + 120
            while len(list((tmp_path / "begun").glob("begun*"))) < tasks:
                assert build.poll() is None, log.read_text()
                assert time.monotonic() < deadline
                time.sleep(0.1)

        try:
            begun(1)
            os.kill(executors(worker)[0], signal.SIGKILL)
            until(spark_log, r"Lost task .*ExecutorLostFailure .*Command exited with code 137")
            # Another executor takes its place, and is lost with its worker.
            begun(2)
            others = executors(worker)
            worker.kill()
            for executor in others:
                with suppress(ProcessLookupError):  # it has seen that its worker is gone
                    os.kill(executor, signal.SIGKILL)
            until(log, r"for \d+ s: the cluster gives this run no executor")
            assert build.poll() is None
            cluster.add_worker("worker2")
            assert build.wait(timeout=90) == 0, log.read_text()
        finally:
            build.kill()
            build.wait()
    (entry,) = json.loads((root / "target/run_results.json").read_text())["results"]
    done = entry["adapter_response"]
    assert (done["rows_inserted"], done["rows_updated"], done["attempts"]) == (3, 0, 1)
    commits = (root / "warehouse/shop/fct/_delta_log").glob("*.json")
    assert sum('"operation":"MERGE"' in commit.read_text() for commit in commits) == 1
