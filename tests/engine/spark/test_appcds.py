"""The class-data archive: which driver it fits, when it is written, used and removed, and what a broken one does."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from merge_runner.engine.spark import appcds
from merge_runner.engine.spark.appcds import archive, archive_state, tidy, wait_for_archive, with_archive
from merge_runner.engine.spark.confs import spark_confs
from merge_runner.engine.startup import DriverStart, Machine, start_driver
from merge_runner.errors import ProblemsError
from merge_runner.formats.lines import installed_line
from merge_runner.project.schema.profile import Profile

OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A pretended Java, Spark and jars; `fits` gives the archive of a profile on them."""
    java, spark, cache = tmp_path / "java", tmp_path / "spark", tmp_path / "cache"
    jars = (spark / "jars/core.jar", cache / "jars/delta.jar")
    for path in (java / "lib/server/libjvm.so", java / "lib/server/classes.jsa", java / "release", *jars):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    monkeypatch.setenv("SPARK_HOME", str(spark))
    env = {"MERGE_RUNNER_CACHE_DIR": str(cache)}
    profile = Profile("shop", "dev", "shop")

    def fits(profile=profile, **env_too):
        confs = spark_confs(profile, tmp_path, [cache / "jars/delta.jar"])
        return archive(profile, confs, java, {**env, **env_too})

    return SimpleNamespace(java=java, spark=spark, cache=cache, env=env, profile=profile, fits=fits, root=tmp_path)


WHOLE, LITTLE = 120 << 20, 20 << 20


def written(path, size=WHOLE, head=b"head", age=0.0):
    """Write a file as a JVM does, without taking its room on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head)
    os.truncate(path, size)
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def kept(fitting, key=None, **how):
    """Write an archive that a JVM has written, and return its path."""
    return written(fitting.folder / f"{key or fitting.key}-{WHOLE}.jsa", **how)


def names(fitting):
    """Return the names of all files in the folder of archives."""
    return sorted(path.name for path in fitting.folder.iterdir())


@pytest.mark.parametrize(
    "changed", ["java/lib/server/libjvm.so", "java/release", "spark/jars/core.jar", "cache/jars/delta.jar"]
)
def test_an_archive_fits_one_jvm_and_one_class_path(machine, changed):
    before = machine.fits()
    assert before == machine.fits()
    (machine.root / changed).write_text("another one")
    assert machine.fits().key != before.key


def test_an_archive_fits_one_kind_of_jvm_and_one_set_of_jars(machine):
    keys = [machine.fits().key, machine.fits(replace(machine.profile, jvm="throughput")).key]
    keys.append(machine.fits(SPARK_CLASSPATH="/more.jar").key)
    (machine.spark / "jars/another.jar").write_text("x")
    keys.append(machine.fits().key)
    assert len(set(keys)) == 4
    assert machine.fits(replace(machine.profile, jvm="fast-start", threads=7, conf={"a": "b"})).key == keys[-1]


@pytest.mark.parametrize(
    "keys",
    [
        {"master": "spark://h:7077"},
        {"jvm": "custom"},
        {"conf": {OPTIONS: "-Xint"}},
        {"conf": {"spark.driver.extraClassPath": "/x.jar"}},
        {"conf": {"spark.jars.packages": "org.postgresql:postgresql:42.7.7"}},
    ],
)
def test_what_is_not_local_or_has_a_jvm_of_its_own_has_no_archive(machine, keys):
    profile = replace(machine.profile, **keys)
    confs = {"spark.driver.extraClassPath": "x", OPTIONS: "y"}
    assert archive(profile, confs, machine.java, machine.env) is None


def options(machine, fitting, **env):
    """Return what a driver's options of its JVM end with."""
    chosen = with_archive({OPTIONS: "-Da=b"}, fitting, Path("/logs/spark.log"), {**machine.env, **env})
    return chosen[OPTIONS].removeprefix("-Da=b").lstrip()


def part_of(text):
    """Return the file to which a JVM with these options writes an archive; None: it writes none."""
    option = text.partition(" ")[0]
    return Path(option.removeprefix("-XX:ArchiveClassesAtExit=").strip('"')) if "AtExit" in option else None


def test_an_archive_is_used_once_a_jvm_has_written_it(machine):
    fitting = machine.fits()
    first, second = (part_of(options(machine, fitting)) for _ in range(2))
    assert (first.parent, first.suffix) == (fitting.folder, ".part")
    assert first != second
    written(first)
    written(second)  # two JVMs that end at once
    used = options(machine, fitting)
    path = fitting.folder / f"{fitting.key}-{WHOLE}.jsa"
    assert used.startswith(f'-XX:SharedArchiveFile="{path}" -Xshare:auto -Xlog:cds=off')
    assert '-XX:ErrorFile="/logs/hs_err_pid%p.log"' in used
    assert names(fitting) == [path.name]


LEFT = {
    "nothing yet: the JVM has just begun": (".part", 0, b""),
    "a JVM that was killed before it had written the header": (".part", WHOLE, b"\0\0\0\0"),
    "an archive of few classes: the command was killed, and its JVM ended": (".part", LITTLE, b"head"),
    "an archive that was cut off, or of which a part alone was copied": (f"-{WHOLE}.jsa", LITTLE, b"head"),
    "something else": (".json", 2, b"{}"),
}


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_what_is_no_archive_is_not_used_and_not_kept(machine, left):
    fitting = machine.fits()
    suffix, size, head = left
    path = written(fitting.folder / f"{fitting.key}{suffix}", size, head)
    assert part_of(options(machine, fitting)) not in (None, path)
    assert path.exists()  # a JVM may still write it
    os.utime(path, (1, 1))
    assert part_of(options(machine, fitting)) is not None
    assert names(fitting) == []


def test_an_archive_that_was_cut_off_is_replaced(machine):
    fitting = machine.fits()
    path = kept(fitting, size=LITTLE)
    written(part_of(options(machine, fitting)))
    assert options(machine, fitting).startswith(f'-XX:SharedArchiveFile="{path}"')
    assert path.stat().st_size == WHOLE


def test_the_switch_turns_it_off(machine):
    assert machine.fits(MERGE_RUNNER_CDS="0") is None
    assert options(machine, None) == ""


def test_none_is_written_where_ci_pays_for_it_or_there_is_no_room(machine, monkeypatch):
    fitting = machine.fits()
    assert options(machine, fitting, CI="true") == ""
    assert options(machine, fitting, CI="true", MERGE_RUNNER_CDS="1") != ""
    with monkeypatch.context() as patch:
        patch.setattr(appcds.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
        assert options(machine, fitting) == ""
    with monkeypatch.context() as patch:
        patch.setattr(appcds.os, "access", lambda *_: False)
        assert options(machine, fitting) == ""


def test_a_cache_that_cannot_be_written_costs_nothing_but_the_archive(machine, monkeypatch):
    def refuse(*_):
        raise PermissionError

    (machine.cache / "cds").write_text("a file where the folder should be")
    assert options(machine, machine.fits()) == ""
    (machine.cache / "cds").unlink()
    fitting = machine.fits()
    written(fitting.folder / f"{fitting.key}-x.part")
    written(fitting.folder / "old.part", age=1e6)
    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, refuse)
    monkeypatch.setattr(appcds.os, "access", lambda *_: False)
    assert options(machine, fitting) == ""
    path = kept(fitting)
    monkeypatch.setattr(appcds.os, "utime", refuse)
    assert options(machine, fitting).startswith(f'-XX:SharedArchiveFile="{path}"')


def test_the_archives_that_were_used_last_are_kept(machine):
    fitting = machine.fits()
    for age, key in enumerate(["b", "c", "d", "e"]):
        kept(fitting, key, age=1000 + age)
    kept(fitting, age=2000)
    kept(fitting, "young", age=1)
    options(machine, fitting)  # it is used too late
    assert names(fitting) == sorted(f"{key}-{WHOLE}.jsa" for key in ("b", "c", "young"))
    kept(fitting, age=1000.5)
    options(machine, fitting)
    kept(fitting, "new")
    tidy(fitting.folder)
    assert names(fitting) == sorted(f"{key}-{WHOLE}.jsa" for key in (fitting.key, "new", "young"))


def test_a_command_waits_for_the_archive_where_that_is_asked_for(machine):
    fitting = machine.fits()

    source, part = written(machine.root / "dump"), part_of(options(machine, fitting))
    jvm = subprocess.Popen(["/bin/sh", "-c", 'sleep 0.2; mv "$1" "$2"', "sh", str(source), str(part)])
    wait_for_archive(jvm, {**machine.env, "MERGE_RUNNER_CDS": "1"})
    assert names(fitting) == [f"{fitting.key}-{WHOLE}.jsa"]
    slow = subprocess.Popen(["sleep", "600"])
    wait_for_archive(slow, machine.env)
    assert slow.poll() is None
    slow.kill()
    slow.wait()


def test_debug_reports_the_state_of_the_archive(machine):
    def state(**env):
        jars = [machine.cache / "jars/delta.jar"]
        return archive_state(machine.profile, machine.root, {**machine.env, **env}, machine.java, jars)

    assert state() == "none yet: the next run writes it"
    assert state(CI="1").startswith("none yet, and none is written: CI is set, or ")
    assert state(MERGE_RUNNER_CDS="0") == "off: MERGE_RUNNER_CDS=0"
    path = kept(machine.fits())
    assert state() == f"126 MB in {path}"
    (machine.java / "lib/server/classes.jsa").unlink()
    assert state().endswith("or a Java without lib/server/classes*.jsa")


def jvms(machine, submit, open_driver):
    """Return a machine whose JVM is the shell script `submit`."""
    (machine.spark / "bin").mkdir()
    path = machine.spark / "bin/spark-submit"
    path.write_text(f"#!/bin/sh\n{submit}\n")
    path.chmod(0o755)
    return Machine(
        running_already=lambda: False,
        find_java=lambda _env: machine.java,
        require_java=lambda _env: machine.java,
        jars_at_hand=lambda *_: [machine.cache / "jars/delta.jar"],
        fetch_jars=lambda *_: [machine.cache / "jars/delta.jar"],
        open_driver=open_driver,
        forget_gateway=lambda: None,
    )


def test_a_start_that_is_abandoned_writes_no_archive(machine, tmp_path):
    here = jvms(machine, "trap '' TERM; echo up; sleep 600; echo dumped", lambda *_: None)
    log = tmp_path / "spark.log"
    start = DriverStart(machine.profile, tmp_path, log, machine.env, lambda _: None, here)
    start.launch()
    jvm = start._jvm
    while "up" not in log.read_text():
        time.sleep(0.01)
    start.abandon()
    assert jvm.process.poll() is not None
    assert "dumped" not in log.read_text()
    assert names(machine.fits()) == []


@pytest.mark.parametrize("starts_without", [True, False])
def test_a_jvm_that_cannot_bear_its_archive_is_started_without(machine, tmp_path, starts_without):
    driver = object()

    def open_driver(confs, jvm):
        if "SharedArchiveFile" in confs[OPTIONS] or not starts_without:
            jvm.connect()
        return driver

    here = jvms(machine, "exit 134", open_driver)
    path = kept(machine.fits())
    if starts_without:
        assert start_driver(machine.profile, tmp_path, tmp_path / "spark.log", machine.env, machine=here) is driver
    else:
        with pytest.raises(ProblemsError):
            start_driver(machine.profile, tmp_path, tmp_path / "spark.log", machine.env, machine=here)
    assert path.exists() is not starts_without  # another reason than the archive: it stays


MERGE = """
merge into {{ this }} as t using (select id, 'a' as name from range(3)) as s on t.id = s.id
when matched then update set * when not matched then insert *
"""


@pytest.mark.nightly
@pytest.mark.lines
@pytest.mark.spark
@pytest.mark.skipif(not installed_line().formats, reason="no table format has a build for this line of Spark")
def test_a_real_archive_is_made_and_used_and_one_that_crashes_the_jvm_is_thrown_away(make_project, tmp_path):
    from merge_runner.engine.spark.jars import runtime_folder

    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "jars").symlink_to(runtime_folder(os.environ) / "jars")
    env = {**os.environ, "MERGE_RUNNER_CACHE_DIR": str(cache)}
    for name in ("MERGE_RUNNER_CDS", "CI"):
        env.pop(name, None)

    def called(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "merge_runner", *arguments],
            cwd=root,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    root = make_project({"models/m.sql": MERGE})
    env["MERGE_RUNNER_CDS"] = "1"
    called("build", "--no-lint")
    (path,) = (cache / "cds").iterdir()
    assert path.name.endswith(f"-{path.stat().st_size}.jsa")
    build = subprocess.Popen([sys.executable, "-m", "merge_runner", "build", "--no-lint"], cwd=root, env=env)
    deadline, mapped = time.monotonic() + 120, False
    while not mapped and build.poll() is None and time.monotonic() < deadline:
        maps = Path("/proc").glob("[0-9]*/maps")
        mapped = any(str(path) in _text(entry) for entry in maps)
        time.sleep(0.1)
    assert build.wait(120) == 0
    assert mapped
    log = (root / "target/logs/spark.log").read_text()
    assert "warning" not in log
    assert "archive" not in log

    env |= {"CI": "true", "MERGE_RUNNER_CDS": ""}  # no other one is written
    path.chmod(0o644)
    os.truncate(path, 1_000_000)
    broken = path.rename(path.with_name(f"{path.stem.partition('-')[0]}-1000000.jsa"))
    called("build", "--no-lint")
    assert not broken.exists()
    assert list(root.glob("hs_err*")) == []


def _text(path):
    try:
        return path.read_text()
    except OSError:
        return ""
