"""Commands and writers of projects whose warehouse is in an object store, and what they leave there.

`server` is one of `tests/s3_server.py`, `tests/azure_server.py` and `tests/gcs_server.py`.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.azure_server import KEY
from tests.run.stores.spark_sql import spark_sql
from tests.s3_server import KEYS

ENV = {**os.environ, **KEYS, "AWS_EC2_METADATA_DISABLED": "true", "AZURE_STORAGE_KEY": KEY, "CI": "true"}
"""The environment of each process: the keys of all servers."""

MERGED = {
    "models/counts.sql": """
        {{ config(retries=100) }}
        merge into {{ this }} as t using (
            select id, cast(1 as bigint) as n from range(5)
            {%- if var('slow', false) %} where reflect('java.lang.Thread', 'sleep', 60000L) is null {%- endif %}
        ) as s on t.id = s.id
        when matched then update set n = t.n + 1 when not matched then insert *
    """
}
"""Adds 1 to each row; with the var `slow` it does not end."""
CHANGED = {
    "seeds/raw.csv": "id,n\n" + "".join(f"{id},{id % 3}\n" for id in range(9)),
    "models/some.sql": "{{ config(materialized='view') }} select id, n from {{ ref('raw') }} where id < 5",
    "models/kept.sql": """
        merge into {{ this }} as t using (select * from {{ ref('some') }}) as s on t.id = s.id
        when matched and t.n <> s.n then update set * when not matched then insert *
    """,
}
"""Each node of it changes nothing where nothing has changed."""
COUNTED = "select id, n from {table} order by id"


def started(root, *words):
    """Starts a process in a group of its own."""
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=root,
        env=ENV,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def writer(root, name, first, last):
    return started(root, Path(__file__).with_name("store_writer.py"), root, name, str(first), str(last))


def succeeds(process):
    said = process.communicate()[1]
    assert process.returncode == 0, said


def kill(process):
    """End a runner with its JVM."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def until(happens, process, seconds=240):
    deadline = time.monotonic() + seconds
    while not happens():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def lines(file):
    return file.read_text().splitlines() if file.exists() else []


def runner(root, *words, status=0, env=ENV):
    """What a command prints, and its results."""
    done = subprocess.run(
        [sys.executable, "-m", "merge_runner", *words], cwd=root, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def results(root):
    found = json.loads((root / "target" / "run_results.json").read_text())["results"]
    return {each["unique_id"].partition("shop.")[2]: each for each in found}


def commits(server, key):
    """The operations of a Delta table, by version."""
    logs = [each for each in server.objects(f"{key}/_delta_log/0") if each.endswith(".json")]
    lines = [[json.loads(line) for line in server.text(each).splitlines()] for each in sorted(logs)]
    return [next(each["commitInfo"] for each in found if "commitInfo" in each) for found in lines]


def operations(server, key):
    return [each["operation"] for each in commits(server, key)]


def shows_what_has_changed(root, warehouse):
    """Build CHANGED again and again, each time with Spark: a writer's rows and a view's text are seen, and nothing else."""
    env = {name: text for name, text in ENV.items() if name != "MERGE_RUNNER_REUSE"}
    ran = []
    for edit in ("", "", "a row", "", "the view"):
        if edit == "a row":
            spark_sql(root, f"update delta.`{warehouse}/shop/raw` set n = 9 where id = 1", env=env)
        elif edit == "the view":
            path = root / "models/some.sql"
            path.write_text(path.read_text().replace("id < 5", "id < 7"))
        said = runner(root, "build", "--no-lint", env=env)
        found = {name: each["status"] for name, each in results(root).items()}
        assert "Spark is up" in said
        ran.append(sorted(name for name, status in found.items() if status == "success"))
    everything, nothing = ["kept", "raw", "some"], []
    assert ran == [everything, nothing, ["kept", "raw"], nothing, ["kept", "some"]]
    [rows] = spark_sql(root, f"select id, n from delta.`{warehouse}/shop/kept` order by id", env=env)
    assert rows == [(id, id % 3) for id in range(7)]
