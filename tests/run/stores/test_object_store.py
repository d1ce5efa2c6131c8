"""Projects whose warehouse is in S3, on a real server: builds, streams, unit tests, two writers, kills."""

import json
import os
import random
import time

import pytest

from merge_runner.engine.spark.jars import runtime_folder
from merge_runner.engine.spark.storage.leases import LEASE
from merge_runner.formats.lines import installed_line
from tests.connect_server import free_port
from tests.run.stores.spark_sql import spark_sql
from tests.run.stores.store_processes import (
    CHANGED,
    COUNTED,
    ENV,
    MERGED,
    commits,
    kill,
    lines,
    operations,
    results,
    runner,
    shows_what_has_changed,
    started,
    succeeds,
    until,
    writer,
)
from tests.s3_server import S3Server

pytest.importorskip("moto")
pytestmark = pytest.mark.slow

WRITES = int(os.environ.get("S3_WRITES", "15"))
"""How often each of two writers writes; docs/guides/object-stores.md has the figures of a longer run."""
CACHE = runtime_folder(os.environ)
KILLS = int(os.environ.get("S3_KILLS", "3"))
"""How often a runner is killed."""


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


@pytest.mark.nightly
@pytest.mark.lines
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


@pytest.mark.nightly
def test_a_build_leaves_out_what_has_not_changed(s3, lake):
    root, key = lake(CHANGED)
    shows_what_has_changed(root, f"s3a://{s3.bucket}/{key}")


MISTAKES = {
    "bucket": (
        ("s3a://lake/", "s3a://nowhere/"),
        {},
        ("Bucket does not exist", "create the bucket, or correct its name"),
    ),
    "no_server": (("", ""), {}, ("Connection refused", "`endpoint`")),
    "no_host": (("http://127.0.0.1:", "http://no-such-host.invalid:"), {}, ("no-such-host.invalid", "endpoint")),
    "no_tls": (("http://127.0.0.1:", "https://127.0.0.1:"), {}, ("endpoint",)),
    "no_keys": (("", ""), {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}, ("AWS_ACCESS_KEY_ID",)),
}
"""What is written otherwise in profiles.yml, what is in the environment, and what is said."""


@pytest.mark.nightly
@pytest.mark.parametrize(("mistake", "command"), [*((each, "debug") for each in MISTAKES), ("no_server", "build")])
def test_what_is_missing_is_said_at_once(s3, lake, mistake, command):
    (written, instead), variables, words = MISTAKES[mistake]
    root, _ = lake({"models/m.sql": "{{ config(materialized='table') }} select 1 as id"})
    profile = (root / "profiles.yml").read_text()
    if mistake == "no_server":
        instead = f"http://127.0.0.1:{free_port()}/"
        written = f"{s3.endpoint}"
    (root / "profiles.yml").write_text(profile.replace(written, instead))
    env = {
        name: text
        for name, text in (ENV | {"HOME": str(root), "MERGE_RUNNER_CACHE_DIR": str(CACHE)} | variables).items()
        if text is not None
    }
    begun = time.monotonic()
    said = runner(root, command, *(["--spark"] if command == "debug" else ["--no-lint"]), status=2, env=env)
    assert time.monotonic() - begun < 90
    assert ": cannot list: " in said
    assert "Traceback" not in said
    assert [word for word in words if word not in said] == [], said


@pytest.mark.nightly
def test_keys_that_the_store_does_not_know_are_reported(tmp_path, make_project, monkeypatch):
    monkeypatch.setenv("INITIAL_NO_AUTH_ACTION_COUNT", "1")  # moto makes the bucket, and looks at keys from then on
    with S3Server(tmp_path) as server:
        profile = f"master: 'local[2]', schema: shop, warehouse: 's3a://lake/x', {server.storage()}"
        root = make_project({"profiles.yml": f"shop: {{outputs: {{dev: {{{profile}}}}}}}", **MERGED})
        for words in (["debug", "--spark"], ["build", "--no-lint"]):
            said = runner(root, *words, status=2)
            assert "s3a://lake/x: cannot list: " in said
            assert "give the key the right to list, read, write and delete objects there" in said


@pytest.mark.nightly
@pytest.mark.lines
def test_two_drivers_insert_and_no_commit_is_lost(s3, lake):
    """Without any lock of the runner: what keeps the commits apart is the log store."""
    root, key = lake(MERGED)
    place = f"s3a://{s3.bucket}/{key}/raw/t"
    spark_sql(root, f"create table delta.`{place}` (name string, n int) using delta", env=ENV)
    for each in [writer(root, name, 1, WRITES) for name in ("raw1", "raw2")]:
        succeeds(each)
    [rows] = spark_sql(root, f"select name, n from delta.`{place}`", env=ENV)
    assert sorted(rows) == [(name, n) for name in ("raw1", "raw2") for n in range(1, WRITES + 1)]
    assert operations(s3, f"{key}/raw/t") == ["CREATE TABLE", *["WRITE"] * (2 * WRITES)]


@pytest.mark.nightly
@pytest.mark.lines
def test_two_runners_merge_one_delta_table(s3, lake):
    root, key = lake(MERGED)
    for each in [writer(root, name, 1, WRITES) for name in ("merge1", "merge2")]:
        succeeds(each)
    [rows] = spark_sql(root, COUNTED.format(table=f"delta.`s3a://{s3.bucket}/{key}/shop/counts`"), env=ENV)
    assert rows == [(id, 2 * WRITES) for id in range(5)]
    assert operations(s3, f"{key}/shop/counts") == ["CREATE TABLE", *["MERGE"] * (2 * WRITES)]


@pytest.mark.nightly
@pytest.mark.lines
@pytest.mark.skipif("iceberg" not in installed_line().formats, reason="Iceberg has no build for this line of Spark")
def test_two_runners_merge_one_iceberg_table(s3, make_project, tmp_path, request):
    """The catalog, a database, decides; each runner has its own machine as it were, and no lock of the other."""
    uri = f"jdbc:sqlite:{tmp_path}/lake.db?journal_mode=WAL&busy_timeout=60000"
    place = f"s3a://{s3.bucket}/{request.node.name}"
    settings = f"{{type: jdbc, uri: '{uri}', warehouse: '{place}', jdbc.schema-version: V1, cache-enabled: 'false'}}"
    profile = f"master: 'local[2]', schema: lake.shop, {s3.storage()}, catalogs: {{lake: {settings}}}"
    files = {"profiles.yml": f"shop: {{outputs: {{dev: {{{profile}}}}}}}", **MERGED}
    roots = [make_project(files, "iceberg") for _ in range(2)]
    spark_sql(roots[0], "create namespace lake.shop", "create table lake.shop.counts (id bigint, n bigint)", env=ENV)
    for each in [writer(root, f"merge{number}", 1, WRITES) for number, root in enumerate(roots)]:
        succeeds(each)
    rows, snapshots = spark_sql(
        roots[0],
        COUNTED.format(table="lake.shop.counts"),
        "select count(*), count(distinct summary['merge_runner']) from lake.shop.counts.snapshots",
        env=ENV,
    )
    assert rows == [(id, 2 * WRITES) for id in range(5)]
    assert snapshots[0][0] == 2 * WRITES


def holder(s3, key):
    """What the newest file of the lock of `shop.counts` says, with its own key; None: there is none."""
    found = s3.objects(f"{key}/.locks/shop.counts/")
    return (found[-1], json.loads(s3.text(found[-1]))) if found else None


def test_a_runner_that_is_killed_in_a_merge_is_not_waited_for(s3, lake):
    """The second one has Spark running and waits for the lock, while the first is killed in the middle of its MERGE."""
    root, key = lake(MERGED)
    (root / "gate").touch()
    second = writer(root, "batch", 1, 1)
    words = ["build", "--no-lint", "--batch-id", "1", "--vars", "{slow: true}"]
    first = started(root, "-m", "merge_runner", *words)
    until(lambda: (found := holder(s3, key)) is not None and found[1]["process"] == first.pid, first)
    (root / "gate").unlink()
    until(lambda: lines(root / "batch.messages.txt"), second)
    kill(first)
    succeeds(second)
    [waited] = lines(root / "batch.messages.txt")
    assert waited.startswith(f"node_waiting shop.counts is being written by process {first.pid} on ")
    assert operations(s3, f"{key}/shop/counts") == ["CREATE TABLE", "MERGE"]


@pytest.mark.nightly
def test_batches_that_are_killed_are_done_once(s3, lake):
    """Killed at any point in time, a batch that runs again is in the table once; the lease of the last one runs out."""
    root, key = lake(MERGED)
    chance, table, done = random.Random(7), f"{key}/shop/counts", root / "batch.txt"
    for _ in range(KILLS):
        first = len(lines(done)) + 1
        process = writer(root, "batch", first, 1000)
        until(lambda first=first: len(lines(done)) > first, process)
        before = s3.objects(table)
        until(lambda before=before: s3.objects(table) != before, process)
        time.sleep(chance.uniform(0, 2))
        kill(process)
    lock, said = holder(s3, key)
    s3.client().put_object(
        Bucket=s3.bucket, Key=lock, Body=json.dumps({**said, "host": "elsewhere", "held": True}).encode()
    )
    last = len(lines(done)) + 1
    begun = time.monotonic()
    succeeds(writer(root, "batch", last, last))
    assert time.monotonic() - begun > LEASE
    [rows] = spark_sql(root, COUNTED.format(table=f"delta.`s3a://{s3.bucket}/{table}`"), env=ENV)
    assert rows == [(id, last) for id in range(5)]


@pytest.mark.nightly
def test_a_store_without_conditional_writes_is_refused(tmp_path, make_project, monkeypatch):
    monkeypatch.setenv("S3_IGNORES_CONDITIONS", "1")
    with S3Server(tmp_path) as server:
        profile = f"master: 'local[2]', schema: shop, warehouse: 's3a://lake/x', {server.storage()}"
        root = make_project({"profiles.yml": f"shop: {{outputs: {{dev: {{{profile}}}}}}}", **MERGED})
        said = runner(root, "build", "--no-lint", status=1)
        assert "ignores If-None-Match" in said
        assert "cannot put if absent" in runner(root, "debug", "--spark", status=2)
        assert [each for each in server.objects() if each.endswith(".parquet")] == []


@pytest.mark.nightly
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
