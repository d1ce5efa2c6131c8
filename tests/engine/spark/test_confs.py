"""Which confs Spark is started with."""

from pathlib import Path

import pytest

from merge_runner.engine.spark.confs import log_option, session_confs, spark_confs, table_formats
from merge_runner.project.schema.profile import Profile

ROOT = Path("/projects/shop")
JARS = [Path("/cache/delta-spark.jar"), Path("/cache/delta-storage.jar")]


def made(master="local[2]", **keys):
    return spark_confs(Profile("shop", "dev", "shop", master=master, **keys), ROOT, JARS)


def test_a_local_driver_has_the_jars_on_its_class_path_and_copies_none():
    found = made()
    assert found["spark.driver.extraClassPath"] == "/cache/delta-spark.jar:/cache/delta-storage.jar"
    assert "spark.jars" not in found
    assert found["spark.driver.host"] == found["spark.driver.bindAddress"] == "127.0.0.1"


OWN_FILES = Path("/merge-runner/merge-runner-local-files.jar")
HADOOP_S = {"spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.LocalFileSystem"}


@pytest.mark.parametrize(
    ("jars", "conf", "found"),
    [
        ([*JARS, OWN_FILES], {}, "mergerunner.LocalFiles"),
        ([*JARS, OWN_FILES], {"spark.driver.extraClassPath": "/own.jar"}, "mergerunner.LocalFiles"),
        ([*JARS, OWN_FILES], HADOOP_S, "org.apache.hadoop.fs.LocalFileSystem"),
        ([*JARS, OWN_FILES], {"spark.jars": "/own.jar"}, None),  # Spark reads these jars by the class, before it has it
        (JARS, {}, None),
    ],
)
def test_a_local_driver_writes_files_by_the_classes_on_its_class_path(jars, conf, found):
    profile = Profile("shop", "dev", "shop", master="local[2]", conf=conf)
    assert spark_confs(profile, ROOT, jars).get("spark.hadoop.fs.file.impl") == found


@pytest.mark.parametrize(
    "master", ["spark://host:7077", "spark://127.0.0.1:7077", "yarn", "k8s://https://127.0.0.1:6443"]
)
def test_a_cluster_is_given_the_jars_and_keeps_its_own_memory_and_partitions(master):
    found = made(master)
    assert found["spark.master"] == master
    assert found["spark.jars"] == "/cache/delta-spark.jar,/cache/delta-storage.jar"
    assert found.keys().isdisjoint(
        {"spark.driver.memory", "spark.sql.shuffle.partitions", "spark.databricks.delta.snapshotPartitions"}
    )


@pytest.mark.parametrize(
    ("master", "loopback"),
    [
        ("spark://127.0.0.1:7077", True),
        ("spark://127.8.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://localhost.example.org:7077", False),
        ("spark://127.example.org:7077", False),
        ("spark://10.0.0.1:7077,127.0.0.1:7077", False),
        ("k8s://https://127.0.0.1:6443", False),
        ("yarn", False),
    ],
)
def test_only_a_master_on_the_loopback_interface_gets_a_driver_there(master, loopback):
    assert ("spark.driver.host" in made(master)) is loopback


@pytest.mark.parametrize(
    ("master", "conf", "authenticates"),
    [
        ("local", {}, "true"),
        ("local[*]", {}, "true"),
        ("local[2,3]", {}, "true"),
        ("local[2]", {"spark.authenticate": "false"}, "false"),
        ("local-cluster[1,1,1024]", {}, None),
        ("spark://127.0.0.1:7077", {}, None),
        ("spark://host:7077", {"spark.authenticate": "true"}, "true"),
        ("k8s://https://127.0.0.1:6443", {}, None),
        ("yarn", {}, None),
    ],
)
def test_a_driver_without_a_cluster_is_called_by_itself_alone(master, conf, authenticates):
    confs = made(master, conf=conf)
    assert confs.get("spark.authenticate") == authenticates
    assert "spark.authenticate.secret" not in confs


def test_the_embedded_warehouse_is_a_folder_of_the_project_with_its_catalog_in_memory():
    found = made(warehouse="house")
    assert found["spark.sql.warehouse.dir"] == "/projects/shop/house"
    assert found["spark.sql.catalogImplementation"] == "in-memory"
    assert made(warehouse="/shared/house")["spark.sql.warehouse.dir"] == "/shared/house"
    assert made("yarn").keys().isdisjoint({"spark.sql.warehouse.dir", "spark.sql.catalogImplementation"})


def test_the_profile_has_the_last_word():
    found = made(conf={"spark.driver.memory": "3g", "spark.sql.session.timeZone": "Europe/Berlin", "my.own": "x"})
    assert found["spark.driver.memory"] == "3g"
    assert found["spark.sql.session.timeZone"] == "Europe/Berlin"
    assert found["my.own"] == "x"


def test_an_iceberg_catalog_brings_its_extension_and_settings():
    catalogs = {"ice": {"type": "jdbc", "uri": "jdbc:sqlite:x.db"}, "own": {"class": "org.example.Catalog", "a": "b"}}
    profile = Profile("shop", "dev", "shop", catalogs=catalogs)
    assert table_formats(profile) == ("delta", "iceberg")
    found = spark_confs(profile, ROOT, JARS)
    assert found["spark.sql.extensions"] == (
        "io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    )
    assert found["spark.sql.catalog.ice"] == "org.apache.iceberg.spark.SparkCatalog"
    assert found["spark.sql.catalog.ice.uri"] == "jdbc:sqlite:x.db"
    assert found["spark.sql.catalog.own"] == "org.example.Catalog"
    assert found["spark.sql.catalog.own.a"] == "b"
    assert "spark.sql.catalog.own.class" not in found


def test_a_catalog_of_another_kind_needs_no_iceberg():
    assert table_formats(Profile("shop", "dev", "shop", catalogs={"own": {"class": "org.example.Catalog"}})) == (
        "delta",
    )


def test_a_session_of_a_running_spark_is_told_time_zone_catalogs_and_confs_alone():
    profile = Profile(
        "shop", "far", "shop", remote="sc://h", catalogs={"own": {"class": "org.example.C"}}, conf={"a": "b"}
    )
    assert session_confs(profile) == {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalog.own": "org.example.C",
        "a": "b",
    }


@pytest.mark.parametrize(
    ("master", "jvm", "option"),
    [
        ("local[2]", None, "-XX:TieredStopAtLevel=1"),
        ("yarn", None, "-XX:+UseG1GC"),
        ("yarn", "fast-start", "-XX:TieredStopAtLevel=1"),
        ("local[2]", "throughput", "-XX:+UseG1GC"),
    ],
)
def test_the_jvm_starts_fast_where_it_is_local_and_short_lived(master, jvm, option):
    assert option in made(master, jvm=jvm)["spark.driver.extraJavaOptions"].split()


def test_a_custom_jvm_gets_no_options_but_the_place_of_the_log_settings():
    (option,) = made(jvm="custom")["spark.driver.extraJavaOptions"].split()
    assert option.startswith("-Dlog4j2.configurationFile=")


def test_an_installation_below_a_folder_with_blanks_gives_one_option():
    option = log_option(Path("/home/a b/engine"))
    assert option == '-Dlog4j2.configurationFile="file:///home/a%20b/engine/log4j2.properties"'


def test_only_short_runs_get_small_pages():
    pages = {jvm: made(jvm=jvm).get("spark.buffer.pageSize") for jvm in ("fast-start", "throughput", "custom")}
    assert pages == {"fast-start": "4m", "throughput": None, "custom": None}


def test_the_text_of_plans_is_short_where_nobody_reads_it():
    texts = "spark.sql.ui.explainMode"
    assert made()[texts] == "simple"
    assert made(conf={texts: "extended"})[texts] == "extended"
    for key in ("spark.ui.enabled", "spark.eventLog.enabled"):
        assert texts not in made(conf={key: "true"})
    assert texts not in made(jvm="throughput")


def test_a_throughput_jvm_has_more_partitions_for_longer_work():
    short, long = (int(made(jvm=jvm)["spark.sql.shuffle.partitions"]) for jvm in ("fast-start", "throughput"))
    assert short < long
