"""Projects whose warehouse is in Azure's or Google's store, on an emulator of each.

What the emulators do otherwise is in `tests/azure_server.py` and `tests/gcs_server.py`.
"""

import base64
import json
import os

import pytest

from tests.azure_server import AZURITE, AzureServer
from tests.connect_server import free_port
from tests.environments import node_with, python_with
from tests.gcs_server import EMULATOR, GcsServer
from tests.run.stores.spark_sql import spark_sql
from tests.run.stores.store_processes import (
    CHANGED,
    COUNTED,
    ENV,
    MERGED,
    operations,
    results,
    runner,
    shows_what_has_changed,
    succeeds,
    writer,
)

pytestmark = pytest.mark.nightly

WRITES = int(os.environ.get("STORE_WRITES", "10"))
"""How often each of two writers writes."""
WRONG_KEY = base64.b64encode(b"no key of this account").decode()
SERVICE_ACCOUNT = "spark.hadoop.fs.gs.auth.service.account.enable"
MERGES = {
    **MERGED,
    "models/sums.sql": """
        {{ config(scan='full') }}
        merge into {{ this }} as t using {{ ref('counts') }} as s on t.id = s.id
        when matched then update set n = s.n when not matched then insert *
    """,
}


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    with AzureServer(node_with(AZURITE), tmp_path_factory.mktemp("azure"), free_port()) as server:
        yield server


@pytest.fixture(scope="module")
def gcs(tmp_path_factory):
    with GcsServer(python_with(EMULATOR), tmp_path_factory.mktemp("gcs"), free_port()) as server:
        yield server


@pytest.fixture(params=["azure", "gcs"])
def server(request):
    return request.getfixturevalue(request.param)


def shop(make_project, server, warehouse, files, **conf):
    output = {"master": "local[2]", "schema": "shop", "warehouse": warehouse, "conf": {**server.conf(), **conf}}
    return make_project({"profiles.yml": json.dumps({"shop": {"outputs": {"dev": output}}}), **files})


def test_a_project_lives_in_the_store(server, make_project):
    warehouse = server.place("project")
    root = shop(make_project, server, warehouse, MERGES)
    said = runner(root, "debug", "--spark")
    assert f"{warehouse}: can list, write, read, rename, put if absent and delete" in said
    assert server.objects("project/") == []

    runner(root, "build", "--no-lint")
    runner(root, "build", "--no-lint")  # Another process knows the tables by their folders.
    response = results(root)["counts"]["adapter_response"]
    assert (response["rows_inserted"], response["rows_updated"]) == (0, 5)
    for table in ("counts", "sums"):
        assert operations(server, f"project/shop/{table}") == ["CREATE TABLE", "MERGE", "MERGE"]
        [rows] = spark_sql(root, COUNTED.format(table=f"delta.`{warehouse}/shop/{table}`"), env=ENV)
        assert rows == [(id, 2) for id in range(5)]


def test_a_build_leaves_out_what_has_not_changed(azure, make_project):
    warehouse = azure.place("changed")
    shows_what_has_changed(shop(make_project, azure, warehouse, CHANGED), warehouse)


def test_two_drivers_insert_and_no_commit_is_lost(server, make_project):
    """Without any lock of the runner: what keeps the commits apart is Delta's log store for the scheme."""
    warehouse = server.place("drivers")
    root = shop(make_project, server, warehouse, MERGED)
    table = f"delta.`{warehouse}/raw/t`"
    spark_sql(root, f"create table {table} (name string, n int) using delta", env=ENV)
    for each in [writer(root, name, 1, WRITES) for name in ("raw1", "raw2")]:
        succeeds(each)
    [rows] = spark_sql(root, f"select name, n from {table}", env=ENV)
    assert sorted(rows) == [(name, n) for name in ("raw1", "raw2") for n in range(1, WRITES + 1)]
    assert operations(server, "drivers/raw/t") == ["CREATE TABLE", *["WRITE"] * (2 * WRITES)]


def test_two_runners_merge_one_table(server, make_project):
    warehouse = server.place("runners")
    root = shop(make_project, server, warehouse, MERGED)
    for each in [writer(root, name, 1, WRITES) for name in ("merge1", "merge2")]:
        succeeds(each)
    [rows] = spark_sql(root, COUNTED.format(table=f"delta.`{warehouse}/shop/counts`"), env=ENV)
    assert rows == [(id, 2 * WRITES) for id in range(5)]
    assert operations(server, "runners/shop/counts") == ["CREATE TABLE", *["MERGE"] * (2 * WRITES)]


def test_a_create_that_was_killed_before_its_rename_is_no_table(azure, make_project):
    """What it leaves is a hidden file in the log."""
    root = shop(make_project, azure, azure.place("killed"), MERGED)
    left = "killed/shop/counts/_delta_log/.00000000000000000000.json.0.tmp"
    azure.put(left, "{}")
    runner(root, "build", "--no-lint")
    assert operations(azure, "killed/shop/counts") == ["CREATE TABLE", "MERGE"]
    assert left not in azure.objects("killed/shop/counts/")


def test_a_bucket_that_is_not_there_is_one_error(server, make_project):
    """Both clients report it as they report a folder that is not there, which is where a first run begins."""
    warehouse = server.place("x").replace("lake", "nowhere")
    root = shop(make_project, server, warehouse, MERGED)
    for words in (["debug", "--spark"], ["build", "--no-lint"]):
        said = runner(root, *words, status=2)
        assert f"{warehouse}: cannot list: {warehouse.removesuffix('x')} does not exist" in said
        assert "create it, or correct its name" in said
        assert "Traceback" not in said


@pytest.mark.parametrize(
    ("store", "variables", "conf", "words"),
    [
        ("azure", {"AZURE_STORAGE_KEY": WRONG_KEY}, {}, ["check the key or token of the account"]),
        ("azure", {"AZURE_STORAGE_KEY": None}, {}, ["give the environment a key of the account: AZURE_STORAGE_KEY"]),
        ("gcs", {}, {SERVICE_ACCOUNT: "true"}, ["set GOOGLE_APPLICATION_CREDENTIALS"]),
    ],
)
def test_keys_that_are_wrong_or_missing_are_one_error(store, variables, conf, words, request, make_project):
    server = request.getfixturevalue(store)
    root = shop(make_project, server, server.place("x"), MERGED, **conf)
    env = {name: text for name, text in (ENV | variables).items() if text is not None}
    said = runner(root, "build", "--no-lint", status=2, env=env)
    assert f"{server.place('x')}: cannot list: " in said
    assert [word for word in words if word not in said] == [], said
    assert "Traceback" not in said
