"""Confs and jars of object stores, and the log store that keeps two commits to S3 apart."""

import os
import re
import zipfile
from pathlib import Path

import pytest

from merge_runner.engine.spark.confs import jar_groups, spark_confs
from merge_runner.engine.spark.jars import fetch, pinned_jars
from merge_runner.engine.spark.storage.object_stores import LOG_STORE, store_confs
from merge_runner.formats.lines import LINES
from merge_runner.project.schema.profile import Profile
from merge_runner.project.schema.storage import Storage
from tests.engine.spark.storage.build_jars import LOG_STORE as LOG_STORE_JAR

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
    assert jar_groups(profile(**given, master="yarn")) == groups
    assert jar_groups(profile(**given)) == (*groups, "local-files")


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


def test_hadoop_of_spark_3_5_has_no_provider_for_a_federated_token():
    env = {**APPLICATION, "AZURE_FEDERATED_TOKEN_FILE": "/var/token"}
    assert store_confs(profile(warehouse=f"abfss://lake@{HOST}/shop"), env, LINES["3.5"]) == {}


def test_a_sas_token_is_of_the_account():
    found = store_confs(profile(warehouse=f"abfss://lake@{HOST}"), {"AZURE_STORAGE_SAS_TOKEN": "hidden"})
    assert found == {
        f"{ACCOUNT}.auth.type.{HOST}": "SAS",
        f"spark.hadoop.fs.azure.sas.fixed.token.{HOST}": "${env.AZURE_STORAGE_SAS_TOKEN}",
    }


@pytest.mark.parametrize(("line", "hadoop"), {"3.5": "3.3.4", "4.0": "3.4.1", "4.1": "3.4.2", "4.2": "3.5.0"}.items())
def test_each_line_has_the_connectors_of_its_hadoop(line, hadoop):
    assert pinned_jars(["s3"], LINES[line])[0].name == f"hadoop-aws-{hadoop}.jar"
    assert pinned_jars(["azure"], LINES[line])[0].name == f"hadoop-azure-{hadoop}.jar"
    assert pinned_jars(["gcs"], LINES[line])[0].name.startswith("gcs-connector-hadoop3-")


@pytest.mark.slow
@pytest.mark.parametrize("line", [name for name, line in LINES.items() if "delta" in line.formats])
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
def test_the_classes_that_confs_name_are_in_the_pinned_jars(warehouse, env, more, line):
    """On other lines than 4.1 nothing else of `abfss` and `gs` is tested."""
    made = profile(warehouse=warehouse)
    groups = jar_groups(made)
    ours = [LOG_STORE_JAR.path] if "log-store" in groups else []
    entries = set()
    for jar in [*fetch(pinned_jars(groups, LINES[line]), os.environ), *ours]:
        with zipfile.ZipFile(jar) as opened:
            entries.update(opened.namelist())
    values = [part for value in store_confs(made, env, LINES[line]).values() for part in value.split(",")]
    names = [each for each in values if re.match(r"(?:[a-z0-9]+\.)+[A-Z]\w+\Z", each)]
    assert names or more or line == "3.5"
    missing = [each for each in (*names, *more) if f"{each.replace('.', '/')}.class" not in entries]
    assert missing == []
