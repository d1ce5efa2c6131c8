"""Confs and jars of object stores, and the log store that keeps two commits to S3 apart."""

import hashlib
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from merge_runner.engine.spark.confs import jar_groups, spark_confs
from merge_runner.engine.spark.jars import fetch_jars, pinned
from merge_runner.engine.spark.storage.object_stores import LOG_STORE, store_confs
from merge_runner.errors import ProblemsError
from merge_runner.formats.lines import LINES
from merge_runner.project.schema.profile import Profile
from merge_runner.project.schema.storage import Storage

ROOT = Path("/srv/shop")
S3A = "spark.hadoop.fs.s3a"


def profile(**given):
    return Profile("shop", "prod", "shop", **{"warehouse": "s3a://bucket/lake", **given})


@pytest.mark.parametrize(
    ("given", "groups"),
    [
        ({}, ("delta", "s3", "log-store")),
        ({"warehouse": "warehouse"}, ("delta",)),
        ({"warehouse": "hdfs://host/lake"}, ("delta",)),
        (
            {"warehouse": None, "catalogs": {"ice": {"type": "jdbc", "warehouse": "s3a://b/ice"}}},
            ("delta", "iceberg", "s3", "log-store"),
        ),
        (
            {"warehouse": None, "catalogs": {"ice": {"type": "jdbc", "uri": "jdbc:sqlite:a.db", "warehouse": "ice"}}},
            ("delta", "iceberg", "sqlite"),
        ),
        ({"warehouse": None, "conf": {"spark.sql.warehouse.dir": "s3a://b/l"}}, ("delta", "s3", "log-store")),
        ({"catalogs": {"ice": {"type": "rest", "warehouse": "s3a://b/ice"}}}, ("delta", "iceberg", "s3", "log-store")),
    ],
)
def test_the_jars_of_a_profile_are_those_of_its_stores(given, groups):
    assert jar_groups(profile(**given)) == groups


def test_a_warehouse_in_s3_has_its_confs():
    storage = Storage("http://127.0.0.1:9000", path_style=True, region="eu-central-1")
    confs = spark_confs(profile(storage=storage), ROOT, [])
    assert confs["spark.sql.warehouse.dir"] == "s3a://bucket/lake"
    assert confs["spark.sql.catalogImplementation"] == "in-memory"
    assert confs["spark.delta.logStore.s3a.impl"] == LOG_STORE
    assert {key: value for key, value in confs.items() if key.startswith(S3A) and "credentials" not in key} == {
        f"{S3A}.endpoint": "http://127.0.0.1:9000",
        f"{S3A}.connection.ssl.enabled": "false",
        f"{S3A}.path.style.access": "true",
        f"{S3A}.endpoint.region": "eu-central-1",
    }


def test_the_profile_s_own_confs_count_more():
    own = {"spark.delta.logStore.s3a.impl": "io.delta.storage.S3DynamoDBLogStore", f"{S3A}.endpoint": "https://other"}
    confs = spark_confs(profile(storage=Storage("https://one"), conf=own), ROOT, [])
    assert own.items() <= confs.items()


def test_a_folder_of_this_machine_has_no_such_confs():
    assert store_confs(profile(warehouse="warehouse")) == {}


HOST = "acme.dfs.core.windows.net"
ACCOUNT = "spark.hadoop.fs.azure.account"
APPLICATION = {"AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1"}


@pytest.mark.parametrize(
    ("env", "confs"),
    [
        ({}, {}),
        (APPLICATION, {}),
        ({"AZURE_STORAGE_KEY": "hidden"}, {"auth.type": "SharedKey", "key": "${env.AZURE_STORAGE_KEY}"}),
        (
            {**APPLICATION, "AZURE_CLIENT_SECRET": "hidden"},
            {
                "auth.type": "OAuth",
                "oauth.provider.type": "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider",
                "oauth2.client.endpoint": "https://login.microsoftonline.com/${env.AZURE_TENANT_ID}/oauth2/token",
                "oauth2.client.id": "${env.AZURE_CLIENT_ID}",
                "oauth2.client.secret": "${env.AZURE_CLIENT_SECRET}",
            },
        ),
        (
            {**APPLICATION, "AZURE_FEDERATED_TOKEN_FILE": "/var/token"},
            {
                "auth.type": "OAuth",
                "oauth.provider.type": "org.apache.hadoop.fs.azurebfs.oauth2.WorkloadIdentityTokenProvider",
                "oauth2.msi.tenant": "${env.AZURE_TENANT_ID}",
                "oauth2.client.id": "${env.AZURE_CLIENT_ID}",
                "oauth2.token.file": "${env.AZURE_FEDERATED_TOKEN_FILE}",
            },
        ),
    ],
)
def test_a_warehouse_in_azure_takes_credentials_of_the_environment(env, confs):
    found = store_confs(profile(warehouse=f"abfss://lake@{HOST}/shop"), env)
    assert found == {f"{ACCOUNT}.{key}.{HOST}": value for key, value in confs.items()}


def test_a_sas_token_is_of_the_account():
    found = store_confs(profile(warehouse=f"abfss://lake@{HOST}"), {"AZURE_STORAGE_SAS_TOKEN": "hidden"})
    assert found == {
        f"{ACCOUNT}.auth.type.{HOST}": "SAS",
        f"spark.hadoop.fs.azure.sas.fixed.token.{HOST}": "${env.AZURE_STORAGE_SAS_TOKEN}",
    }


def test_s3_needs_a_line_of_spark_whose_hadoop_has_conditional_writes():
    assert len(pinned(["s3"], LINES["4.1"])) == 34
    assert len(pinned(["s3"], LINES["4.2"])) == 36
    for line in ("3.5", "4.0"):
        with pytest.raises(ProblemsError, match=f"s3 has no build for Spark {line}: it runs on Spark 4.1 or 4.2"):
            pinned(["s3"], LINES[line])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("warehouse", "env", "more"),
    [
        ("s3a://b/l", {}, ["org.apache.hadoop.fs.s3a.S3AFileSystem"]),
        ("gs://b/l", {}, []),
        (
            f"abfss://b@{HOST}/l",
            {**APPLICATION, "AZURE_CLIENT_SECRET": "x"},
            ["org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem"],
        ),
        (f"abfss://b@{HOST}/l", {**APPLICATION, "AZURE_FEDERATED_TOKEN_FILE": "x"}, []),
    ],
)
def test_the_classes_that_confs_name_are_in_the_pinned_jars(warehouse, env, more):
    """Nothing else of `abfss` and `gs` is tested: there is no server of them here."""
    made = profile(warehouse=warehouse)
    entries = set()
    for jar in fetch_jars(jar_groups(made), os.environ):
        with zipfile.ZipFile(jar) as opened:
            entries.update(opened.namelist())
    values = [part for value in store_confs(made, env).values() for part in value.split(",")]
    names = [each for each in values if re.match(r"(?:[a-z0-9]+\.)+[A-Z]\w+\Z", each)]
    assert names or more
    missing = [each for each in (*names, *more) if f"{each.replace('.', '/')}.class" not in entries]
    assert missing == []


FOLDER = Path(__file__).parents[3] / "merge_runner/engine/spark/storage"


def test_the_log_store_is_compiled_from_the_source_that_is_here():
    """The jar holds the hash of its source: `python -m tests.engine.storage.build_log_store` makes both."""
    with zipfile.ZipFile(FOLDER / "merge-runner-log-store.jar") as jar:
        assert (
            jar.read("SOURCE.sha256").decode()
            == hashlib.sha256((FOLDER / "S3ConditionalLogStore.java").read_bytes()).hexdigest()
        )
        assert jar.read("mergerunner/S3ConditionalLogStore.class")[:4] == b"\xca\xfe\xba\xbe"


@pytest.mark.slow
def test_compiling_the_source_gives_the_same_class(tmp_path):
    from tests.engine.storage.build_log_store import compiled

    try:
        classes = compiled(tmp_path)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("no compiler of Java 17 is here")
    with zipfile.ZipFile(FOLDER / "merge-runner-log-store.jar") as jar:
        assert classes == jar.read("mergerunner/S3ConditionalLogStore.class")
