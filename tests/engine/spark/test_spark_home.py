"""Which Spark starts: its version against PySpark's and the pinned jars', and its spark-defaults.conf."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from merge_runner.cli.commands.debug import command as debug
from merge_runner.engine.spark.spark_home import (
    SparkHome,
    check_version,
    installed_spark,
    spark_home,
    spark_properties,
)
from merge_runner.engine.startup import Machine, start_driver
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.profile import Profile
from merge_runner.version import pyspark_version


@pytest.mark.parametrize(
    ("text", "confs"),
    [
        ("", {}),
        ("# a comment\n! another\n\nspark.a 1\n", {"spark.a": "1"}),
        (
            "  spark.a=  x y  \nspark.b : z\nspark.c\tq\nspark.d",
            {"spark.a": "x y", "spark.b": "z", "spark.c": "q", "spark.d": ""},
        ),
        (
            "spark.a one,\\\n   two\nspark.b=c:\\\\x\nspark.c=\\u0041\\t\\=",
            {"spark.a": "one,two", "spark.b": "c:\\x", "spark.c": "A\t="},
        ),
        ("hadoop.a=1\nspark.a==1\r\nspark.a=2", {"spark.a": "2"}),
        ("spark\\ a=1\nspark.x\\=y=z", {"spark.x=y": "z"}),
    ],
    ids=["empty", "comments", "separators", "escapes", "others and the last", "names"],
)
def test_spark_defaults_are_a_file_of_java_properties(text, confs):
    assert spark_properties(text) == confs


@pytest.fixture
def home(tmp_path):
    """A pretended Spark; `core` is the version in the name of its jar, `release` that in RELEASE."""

    def make(core=None, release=None, scala="2.13", **env):
        path = tmp_path / "spark"
        (path / "jars").mkdir(parents=True)
        if core is not None:
            (path / f"jars/spark-core_{scala}-{core}.jar").touch()
        if release is not None:
            (path / "RELEASE").write_text(
                f"Spark {release} (git revision 8c8f) built for Hadoop 3.4.2\nBuild flags: -B\n"
            )
        return installed_spark(tmp_path, {"SPARK_HOME": str(path), **env})

    return make


@pytest.mark.parametrize(
    ("made", "pyspark", "problem"),
    [
        ({"core": "4.1.4"}, "4.1.4", None),
        ({"core": "4.1.1-amzn-2"}, "4.1.4", None),
        ({"core": "3.5.1", "scala": "2.12"}, "3.5.9", None),
        ({"core": "4.0.5"}, "4.0.4", None),
        ({"core": "4.2.1"}, "4.2.1", None),
        ({"core": "4.1.4", "release": "3.5.1"}, "4.1.4", None),
        ({}, "4.1.4", None),
        ({"core": "4.1.4"}, None, None),
        (
            {"core": "3.5.1", "scala": "2.12"},
            "4.1.4",
            "Spark 3.5.1 in SPARK_HOME (HOME) is not the version of PySpark, which is 4.1.4 / "
            "unset SPARK_HOME: PySpark brings Spark 4.1.4; or pip install 'merge-runner[spark35]'",
        ),
        (
            {"release": "3.4.4"},
            "4.1.4",
            "Spark 3.4.4 in SPARK_HOME (HOME) is none that merge-runner has jars of Delta and Iceberg for: 3.5, 4.0, 4.1 or 4.2 / "
            "unset SPARK_HOME: PySpark brings Spark 4.1.4; or let it name one of these",
        ),
        (
            {"core": "4.1.4", "scala": "2.12"},
            "4.1.4",
            "Spark 4.1.4 in SPARK_HOME (HOME) is built for Scala 2.12, and merge-runner's jars for Scala 2.13 / "
            "unset SPARK_HOME: PySpark brings Spark 4.1.4; or let it name one for Scala 2.13",
        ),
        (
            {"core": "4.1.4"},
            "4.0.5",
            "Spark 4.1.4 in SPARK_HOME (HOME) is not the version of PySpark, which is 4.0.5 / "
            "unset SPARK_HOME: PySpark brings Spark 4.0.5; or pip install 'merge-runner[spark41]'",
        ),
    ],
)
def test_a_spark_of_another_version_is_refused(home, made, pyspark, problem):
    found = home(**made)
    if problem is None:
        check_version(found, pyspark)
        return
    with pytest.raises(ProblemsError) as raised:
        check_version(found, pyspark)
    (told,) = raised.value.problems
    assert told.code == "spark-version"
    assert f"{told.message} / {told.hint}".replace(str(found.path), "HOME") == problem


def test_a_pyspark_of_another_version_is_refused():
    with pytest.raises(ProblemsError, match=r"Spark 4.4.0 of PySpark is none that(.|\n)*merge-runner\[spark41\]"):
        check_version(SparkHome(Path("/x"), version="4.4.0"), "4.4.0")


def test_without_spark_home_it_is_that_of_pyspark(tmp_path):
    import pyspark

    found = installed_spark(tmp_path, {})
    assert found.path == spark_home({}) == Path(pyspark.__file__).parent
    assert (found.named, found.version, found.scala) == (False, pyspark.__version__, "2.13")
    assert pyspark_version() == pyspark.__version__


def test_the_defaults_are_those_of_the_conf_folder(home, tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/spark-defaults.conf").write_text("spark.driver.memory 1500m\n")
    found = home(SPARK_CONF_DIR="conf", SPARK_DRIVER_MEMORY="3g")
    assert (found.defaults_file, found.defaults) == (
        tmp_path / "conf/spark-defaults.conf",
        {"spark.driver.memory": "1500m"},
    )
    shutil.copytree(tmp_path / "conf", found.path / "conf")
    assert installed_spark(tmp_path, {"SPARK_HOME": str(found.path)}).defaults == {"spark.driver.memory": "1500m"}
    assert installed_spark(tmp_path, {"SPARK_DRIVER_MEMORY": "3g"}).defaults == {"spark.driver.memory": "3g"}


def test_a_run_on_another_spark_is_refused_before_anything_starts(home, tmp_path, monkeypatch):
    found = home(core="3.5.1")
    monkeypatch.setenv("SPARK_HOME", str(found.path))
    machine = Machine(running_already=lambda: False)
    with pytest.raises(ProblemsError, match=r"Spark 3\.5\.1 in SPARK_HOME"):
        start_driver(Profile("shop", "dev", "shop"), tmp_path, tmp_path / "spark.log", os.environ, machine=machine)
    assert not (tmp_path / "spark.log").exists()


def test_debug_shows_which_spark_starts(home, make_project, monkeypatch, capsys):
    root = make_project({})
    (root / "conf").mkdir()
    (root / "conf/spark-defaults.conf").write_text(
        "spark.ui.enabled true\nspark.jars.packages io.delta:delta-spark_2.13:3.2.0\n"
    )
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", "conf")

    def said():
        status = debug.main(["--project-dir", str(root)], standalone_mode=False)
        out, err = capsys.readouterr()
        return SimpleNamespace(status=status, out=out, err=err)

    fine = said()
    assert (
        f"home      OK  Spark {pyspark_version()} of PySpark; {root}/conf/spark-defaults.conf sets spark.jars.packages, spark.ui.enabled"
        in fine.out
    )
    assert "warning: spark.jars.packages has delta-spark 3.2.0, and merge-runner adds delta-spark 4.4.0" in fine.err
    monkeypatch.setenv("SPARK_HOME", str(home(core="3.5.1").path))
    refused = said()
    assert refused.status == 2
    assert "Spark 3.5.1 in SPARK_HOME" in refused.err


PROBE = """
import os, sys
from pathlib import Path
from merge_runner.engine.startup import start_driver
from merge_runner.project.schema.profile import Profile
from merge_runner.version import pyspark_version

said = []
profile = Profile("shop", "dev", "shop", master="local[2]", warehouse="house", conf={"spark.sql.shuffle.partitions": "3"})
driver = start_driver(profile, Path.cwd(), Path.cwd() / "spark.log", os.environ, said.append)
spark = driver.spark
spark.sql(f"create table t using delta location '{Path.cwd() / 'house/t'}' as select 1 as id")
found = {
    "heap": spark.sparkContext._jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20,
    "rows": spark.table("t").count(),
    "said": said,
    **{name: spark.conf.get(name) for name in sys.argv[1:]},
}
driver.stop()
print(found)
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_driver_starts_with_the_defaults_of_its_user(tmp_path):
    home = tmp_path / "a spark"
    home.symlink_to(spark_home({}))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/spark-defaults.conf").write_text(
        "spark.driver.memory  700m\nspark.sql.shuffle.partitions 9\nspark.my.own=a\\\n b\n"
        "spark.sql.warehouse.dir s3a://elsewhere\nspark.master yarn\nspark.submit.deployMode cluster\n"
        "spark.sql.extensions org.apache.spark.sql.delta.NoSuchExtension\n"
    )
    names = (
        "spark.sql.shuffle.partitions",
        "spark.my.own",
        "spark.master",
        "spark.sql.warehouse.dir",
        "spark.sql.extensions",
    )
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *names],
        cwd=tmp_path,
        env={
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_CONF_DIR": "conf",
            "MERGE_RUNNER_WARM": "0",
            "MERGE_RUNNER_CDS": "0",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = ast.literal_eval(done.stdout.splitlines()[-1])
    assert 500 < found.pop("heap") <= 700
    assert found == {
        "rows": 1,
        "said": ["spark.submit.deployMode is cluster, and the driver is this process: it starts in client mode"],
        "spark.sql.shuffle.partitions": "3",
        "spark.my.own": "ab",
        "spark.master": "local[2]",
        "spark.sql.warehouse.dir": f"file:{tmp_path}/house",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,org.apache.spark.sql.delta.NoSuchExtension",
    }
