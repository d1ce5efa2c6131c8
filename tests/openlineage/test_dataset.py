"""Names of datasets: the same as openlineage-spark's, so that its events and these meet."""

from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.openlineage.dataset import Dataset, Datasets
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation

ROOT = Path("/srv/shop")
CATALOGS = {
    "ice": {"type": "embedded"},
    "lake": {"type": "rest", "uri": "https://user:secret@catalog.example.com/iceberg/"},
    "meta": {"type": "hive", "uri": "thrift://metastore:9083,thrift://other:9083"},
    "glue": {
        "catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
        "client.region": "eu-central-1",
        "glue.id": "42",
    },
    "other": {"class": "com.example.Catalog"},
}


def datasets(**given):
    return Datasets(ROOT, Profile("shop", "dev", "shop", **{"warehouse": "warehouse", "catalogs": CATALOGS, **given}))


TABLES = [
    (
        "shop.orders",
        "delta",
        {},
        Dataset("file", "/srv/shop/warehouse/shop/orders", (("file:/srv/shop/warehouse", "shop.orders"),)),
    ),
    (
        "ice.shop.orders",
        "iceberg",
        {},
        Dataset("file", "/srv/shop/warehouse/ice/shop/orders", (("file:/srv/shop/warehouse/ice", "shop.orders"),)),
    ),
    (
        "shop.orders",
        "delta",
        {"warehouse": "s3a://bucket/lake", "catalogs": {}},
        Dataset("s3://bucket", "lake/shop/orders", (("s3://bucket/lake", "shop.orders"),)),
    ),
    ("lake.shop.orders", "iceberg", {}, Dataset("https://catalog.example.com/iceberg", "shop.orders")),
    ("meta.shop.orders", "iceberg", {}, Dataset("hive://metastore:9083", "shop.orders")),
    ("glue.shop.orders", "iceberg", {}, Dataset("arn:aws:glue:eu-central-1:42", "table/shop/orders")),
    ("other.shop.orders", "delta", {"master": "spark://host:7077"}, Dataset("spark://host:7077", "other.shop.orders")),
    (
        "shop.orders",
        "delta",
        {"warehouse": None, "master": "yarn", "conf": {"spark.hadoop.hive.metastore.uris": "thrift://metastore:9083"}},
        Dataset("hive://metastore:9083", "shop.orders"),
    ),
    ("shop.orders", "delta", {"warehouse": None, "master": "yarn"}, Dataset("spark://yarn", "shop.orders")),
    (
        "main.shop.orders",
        "delta",
        {"warehouse": None, "master": None, "remote": "sc://dbc.example.com:443/;token=x", "platform": "databricks"},
        Dataset("unitycatalog://dbc.example.com:443", "main.shop.orders"),
    ),
]


@pytest.mark.parametrize(("name", "format", "given", "expected"), TABLES, ids=[str(each[3]) for each in TABLES])
def test_a_table_is_named_by_its_place_or_its_catalog(name, format, given, expected):
    *catalog, schema, identifier = name.split(".")
    assert datasets(**given).of_table(Relation(identifier, schema, catalog[0] if catalog else None), format) == expected


@pytest.mark.parametrize(
    ("path", "namespace", "name"),
    [
        ("data/orders", "file", "/srv/shop/data/orders"),
        ("data/orders/", "file", "/srv/shop/data/orders"),
        ("data/day=*/part-[0-9].csv", "file", "/srv/shop/data"),
        ("/landing/orders.csv", "file", "/landing/orders.csv"),
        ("file:///landing/orders", "file", "/landing/orders"),
        ("s3a://bucket/landing/orders/", "s3://bucket", "landing/orders"),
        ("s3a://bucket/landing/*/orders", "s3://bucket", "landing"),
        ("abfss://container@account.dfs.core.windows.net/a/b", "abfss://container@account.dfs.core.windows.net", "a/b"),
        ("gs://bucket", "gs://bucket", "/"),
        ("hdfs://namenode:8020/landing/orders", "hdfs://namenode:8020", "/landing/orders"),
    ],
)
def test_files_are_named_by_their_folder(path, namespace, name):
    assert datasets().at(path) == Dataset(namespace, name)


def test_sources_of_a_project(make_project):
    files = {
        "models/schema.yml": """
            sources:
              - name: raw
                tables:
                  - {name: files, path: data/files, format: parquet}
                  - {name: elsewhere}
                  - name: events
                    stream: {format: kafka, options: {kafka.bootstrap.servers: "one:9092,two:9092", subscribe: events}}
            """,
    }
    project = Project.load(make_project(files))
    named = Datasets(Path("/srv/shop"), project.prepared.files.profile)
    found = {node.name: named.of_node(node) for node in project.graph.nodes.values()}
    assert found["files"] == Dataset("file", "/srv/shop/data/files")
    assert found["events"] == Dataset("kafka://one:9092", "events")
    assert found["elsewhere"].symlinks == (("file:/srv/shop/warehouse", "raw.elsewhere"),)
