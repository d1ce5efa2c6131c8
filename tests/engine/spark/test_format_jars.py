"""The jars of table formats that a Spark has already: how they are recognized, and which are refused."""

import zipfile
from pathlib import Path

import pytest

from merge_runner.engine.spark.confs import jar_groups, spark_confs
from merge_runner.engine.spark.format_jars import FormatJar, format_jar
from merge_runner.engine.spark.spark_home import SparkHome
from merge_runner.engine.spark.start_notes import notes
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.profile import Profile
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "format_jars.yml")


@pytest.mark.parametrize("case", CASES["named"], ids=[case["entry"] for case in CASES["named"]])
def test_a_jar_is_recognized_by_its_name(case):
    jar = format_jar("here", case["entry"])
    wanted = case["name"] and FormatJar("here", case["name"], case["version"], *case["build"])
    assert jar == wanted


def made(folder, each):
    """A jar in a folder: its name, or its name with the files that it holds."""
    folder.mkdir(exist_ok=True)
    name, contents = (each, {}) if isinstance(each, str) else (each["file"], each)
    with zipfile.ZipFile(folder / name, "w") as jar:
        for path, text in contents.items():
            jar.writestr(path, text)


@pytest.mark.parametrize("case", CASES["provided"], ids=[case["case"] for case in CASES["provided"]])
def test_jars_that_are_provided_have_to_be_there_and_to_fit(case, tmp_path):
    for place, folder in (("home", "jars"), ("class_path", "more")):
        for each in case.get(place, ()):
            made(tmp_path / folder, each)
    conf = {
        **case.get("conf", {}),
        **({"spark.driver.extraClassPath": f"{tmp_path}/more/*"} if "class_path" in case else {}),
    }
    profile = Profile("shop", "dev", "shop", conf=conf, catalogs=case.get("catalogs", {}), jars="provided", spark="4.1")
    home = SparkHome(tmp_path, True, "4.1.4", "2.13", defaults=case.get("defaults", {}))
    said, problems = [], []
    try:
        said = notes(profile, home, [])
    except ProblemsError as error:
        problems = [
            f"{each.code}: {each.message} / {each.hint}".replace(str(tmp_path), "HOME") for each in error.problems
        ]
    assert (said, problems) == (case.get("said", []), case.get("problems", []))


@pytest.mark.parametrize("master", ["local[2]", "yarn"])
def test_nothing_is_fetched_or_added_where_jars_are_provided(master):
    profile = Profile("shop", "dev", "shop", master=master, catalogs={"ice": {"type": "embedded"}}, jars="provided")
    assert jar_groups(profile) == ()
    confs = spark_confs(profile, Path("/shop"), [])
    assert not {"spark.jars", "spark.driver.extraClassPath"} & confs.keys()
    assert "io.delta.sql.DeltaSparkSessionExtension" in confs["spark.sql.extensions"]
