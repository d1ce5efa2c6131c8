"""Jars come from a Maven repository once, and only with the pinned checksum. A folder stands for the repository."""

import hashlib

import pytest

from merge_runner.engine.spark.jars import Jar, fetch, pinned_jars, runtime_folder
from merge_runner.errors import ProblemsError
from merge_runner.formats.lines import LINES

PIN = Jar("org/x/a/1/a-1.jar", hashlib.sha256(b"a jar").hexdigest())


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    jar = folder / PIN.path
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"a jar")
    return jar


@pytest.fixture
def env(tmp_path):
    return {
        "MERGE_RUNNER_CACHE_DIR": str(tmp_path / "cache"),
        "MERGE_RUNNER_MAVEN_URL": (tmp_path / "repository").as_uri(),
    }


def test_a_jar_is_fetched_once(repository, env):
    told = []
    first = fetch([PIN], env, told.append)
    repository.unlink()
    assert fetch([PIN], env, told.append) == first
    assert [path.read_bytes() for path in first] == [b"a jar"]
    assert told == ["fetching a-1.jar"]


def test_a_damaged_jar_in_the_cache_is_fetched_again(repository, env):
    path = fetch([PIN], env)[0]
    path.write_bytes(b"something else")
    assert fetch([PIN], env)[0].read_bytes() == b"a jar"


def test_a_jar_with_another_checksum_is_refused_and_nothing_of_it_is_kept(repository, env, tmp_path):
    repository.write_bytes(b"not the jar that was pinned")
    with pytest.raises(ProblemsError) as caught:
        fetch([PIN], env)
    assert caught.value.problems[0].code == "jar-checksum"
    assert list((tmp_path / "cache" / "jars").iterdir()) == []


def test_a_repository_that_cannot_be_reached_is_named_with_what_to_do(repository, env):
    repository.unlink()
    with pytest.raises(ProblemsError) as caught:
        fetch([PIN], env)
    problem = caught.value.problems[0]
    assert problem.code == "jar-download"
    assert "org/x/a/1/a-1.jar could not be fetched" in problem.message
    assert "MERGE_RUNNER_MAVEN_URL" in problem.hint


@pytest.mark.parametrize("line", LINES.values(), ids=str)
def test_every_pinned_jar_has_a_whole_checksum_and_is_one_of_its_line(line):
    for format, version in line.formats.items():
        first, *rest = pinned_jars([format], line)
        assert f"_{line.scala}-{version}.jar" in first.name
        assert line.spark in first.name or (line.spark, format) == ("3.5", "delta")  # Delta names it since 4.0
        assert all(jar.name.endswith(f"-{version}.jar") for jar in rest)
    kafka = ["kafka"] if line.formats else []  # a line without formats builds nothing that would read a stream
    for jar in pinned_jars([*line.formats, *kafka, "sqlite"], line):
        assert len(bytes.fromhex(jar.sha256)) == 32
        assert jar.path.endswith(f"/{jar.name}")
        assert "_2." not in jar.name or f"_{line.scala}-" in jar.name


def test_a_format_that_has_no_build_for_the_line_is_named_with_those_that_it_has():
    with pytest.raises(ProblemsError) as caught:
        pinned_jars(["delta", "iceberg"], LINES["4.2"])
    (problem,) = caught.value.problems
    assert problem.code == "no-runtime"
    assert problem.message == "Iceberg has no build for Spark 4.2: it runs on Spark 3.5, 4.0 or 4.1"
    assert problem.hint == "pip install 'merge-runner[spark41]'"


def test_a_line_for_which_no_format_has_a_build_says_so_of_each():
    with pytest.raises(ProblemsError) as caught:
        pinned_jars(["delta", "iceberg"], LINES["4.3"])
    assert [problem.message for problem in caught.value.problems] == [
        "Delta has no build for Spark 4.3: it runs on Spark 3.5, 4.0, 4.1 or 4.2",
        "Iceberg has no build for Spark 4.3: it runs on Spark 3.5, 4.0 or 4.1",
    ]


def test_the_cache_folder_follows_the_environment(tmp_path):
    assert runtime_folder({"MERGE_RUNNER_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b"}).as_posix() == "/a"
    assert runtime_folder({"XDG_CACHE_HOME": "/b"}).as_posix() == "/b/merge-runner"
