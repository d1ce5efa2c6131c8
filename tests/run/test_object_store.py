"""Projects whose warehouse is in S3, on a real server: builds, streams, unit tests, two writers, kills."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.s3_server import KEYS, S3Server

pytest.importorskip("moto")
pytestmark = pytest.mark.nightly

WRITES = int(os.environ.get("S3_WRITES", "15"))
"""How often each of two writers writes; docs/guides/object-stores.md has the figures of a longer run."""
ENV = {**os.environ, **KEYS, "AWS_EC2_METADATA_DISABLED": "true", "CI": "true"}


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def lake(s3, make_project, request):
    """Makes a project whose warehouse is a folder of the bucket; gives its root and the folder's key."""

    def make(files, **more):
        key = request.node.name.partition("[")[0]
        profile = f"master: 'local[2]', schema: shop, warehouse: 's3a://{s3.bucket}/{key}', {s3.storage()}"
        return make_project({"profiles.yml": f"shop: {{outputs: {{dev: {{{profile}}}}}}}", **files}), key

    return make


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


def commits(s3, key):
    """The operations of a Delta table, by version."""
    logs = [each for each in s3.objects(f"{key}/_delta_log/0") if each.endswith(".json")]
    lines = [[json.loads(line) for line in s3.text(each).splitlines()] for each in sorted(logs)]
    return [next(each["commitInfo"] for each in found if "commitInfo" in each) for found in lines]


SHOP = {
    "models/properties.yml": """
        version: 2
        sources:
          - name: raw
            tables:
              - name: orders
                path: landing
                format: json
                stream: true
                columns: [{name: id, data_type: bigint}, {name: amount, data_type: bigint}]
        models:
          - name: day
            columns:
              - {name: id, data_type: bigint, data_tests: [not_null, unique]}
              - {name: dt, data_type: date}
        unit_tests:
          - name: a_row_is_updated
            model: day
            given:
              - {input: this, rows: [{id: 1, dt: 2024-01-01}]}
              - {input: ref('days'), rows: [{id: 1, dt: 2024-01-01}, {id: 2, dt: 2024-01-02}]}
            expect: {rows: [{id: 1, dt: 2024-01-01}, {id: 2, dt: 2024-01-02}]}
    """,
    "seeds/extra.csv": "id,name\n1,one\n2,two\n",
    "models/days.sql": "{{ config(materialized='view') }} select id, date'2024-01-01' + cast(id % 3 as int) as dt from range(9)",
    "models/day.sql": """
        {{ config(partition_by=['dt'], unique_key=['id']) }}
        merge into {{ this }} as t using (select * from {{ ref('days') }}) as s on t.dt = s.dt and t.id = s.id
        when matched then update set * when not matched then insert *
    """,
    "models/named.sql": """
        {{ config(materialized='table') }}
        select d.id, e.name from {{ ref('day') }} as d join {{ ref('extra') }} as e on d.id = e.id
    """,
    "models/sums.sql": """
        {{ config(scan='full') }}
        merge into {{ this }} as t using {{ source('raw', 'orders') }} as s on t.id = s.id
        when matched then update set amount = t.amount + s.amount when not matched then insert *
    """,
}


def test_a_project_lives_in_a_bucket(s3, lake):
    root, key = lake(SHOP)
    (root / "landing").mkdir()
    (root / "landing" / "one.json").write_text('{"id": 1, "amount": 5}\n{"id": 2, "amount": 7}\n')
    said = runner(root, "debug", "--spark")
    assert f"s3a://{s3.bucket}/{key}: can list, write, read, rename, put if absent and delete" in said
    assert s3.objects(f"{key}/") == []

    runner(root, "build", "--exclude", "sums", "--no-lint")
    assert [each["status"] for each in results(root).values()].count("success") == 4
    first = s3.objects(f"{key}/")
    assert f"{key}/shop/days.view.sql" in first
    assert {each.split("/")[1] for each in first} == {"shop", ".locks"}  # no table of a unit test
    # Another process knows the tables by their folders.
    runner(root, "run", "-s", "day")
    response = results(root)["day"]["adapter_response"]
    assert (response["rows_inserted"], response["files_scanned"], response["table_version"]) == (0, 3, 2)
    runner(root, "stream", "--available-now")
    assert f"{key}/.checkpoints/raw.orders/merge-runner.json" in s3.objects(f"{key}/.checkpoints/")
    (root / "landing" / "two.json").write_text('{"id": 1, "amount": 1}\n')
    runner(root, "stream", "--available-now")
    assert [each["operation"] for each in commits(s3, f"{key}/shop/sums")] == ["CREATE TABLE", "MERGE", "MERGE"]
    said = runner(root, "show", "--inline", "select id, amount from {{ ref('sums') }} order by id", "--output", "json")
    assert '"amount": 6' in said
    runner(root, "optimize", "-s", "day")


def test_what_is_missing_is_said(s3, lake):
    root, _ = lake({"models/m.sql": "{{ config(materialized='table') }} select 1 as id"})
    profile = (root / "profiles.yml").read_text()
    (root / "profiles.yml").write_text(profile.replace(f"s3a://{s3.bucket}/", "s3a://nowhere/"))
    said = runner(root, "debug", "--spark", status=2)
    assert "s3a://nowhere/test_what_is_missing_is_said: cannot list" in said
    assert "create the bucket" in said
    (root / "profiles.yml").write_text(profile)
    without = {name: text for name, text in ENV.items() if not name.startswith("AWS_") or "DISABLED" in name}
    said = runner(root, "build", "--no-lint", status=1, env={**without, "HOME": str(root)})
    assert "AWS_ACCESS_KEY_ID" in said


MERGED = {
    "models/counts.sql": """
        merge into {{ this }} as t using (select id, cast(1 as bigint) as n from range(5)) as s on t.id = s.id
        when matched then update set n = t.n + 1 when not matched then insert *
    """
}


@pytest.mark.parametrize("name", ["raw", "merge"])
def test_two_writers_lose_nothing_and_do_nothing_twice(s3, lake, driver_of, name):
    root, key = lake(MERGED)
    warehouse = f"s3a://{s3.bucket}/{key}"
    if name == "raw":
        with driver_of(root) as session:
            session.sql(f"create table delta.`{warehouse}/raw/t` (name string, n int) using delta")
    script = str(Path(__file__).with_name("s3_writer.py"))
    writers = [
        subprocess.Popen([sys.executable, script, root, f"{name}{each}", str(WRITES)], env=ENV, stderr=subprocess.PIPE)
        for each in (1, 2)
    ]
    said = [each.communicate()[1].decode() for each in writers]
    assert [each.returncode for each in writers] == [0, 0], said
    operations = [each["operation"] for each in commits(s3, f"{key}/{'raw/t' if name == 'raw' else 'shop/counts'}")]
    with driver_of(root) as session:
        if name == "raw":
            rows = session.sql(f"select name, n from delta.`{warehouse}/raw/t`").collect()
            assert sorted(map(tuple, rows)) == [(f"raw{each}", n) for each in (1, 2) for n in range(WRITES)]
        else:
            rows = session.sql(f"select id, n from delta.`{warehouse}/shop/counts`").collect()
            assert sorted(map(tuple, rows)) == [(id, 2 * WRITES) for id in range(5)]
    assert operations == ["CREATE TABLE", *["WRITE" if name == "raw" else "MERGE"] * (2 * WRITES)]


@pytest.fixture
def driver_of():
    """Opens a session of a driver of its own for a project."""
    from contextlib import contextmanager

    from merge_runner import Project
    from merge_runner.engine.startup import start_driver

    @contextmanager
    def opened(root):
        os.environ |= KEYS
        driver = start_driver(Project.load(root).prepared.files.profile, root, root / "own.log", ENV)
        try:
            with driver.session() as session:
                yield session
        finally:
            driver.stop()

    return opened


def test_a_batch_that_is_killed_is_done_once(s3, lake, driver_of):
    """Killed at any point in time, a batch that runs again is in the table once."""
    root, key = lake(MERGED)
    chance, killed = random.Random(7), 0
    for batch in range(1, 5):
        process = subprocess.Popen(
            [sys.executable, "-m", "merge_runner", "build", "--no-lint", "--batch-id", str(batch)],
            cwd=root,
            env=ENV,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # From when the lock is taken on.
        folder = f"{key}/.locks/shop.counts/"
        before = s3.objects(folder)
        while process.poll() is None and s3.objects(folder) == before:
            time.sleep(0.05)
        time.sleep(chance.uniform(0, 8))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
        process.wait()
        runner(root, "build", "--no-lint", "--batch-id", str(batch))
    assert killed
    with driver_of(root) as session:
        rows = session.sql(f"select id, n from delta.`s3a://{s3.bucket}/{key}/shop/counts`").collect()
    assert sorted(map(tuple, rows)) == [(id, 4) for id in range(5)]


def test_a_store_without_conditional_writes_is_refused(tmp_path, make_project, monkeypatch):
    monkeypatch.setenv("S3_IGNORES_CONDITIONS", "1")
    with S3Server(tmp_path) as server:
        profile = f"master: 'local[2]', schema: shop, warehouse: 's3a://lake/x', {server.storage()}"
        root = make_project({"profiles.yml": f"shop: {{outputs: {{dev: {{{profile}}}}}}}", **MERGED})
        said = runner(root, "build", "--no-lint", status=1)
        assert "ignores If-None-Match" in said
        assert "cannot put if absent" in runner(root, "debug", "--spark", status=2)
        assert [each for each in server.objects() if each.endswith(".parquet")] == []


def test_what_a_killed_create_leaves_is_no_table(s3, lake):
    """Files without a commit, and a log without one, are in the folder of a table that is yet to be created."""
    text = MERGED["models/counts.sql"]
    root, key = lake({f"models/{name}.sql": text for name in ("files", "log", "both")})
    for left in ("files/part-0.snappy.parquet", "log/_delta_log/", "both/_delta_log/", "both/part-0.snappy.parquet"):
        s3.client().put_object(Bucket=s3.bucket, Key=f"{key}/shop/{left}", Body=b"")
    said = runner(root, "build", "--no-lint", status=1)
    found = {name: each["status"] for name, each in results(root).items()}
    assert found == {"log": "success", "files": "error", "both": "error"}
    assert "shop/files has files, and is no Delta table" in said
