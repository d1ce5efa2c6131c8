"""Spark in a JVM that other code has started: spark-submit, which runs merge-runner, or a notebook."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from merge_runner.engine.spark.running_jvm import Submission, check_classes, confs_in_running_jvm, notes_of_running
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.profile import Profile

ROOT = Path("/shop")


def profile(**keys):
    return Profile("shop", "prod", "shop", **{"master": "yarn", **keys})


def test_what_was_submitted_counts_as_the_defaults_of_a_user_do():
    given = {
        "spark.master": "yarn",
        "spark.submit.deployMode": "cluster",
        "spark.jars": "/theirs/delta.jar",
        "spark.sql.extensions": "org.a.Ext",
        "spark.sql.shuffle.partitions": "7",
        "spark.executor.memory": "3g",
    }
    confs = confs_in_running_jvm(profile(conf={"spark.executor.memory": "5g"}), ROOT, Submission(given))
    assert confs.items() >= {
        ("spark.submit.deployMode", "cluster"),
        ("spark.jars", "/theirs/delta.jar"),
        ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension,org.a.Ext"),
        ("spark.sql.shuffle.partitions", "7"),
        ("spark.executor.memory", "5g"),
        ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
    }


@pytest.mark.parametrize(
    ("there", "master", "refused"),
    [
        ("yarn", "yarn", False),
        ("local[*]", "local[2]", False),
        ("spark://10.0.0.1:7077", "spark://master:7077", False),
        ("k8s://https://10.0.0.1:6443", "k8s://https://cluster", False),
        ("yarn", "local[*]", True),
        ("k8s://https://cluster", "yarn", True),
    ],
)
def test_an_output_for_another_kind_of_master_is_refused(there, master, refused):
    given = Submission({"spark.master": there})
    if not refused:
        assert confs_in_running_jvm(profile(master=master), ROOT, given)["spark.master"] == there
        return
    with pytest.raises(ProblemsError) as caught:
        confs_in_running_jvm(profile(master=master), ROOT, given)
    (problem,) = caught.value.problems
    assert (problem.code, problem.hint) == (
        "submitted-master",
        f"write `master: {there}` into the output, or give spark-submit --master {master}",
    )


def test_a_spark_that_runs_gets_only_what_a_session_can_have():
    given = Submission({"spark.master": "spark://notebook:7077", "spark.sql.warehouse.dir": "/user/hive"}, running=True)
    output = profile(
        master="local[*]", warehouse="house", conf={"a": "b"}, catalogs={"ice": {"type": "rest", "uri": "http://h"}}
    )
    assert confs_in_running_jvm(output, ROOT, given) == {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "rest",
        "spark.sql.catalog.ice.uri": "http://h",
        "a": "b",
    }
    assert notes_of_running(output, given, "4.1.4") == [
        "`warehouse` has no effect: Spark is running already, and keeps its tables in /user/hive"
    ]


def test_verdicts_for_another_spark_than_the_one_that_runs_are_a_warning():
    (note,) = notes_of_running(profile(spark="4.1"), Submission(), "3.5.4-amzn-0")
    assert note.startswith("lint judges for Spark 4.1, and the models run on Spark 3.5.4-amzn-0")


def session(*classes):
    """A session whose JVM can load these classes."""
    utils = SimpleNamespace(classIsLoadable=lambda name: name in classes)
    return SimpleNamespace(sparkContext=SimpleNamespace(_jvm=SimpleNamespace(**{"org.apache.spark.util.Utils": utils})))


def test_a_jvm_without_the_jars_of_a_format_is_refused():
    iceberg = profile(catalogs={"ice": {"type": "glue"}})
    delta = "org.apache.spark.sql.delta.DeltaLog"
    check_classes(profile(), session(delta))
    with pytest.raises(ProblemsError) as caught:
        check_classes(iceberg, session(delta))
    (problem,) = caught.value.problems
    assert problem.code == "jars-missing"
    assert problem.message == "Spark was started without Iceberg, and no jar can be added to it now"
    assert "--jars" in problem.hint
