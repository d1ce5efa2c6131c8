"""The command of a driver's JVM, kept between starts, with a Spark whose launcher is a shell script."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from merge_runner.engine.spark.jvm import launch

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="commands are read from /proc")
CONFS = {"spark.app.name": "shop"}
JVM = """
import os, struct, sys
confs = open(sys.argv[sys.argv.index("--properties-file") + 1]).read()
assert "spark.app.name=shop" in confs, confs
with open("starts", "a") as starts:
    starts.write(f"{os.environ.get('SET_BY_SPARK')} {os.environ['NOW']} {' '.join(sys.argv[1:])}\\n")
if os.environ["NOW"] == "broken":
    sys.exit(3)
path = os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"]
with open(path + ".part", "wb") as file:
    file.write(struct.pack(">ii", 7, 2) + b"ab")
os.rename(path + ".part", path)
sys.stdin.read()
"""
SUBMIT = """#!/bin/sh
echo "$*" >> launched
export SET_BY_SPARK=yes
exec {python} {jvm} -Xmx1g "$@"
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Start a JVM with these confs and variables; what it was given as arguments, and how often Spark's launcher ran."""
    home, root = tmp_path / "spark", tmp_path / "root"
    for folder in (home / "bin", home / "jars", home / "conf", root):
        folder.mkdir(parents=True)
    (tmp_path / "jvm.py").write_text(JVM)
    submit = home / "bin" / "spark-submit"
    submit.write_text(SUBMIT.format(python=sys.executable, jvm=tmp_path / "jvm.py"))
    submit.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.setenv("MERGE_RUNNER_CACHE_DIR", str(tmp_path / "cache"))

    def run(confs=CONFS, fails=False, **env):
        for name, value in {"NOW": "1", **env}.items():
            monkeypatch.setenv(name, value)
        jvm = launch(confs, Path("/java"), root, root / "jvm.log")
        try:
            if fails:
                with pytest.raises(ChildProcessError):
                    jvm._wait()
            else:
                assert jvm._wait() == (7, "ab")
        finally:
            jvm.end()
        launched = (root / "launched").read_text().splitlines()
        return (root / "starts").read_text().splitlines()[-1].split(), len(launched)

    return run


def test_a_second_start_runs_the_command_of_the_first_without_the_launcher(start):
    first, launched = start()
    assert (first[:3], launched) == (["yes", "1", "-Xmx1g"], 1)
    second, launched = start(NOW="2", MERGE_RUNNER_NEW="x")
    assert (second[:3], launched) == (["yes", "2", "-Xmx1g"], 1)
    assert [len(words) for words in (first, second)] == [7, 7]


@pytest.mark.parametrize("changed", ["confs", "environment", "spark-defaults.conf", "jars", "java-opts"])
def test_the_launcher_runs_where_something_that_it_reads_has_changed(start, tmp_path, changed):
    start()
    if changed in {"spark-defaults.conf", "java-opts"}:
        (tmp_path / "spark" / "conf" / changed).write_text("x")
    if changed == "jars":
        (tmp_path / "spark" / "jars" / "another.jar").write_text("x")
    confs = {**CONFS, "spark.driver.memory": "2g"} if changed == "confs" else CONFS
    env = {"SPARK_DRIVER_MEMORY": "2g"} if changed == "environment" else {}
    assert start(confs, **env)[1] == 2
    assert start(confs, **env)[1] == 2


def test_the_launcher_runs_each_time_with_a_script_that_sets_the_environment(start, tmp_path):
    (tmp_path / "spark" / "conf" / "spark-env.sh").write_text("export X=$(date)\n")
    assert [start()[1], start()[1]] == [1, 2]


@pytest.mark.parametrize("where", ["arguments", "variable"])
def test_a_command_with_a_secret_in_it_is_not_kept(start, tmp_path, monkeypatch, where):
    if where == "arguments":
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.x=s3cr3t-word pyspark-shell")
    else:
        submit = tmp_path / "spark" / "bin" / "spark-submit"
        submit.write_text(submit.read_text().replace("SET_BY_SPARK=yes", "SET_BY_SPARK=a-s3cr3t-word"))
    assert [start(DB_PASSWORD="s3cr3t-word")[1], start(DB_PASSWORD="s3cr3t-word")[1]] == [1, 2]
    assert not any(b"s3cr3t" in path.read_bytes() for path in tmp_path.glob("cache/**/*") if path.is_file())


def test_a_command_that_does_not_start_a_jvm_is_forgotten(start):
    start()
    assert start(fails=True, NOW="broken")[1] == 1
    assert start()[1] == 2


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"words": 1, "env": {}}', '{"words": ["{settings}"], "env": 1}', '{"words": ["x"], "env": {}}'],
)
def test_a_kept_command_that_cannot_be_read_is_made_again(start, tmp_path, text):
    start()
    (kept,) = tmp_path.glob("cache/launch/*.json")
    kept.write_text(text)
    assert start()[1] == 2
    assert start()[1] == 2


def test_no_more_than_twenty_are_kept(start, tmp_path):
    folder = tmp_path / "cache" / "launch"
    folder.mkdir(parents=True)
    for number in range(25):
        (folder / f"{number}.json").write_text("{}")
        os.utime(folder / f"{number}.json", (number, number))
    start()
    kept = set(folder.glob("*.json"))
    assert len(kept) == 20
    (mine,) = (path for path in kept if not path.stem.isdecimal())
    os.utime(mine, (1, 1))
    assert start()[1] == 1
    assert mine.stat().st_mtime > 1000  # it was used


def test_a_cache_that_cannot_be_written_keeps_nothing(start, tmp_path):
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    (tmp_path / "cache").write_text("a file")
    assert [start()[1], start()[1]] == [1, 2]
