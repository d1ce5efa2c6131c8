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
    "folder": {"type": "hadoop", "warehouse": "hdfs://namenode:8020/ice/"},
    "disk": {"type": "hadoop", "warehouse": "/srv/ice"},
    "base": {
        "type": "jdbc",
        "uri": "jdbc:postgresql://user:secret@db.example.com/lake?password=secret",
        "warehouse": "s3a://bucket/ice",
    },
    "mysql": {"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog", "uri": "jdbc:mysql://db.example.com:3307"},
    "lite": {"type": "jdbc", "uri": "jdbc:sqlite:file:/srv/ice.db?journal_mode=WAL"},
    "thin": {"type": "jdbc", "uri": "jdbc:oracle:thin:user/secret@//db.example.com:1521/lake"},
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
    (
        "shop.orders",
        "delta",
        {"warehouse": "hdfs://namenode:8020/lake", "catalogs": {}},
        Dataset("hdfs://namenode:8020", "/lake/shop/orders", (("hdfs://namenode:8020/lake", "shop.orders"),)),
    ),
    ("lake.shop.orders", "iceberg", {}, Dataset("https://catalog.example.com/iceberg", "shop.orders")),
    ("meta.shop.orders", "iceberg", {}, Dataset("hive://metastore:9083", "shop.orders")),
    ("glue.shop.orders", "iceberg", {}, Dataset("arn:aws:glue:eu-central-1:42", "table/shop/orders")),
    (
        "folder.shop.orders",
        "iceberg",
        {},
        Dataset("hdfs://namenode:8020", "/ice/shop/orders", (("hdfs://namenode:8020/ice", "shop.orders"),)),
    ),
    ("disk.shop.orders", "iceberg", {}, Dataset("file", "/srv/ice/shop/orders", (("file:/srv/ice", "shop.orders"),))),
    ("base.shop.orders", "iceberg", {}, Dataset("postgres://db.example.com:5432", "lake.shop.orders")),
    ("mysql.shop.orders", "iceberg", {}, Dataset("mysql://db.example.com:3307", "shop.orders")),
    ("lite.shop.orders", "iceberg", {}, Dataset("sqlite:file:/srv/ice.db", "shop.orders")),
    ("thin.shop.orders", "iceberg", {}, Dataset("oracle://db.example.com:1521/lake", "shop.orders")),
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


STREAMS = {
    "{subscribe: events}": ["events"],
    "{subscribe: 'events, clicks'}": ["events", "clicks"],
    """{assign: '{"events": [0, 1], "clicks": [2]}'}""": ["events", "clicks"],
    "{subscribePattern: 'event.*'}": [],
    "{assign: 'no JSON'}": [],
    "{assign: '5'}": [],
}


@pytest.mark.parametrize(("options", "topics"), STREAMS.items(), ids=STREAMS)
@pytest.mark.parametrize("server", ["one:9092,two:9092", "SSL://one:9092"])
def test_each_topic_of_a_stream_is_a_dataset(make_project, options, topics, server):
    options = options.replace("{", f"{{kafka.bootstrap.servers: '{server}', ", 1)
    files = {
        "models/schema.yml": f"""
            sources:
              - name: raw
                tables:
                  - {{name: events, stream: {{format: kafka, options: {options}}}}}
            """,
    }
    project = Project.load(make_project(files))
    (node,) = project.graph.nodes.values()
    named = Datasets(Path("/srv/shop"), project.prepared.files.profile)
    assert named.of_node(node) == tuple(Dataset("kafka://one:9092", topic) for topic in topics)


def test_sources_of_a_project(make_project):
    files = {
        "models/schema.yml": """
            sources:
              - name: raw
                tables:
                  - {name: files, path: data/files, format: parquet}
                  - {name: elsewhere}
                  - {name: changes, stream: {format: delta, table: shop.orders}}
                  - {name: landed, stream: {format: json, path: "s3a://bucket/landing/"}, columns: [{name: a, data_type: int}]}
                  - {name: ticks, stream: {format: rate}}
            """,
    }
    project = Project.load(make_project(files))
    named = Datasets(Path("/srv/shop"), project.prepared.files.profile)
    found = {node.name: named.of_node(node) for node in project.graph.nodes.values()}
    assert found["files"] == (Dataset("file", "/srv/shop/data/files"),)
    assert found["elsewhere"][0].symlinks == (("file:/srv/shop/warehouse", "raw.elsewhere"),)
    assert found["changes"] == (named.of_table(Relation("orders", "shop"), "delta"),)
    assert found["landed"] == (Dataset("s3://bucket", "landing"),)
    assert found["ticks"] == ()
