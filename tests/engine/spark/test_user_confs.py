"""Which conf counts: the profile's, then that of spark-defaults.conf, then ours; what is merged, and what is refused."""

from pathlib import Path

import pytest

from merge_runner.engine.spark.confs import spark_confs
from merge_runner.engine.spark.spark_home import SparkHome
from merge_runner.engine.spark.start_notes import notes
from merge_runner.engine.spark.user_confs import check_defaults
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.profile import Profile
from tests.yaml_data import read_yaml

ROOT = Path("/projects/shop")
JARS = [Path("/cache/delta-spark_4.1_2.13-4.4.0.jar"), Path("/cache/delta-storage-4.4.0.jar")]
CASES = read_yaml(Path(__file__).parent / "user_confs.yml")
FILE = Path("/opt/spark/conf/spark-defaults.conf")


def profile(case):
    keys = {"master": "local[2]", "warehouse": None, **case.get("output", {})}
    return Profile("shop", "dev", "shop", conf=case.get("conf", {}), **keys)


@pytest.mark.parametrize("case", CASES["precedence"], ids=[case["case"] for case in CASES["precedence"]])
def test_which_conf_counts(case):
    found = spark_confs(profile(case), ROOT, JARS, case.get("defaults"))
    assert {key: found.get(key) for key in case["found"]} == case["found"]


@pytest.mark.parametrize("case", CASES["refused"], ids=[case["case"] for case in CASES["refused"]])
def test_defaults_that_contradict_the_output_are_refused_unless_the_profile_decides(case):
    home = SparkHome(Path("/opt/spark"), defaults_file=FILE, defaults=case["defaults"])
    with pytest.raises(ProblemsError) as raised:
        check_defaults(profile(case), home)
    (problem,) = raised.value.problems
    assert problem.code == "spark-defaults"
    assert f"{problem.message} / {problem.hint}" == case["problem"]
    for decided in case["decided"]:
        check_defaults(profile({**case, **decided}), home)


@pytest.mark.parametrize("case", CASES["notes"], ids=[case["case"] for case in CASES["notes"]])
def test_what_is_said_before_spark_starts(case, tmp_path):
    jars = tmp_path / "jars"
    jars.mkdir()
    for name in case.get("home", ()):
        (jars / name).touch()
    home = SparkHome(tmp_path, "home" in case, case.get("version"), defaults=case.get("defaults", {}))
    said = [note.replace(str(tmp_path), "HOME") for note in notes(profile(case), home, JARS)]
    assert said == case["said"]


def test_options_of_a_user_keep_the_log_that_hides_secrets():
    ours = spark_confs(profile({"output": {"jvm": "custom"}}), ROOT, JARS)["spark.driver.extraJavaOptions"]
    for case in (
        {"conf": {"spark.driver.extraJavaOptions": "-Da=b"}},
        {"defaults": {"spark.driver.extraJavaOptions": "-Da=b"}},
    ):
        found = spark_confs(profile(case), ROOT, JARS, case.get("defaults"))["spark.driver.extraJavaOptions"]
        assert found == f"-Da=b {ours}"
    own = "-Dlog4j2.configurationFile=mine.xml -Da=b"
    assert (
        spark_confs(profile({"conf": {"spark.driver.extraJavaOptions": own}}), ROOT, JARS)[
            "spark.driver.extraJavaOptions"
        ]
        == own
    )
    more = {"spark.driver.defaultJavaOptions": "-XX:+UseG1GC"}
    assert spark_confs(profile({}), ROOT, JARS, more)["spark.driver.extraJavaOptions"] == ours
