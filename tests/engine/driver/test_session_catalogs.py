"""Sessions leave no connection of an embedded catalog behind."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import os, sys
from pathlib import Path
from merge_runner.engine.startup import start_driver
from merge_runner.project.schema.profile import Profile

root = Path(sys.argv[1])
profile = Profile("t", "t", schema="t", master="local[2]", warehouse="warehouse", catalogs={"ice": {"type": "embedded"}})
driver = start_driver(profile, root, root / "spark.log", os.environ)

def held():
    jvm = driver.spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    found = 0
    for name in os.listdir(f"/proc/{jvm}/fd"):
        try:
            found += "ice.db" in os.readlink(f"/proc/{jvm}/fd/{name}")
        except OSError:
            pass
    return found

with driver.session() as session:
    session.sql("create schema ice.t")
    session.sql("create table ice.t.a (id bigint) using iceberg")
    inside = held()
counts = []
for number in range(3):
    with driver.session() as session:
        session.sql(f"insert into ice.t.a values ({number})")
    counts.append(held())
with driver.session() as session:
    rows = session.table("ice.t.a").count()
driver.stop()
print(inside > 0, counts, rows)
"""


def test_connections_end_with_their_session(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env={**os.environ, "MERGE_RUNNER_WARM": "0"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stdout.split("\n")[0] == "True [0, 0, 0] 3", done.stdout + done.stderr
