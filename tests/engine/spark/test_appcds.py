"""The class-data archive: which driver it fits, when it is used, made and removed."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from merge_runner.engine.appcds_training import groups_of_driver, training_profile
from merge_runner.engine.spark import appcds
from merge_runner.engine.spark.appcds import archive, archive_state, make_later, with_archive
from merge_runner.engine.spark.confs import jar_groups, spark_confs
from merge_runner.engine.startup import Machine, start_driver
from merge_runner.errors import ProblemsError
from merge_runner.project.schema.profile import Profile

OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A pretended Java, Spark and jars; `fits` gives the archive of a profile on them."""
    java, spark, cache = tmp_path / "java", tmp_path / "spark", tmp_path / "cache"
    for path in (java / "lib/server/libjvm.so", java / "release", spark / "jars/core.jar", cache / "jars/delta.jar"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    monkeypatch.setenv("SPARK_HOME", str(spark))
    env = {"MERGE_RUNNER_CACHE_DIR": str(cache)}
    profile = Profile("shop", "dev", "shop")

    def fits(profile=profile, **env_too):
        confs = spark_confs(profile, tmp_path, [cache / "jars/delta.jar"])
        return archive(profile, confs, java, {**env, **env_too})

    return SimpleNamespace(java=java, spark=spark, cache=cache, env=env, profile=profile, fits=fits, root=tmp_path)


def made(fitting, text="classes"):
    fitting.folder.mkdir(parents=True, exist_ok=True)
    part = fitting.folder / "x.part"
    part.write_text(text)
    fitting.publish(part)


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


def test_an_archive_is_used_once_it_is_there_and_whole(machine):
    fitting, confs = machine.fits(), {OPTIONS: "-Da=b", "c": "d"}
    assert with_archive(confs, fitting, Path("/logs/spark.log")) == confs
    made(fitting)
    chosen = with_archive(confs, fitting, Path("/logs/spark.log"))
    assert chosen[OPTIONS].startswith(f'-Da=b -XX:SharedArchiveFile="{fitting.path}" -Xshare:auto')
    assert '-XX:ErrorFile="/logs/hs_err_pid%p.log"' in chosen[OPTIONS]
    assert chosen["c"] == "d"
    assert with_archive(confs, None, Path("/logs/spark.log")) == confs


@pytest.mark.parametrize("damage", ["class", "cla55es", None])
def test_a_damaged_archive_is_not_used(machine, damage):
    fitting = machine.fits()
    made(fitting)
    if damage is None:
        fitting.record.write_text("{")
    else:
        fitting.path.write_text(damage)
    assert not fitting.is_whole()
    assert with_archive({OPTIONS: ""}, fitting, Path("/l")) == {OPTIONS: ""}


def test_the_switch_turns_it_off(machine):
    assert machine.fits(MERGE_RUNNER_CDS="0") is None


@pytest.fixture
def processes(monkeypatch):
    started = []
    # A patch: the process that makes an archive outlives its parent.
    monkeypatch.setattr(appcds.subprocess, "Popen", lambda command, **_: started.append(command))
    return started


def later(machine, **env):
    make_later(machine.fits(**env), machine.profile, machine.java, {**machine.env, **env})


def test_a_missing_archive_is_made_by_a_process_of_low_priority(machine, processes):
    later(machine)
    (command,) = processes
    assert command[:3] == ["nice", "-n", "19"]
    made_for = [str(machine.java), "fast-start", "delta", "local-files"]
    assert command[-5:] == ["merge_runner.engine.appcds_training", *made_for]


def test_none_is_made_where_one_is_there_or_ci_pays_for_it_or_there_is_no_room(machine, processes, monkeypatch):
    later(machine, CI="true")
    later(machine, MERGE_RUNNER_CDS="0")
    with monkeypatch.context() as patch:
        patch.setattr(appcds.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
        later(machine)
    with monkeypatch.context() as patch:
        patch.setattr(appcds.os, "access", lambda *_: False)
        later(machine)
    made(machine.fits())
    later(machine)
    assert processes == []
    machine.fits().discard()
    later(machine, CI="true", MERGE_RUNNER_CDS="1")
    assert len(processes) == 1


def test_a_cache_that_cannot_be_written_costs_nothing_but_the_archive(machine, processes):
    (machine.cache / "cds").write_text("a file where the folder should be")
    later(machine)
    assert processes == []


def test_what_failed_is_not_tried_again_with_every_run(machine, processes):
    fitting = machine.fits()
    fitting.folder.mkdir()
    fitting.failed.write_text("no base archive\n")
    later(machine)
    assert processes == []
    os.utime(fitting.failed, (0, 0))
    later(machine)
    assert len(processes) == 1


def test_the_archive_of_each_line_that_was_used_last_is_kept_beside_the_one_of_now(machine):
    folder = machine.fits().folder
    fitting = replace(machine.fits(), key="spark41-now")
    for age, key in enumerate(
        ["spark41-now", "spark41-last", "spark35-x", "spark41-older", "spark35-old", "of_before"]
    ):
        made(replace(fitting, key=key))
        os.utime(folder / f"{key}.json", (1000 - age, 1000 - age))
    (folder / "gone.123.part").write_text("of a killed process")
    fitting.tidy()
    kept = ("of_before", "spark35-x", "spark41-last", "spark41-now")
    assert sorted(path.name for path in folder.iterdir()) == [f"{key}.{end}" for key in kept for end in ("jsa", "json")]


def test_debug_reports_the_state_of_the_archive(machine):
    def state(**env):
        jars = [machine.cache / "jars/delta.jar"]
        return archive_state(machine.profile, machine.root, {**machine.env, **env}, machine.java, jars)

    assert state() == "none yet: `merge-runner deps --archive` makes it, or the first run"
    assert state(CI="1") == "none yet: `merge-runner deps --archive` makes it"
    assert state(MERGE_RUNNER_CDS="0") == "off: MERGE_RUNNER_CDS=0"
    machine.fits().folder.mkdir()
    machine.fits().failed.write_text("no base archive\n")
    assert state() == "none, it could not be made: no base archive"
    made(machine.fits())
    assert state() == f"0 MB in {machine.fits().path}"


@pytest.mark.parametrize("starts_without", [True, False])
def test_a_jvm_that_cannot_bear_its_archive_is_started_without(machine, tmp_path, starts_without):
    (machine.spark / "bin").mkdir()
    submit = machine.spark / "bin/spark-submit"
    submit.write_text("#!/bin/sh\nexit 134\n")
    submit.chmod(0o755)
    driver = object()

    def open_driver(confs, jvm, afterwards):
        if "SharedArchiveFile" in confs[OPTIONS] or not starts_without:
            jvm.connect()
        return driver

    here = Machine(
        running_already=lambda: False,
        find_java=lambda _env: machine.java,
        require_java=lambda _env: machine.java,
        jars_at_hand=lambda *_: [machine.cache / "jars/delta.jar"],
        fetch_jars=lambda *_: [machine.cache / "jars/delta.jar"],
        open_driver=open_driver,
        forget_gateway=lambda: None,
    )
    made(machine.fits())
    if starts_without:
        assert start_driver(machine.profile, tmp_path, tmp_path / "spark.log", machine.env, machine=here) is driver
    else:
        with pytest.raises(ProblemsError):
            start_driver(machine.profile, tmp_path, tmp_path / "spark.log", machine.env, machine=here)
    assert machine.fits().is_whole() is not starts_without  # another reason than the archive: it stays


@pytest.mark.parametrize(
    ("groups", "catalogs"),
    [
        (["delta"], {}),
        (["delta", "iceberg"], {"ice": {"type": "hadoop", "warehouse": "ice"}}),
        (["delta", "iceberg", "sqlite"], {"ice": {"type": "embedded"}}),
    ],
)
def test_deps_makes_the_archive_of_the_drivers_that_will_run(tmp_path, groups, catalogs):
    profile = replace(Profile("local", "local", "shop", master="local[*]"), catalogs=catalogs)
    trained = training_profile("fast-start", groups, tmp_path)
    assert tuple(groups_of_driver(trained, groups)) == jar_groups(profile)


MERGE = """
merge into {{ this }} as t using (select id, 'a' as name from range(3)) as s on t.id = s.id
when matched then update set * when not matched then insert *
"""


@pytest.mark.nightly
@pytest.mark.lines
@pytest.mark.spark
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
    path = Path(called("deps", "--archive").stdout.splitlines()[-1])
    assert path.stat().st_size > 50e6
    build = subprocess.Popen([sys.executable, "-m", "merge_runner", "build", "--no-lint"], cwd=root, env=env)
    deadline, mapped = time.monotonic() + 120, False
    while not mapped and build.poll() is None and time.monotonic() < deadline:
        maps = Path("/proc").glob("[0-9]*/maps")
        mapped = any(str(path) in _text(entry) for entry in maps)
        time.sleep(0.1)
    assert build.wait(120) == 0
    assert mapped
    assert "warning" not in (root / "target/logs/spark.log").read_text()

    path.chmod(0o644)
    os.truncate(path, 1_000_000)
    stat = path.stat()
    path.with_suffix(".json").write_text(json.dumps({"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}))
    env["CI"] = "true"  # no other one is made
    called("build", "--no-lint")
    assert not path.exists()
    assert list(root.glob("hs_err*")) == []


def _text(path):
    try:
        return path.read_text()
    except OSError:
        return ""
