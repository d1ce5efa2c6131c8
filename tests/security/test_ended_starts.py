"""A build that is ended while its JVM starts: no secret, no folder and no process is left. Spark's launcher is a script."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from merge_runner.engine.spark.start_folder import StartFolder
from merge_runner.formats.lines import installed_line

SECRET = "s3cr3t-word"
JVM = """
import os, shlex, socket, struct, sys
from pathlib import Path

Path(shlex.split(os.environ["SPARK_SUBMIT_OPTS"])[0].removeprefix("-Djava.io.tmpdir="), "artifacts-x").mkdir()

def reached(moment):
    if os.environ["MOMENT"] == moment:
        Path("reached.part").write_text(str(os.getpid()))
        os.rename("reached.part", "reached")
        sys.stdin.read()  # PySpark's JVM ends when its standard input is closed, too
        sys.exit()

reached("launcher")
confs = open(sys.argv[sys.argv.index("--properties-file") + 1]).read()
assert "s3cr3t-word" in confs
reached("confs")
listening = socket.create_server(("127.0.0.1", 0))
path = os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"]
with open(path + ".part", "wb") as file:
    file.write(struct.pack(">ii", listening.getsockname()[1], 5) + b"token")
reached("gateway file")
os.rename(path + ".part", path)
connection = listening.accept()  # and never answers
reached("gateway")
"""
SUBMIT = """#!/bin/sh
exec {python} {jvm} "$@"
"""
PROFILE = {
    "schema": "shop",
    "warehouse": "warehouse",
    "master": "local[2]",
    "jars": "provided",
    "conf": {"my.password": SECRET},
}


@pytest.fixture
def start(tmp_path, make_project):
    """Start a build, and return it with its JVM when that has reached a moment; TMPDIR is the folder `tmp`."""
    line = installed_line()
    home, java, scratch = tmp_path / "spark", tmp_path / "java", tmp_path / "tmp"
    for folder in (home / "bin", home / "jars", java / "bin", scratch):
        folder.mkdir(parents=True)
    (home / "jars" / f"spark-core_{line.scala}-{line.spark}.0.jar").touch()
    (home / "jars" / "delta-spark.jar").touch()
    (java / "bin" / "java").touch()
    (java / "release").write_text(f'JAVA_VERSION="{max(line.java)}"\n')
    (tmp_path / "jvm.py").write_text(JVM)
    submit = home / "bin" / "spark-submit"
    submit.write_text(SUBMIT.format(python=sys.executable, jvm=tmp_path / "jvm.py"))
    submit.chmod(0o755)
    root = make_project(
        {
            "profiles.yml": json.dumps({"shop0": {"outputs": {"dev": PROFILE}}}),
            "pyproject.toml": '[tool.merge-runner]\nname = "shop0"\n',
            "models/a.sql": "{{ config(materialized='table') }} select 1 as n",
        }
    )
    env = {
        **os.environ,
        "SPARK_HOME": str(home),
        "JAVA_HOME": str(java),
        "TMPDIR": str(scratch),
        "MERGE_RUNNER_CACHE_DIR": str(tmp_path / "cache"),
        "MERGE_RUNNER_WARM": "0",
    }
    env.pop("SPARK_CONF_DIR", None)

    def run(moment, before=()):
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "merge_runner", "build", "--no-lint"],
            cwd=root,
            env={**env, "MOMENT": moment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while not (root / "reached").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return process, int((root / "reached").read_text()), root

    return run


def wait_for_end(pid):
    deadline = time.monotonic() + 30
    while (stat := Path(f"/proc/{pid}/stat")).exists() and ") Z " not in stat.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def files_with_secret(place):
    """The files below a folder that hold the secret; a shell may remove folders while they are read."""
    paths = [Path(folder, name) for folder, _, names in os.walk(place) for name in names]
    return [path for path in paths if holds_secret(path)]


def holds_secret(path):
    try:
        return path.is_file() and SECRET in path.read_text("latin-1")
    except FileNotFoundError:
        return False


def until_none_is_in(folder, but=()):
    """Wait until nothing else is in a folder: a shell removes what a JVM had there."""
    deadline = time.monotonic() + 30
    while {*folder.iterdir()} != {*but}:
        assert time.monotonic() < deadline, list(folder.iterdir())
        time.sleep(0.02)


def start_another():
    """Make the folder of another start, which removes those that are abandoned."""
    folder = StartFolder()
    folder.close()
    until_none_is_in(folder.path.parent, {*folder.path.parent.iterdir()} - {folder.path})


MOMENTS = ("launcher", "confs", "gateway file", "gateway")
linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="a file without a name needs /proc")


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_start_as_ctrl_c_does(start, tmp_path, number, moment):
    process, jvm, _ = start(moment)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2, stderr
    assert stderr.rstrip().endswith("interrupted")
    assert "Traceback" not in stderr
    wait_for_end(jvm)
    until_none_is_in(tmp_path / "tmp")


@linux
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kill", [os.kill, os.killpg])
def test_a_killed_start_leaves_no_secret_and_no_folder(start, tmp_path, kill, moment):
    process, jvm, root = start(moment)
    kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    wait_for_end(jvm)
    scratch = tmp_path / "tmp"
    for place in (scratch, root / "target", tmp_path / "cache"):
        assert not files_with_secret(place)
    until_none_is_in(scratch)


def test_the_folder_of_a_jvm_that_is_up_has_its_temporary_files_and_no_secret(start, tmp_path):
    process, _, _ = start("gateway")
    (folder,) = (tmp_path / "tmp").iterdir()
    assert [path.name for path in folder.iterdir()] == ["artifacts-x"]
    process.terminate()
    process.communicate(timeout=60)


@linux
def test_the_confs_are_in_no_file_that_has_a_name_while_the_jvm_starts(start, tmp_path):
    process, _, root = start("launcher")
    for place in (tmp_path / "tmp", root / "target", tmp_path / "cache"):
        assert not files_with_secret(place)
    process.terminate()
    process.communicate(timeout=60)


def test_a_process_that_ignores_hangups_and_ctrl_c_goes_on_after_those_and_ends_by_sigterm(start):
    process, _, _ = start("launcher", before=("/bin/sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh"))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.terminate()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2, stderr


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A temporary folder with things that are not ours to remove, all of them old."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def old(path):
    os.utime(path, (1, 1), follow_symlinks=False)
    return path


def test_only_abandoned_folders_of_the_user_are_removed(temporary, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    link = temporary / "merge-runner-start-link"
    link.symlink_to(outside)
    file = temporary / "merge-runner-start-file"
    file.touch()
    other = temporary / "another-start-x"
    other.mkdir()
    young = temporary / "merge-runner-start-young"
    young.mkdir()
    used = StartFolder()
    abandoned = temporary / "merge-runner-start-abandoned"
    abandoned.mkdir()
    (abandoned / "inner").symlink_to(outside)
    for path in (old(outside), link, file, other, used.path, abandoned):
        old(path)
    fifo = temporary / "merge-runner-start-fifo"
    os.mkfifo(fifo)
    start_another()
    assert set(temporary.iterdir()) == {link, file, other, young, used.path, fifo}
    assert (outside / "kept").exists()
    used.close()


def test_a_folder_is_in_use_as_long_as_a_process_that_has_inherited_it_lives(temporary):
    folder = StartFolder()
    jvm = subprocess.Popen(["sleep", "60"], pass_fds=folder.inherited)
    folder.close()
    old(folder.path)
    start_another()
    assert folder.path.exists()
    jvm.kill()
    jvm.wait()
    until_none_is_in(temporary)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_another_user_stays(temporary):
    theirs = temporary / "merge-runner-start-theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    old(theirs)
    start_another()
    assert theirs.exists()


def test_a_folder_is_for_its_owner_alone_whatever_the_umask(temporary):
    before = os.umask(0)
    try:
        folder = StartFolder()
    finally:
        os.umask(before)
    assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.close()
    until_none_is_in(temporary)


KILLED = """
import os, signal
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.run.execution.scratch_folder import scratch_folder

with scratch_folder(Scratch.of("12345678")) as scratch:
    (scratch.folder / "warehouse").mkdir()
    (scratch.folder / "warehouse" / "row").write_text("s3cr3t-word")
    print(scratch.folder, flush=True)
    os.kill(os.getpid(), signal.{})
"""


@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM", "SIGCONT"])
def test_the_tables_of_unit_tests_go_with_the_process(tmp_path, number):
    ended = subprocess.run(
        [sys.executable, "-c", KILLED.format(number)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout.startswith(str(tmp_path)), ended.stderr
    deadline = time.monotonic() + 30
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []
