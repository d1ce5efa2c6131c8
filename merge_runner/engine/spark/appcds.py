"""The class-data archive of a local driver: Spark's classes as its JVM has them in memory, in a file of 190 MB.

With it a driver loads no class from a jar and starts in half the time. It fits one JVM, one class path and one set of
options, which are its key, after the line of Spark. A process of low priority makes it after a first run
(`engine/appcds_training.py`); `MERGE_RUNNER_CDS=0` switches it off, and where `CI` is set none is made unless
`MERGE_RUNNER_CDS=1` says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.atomic import write_atomic
from merge_runner.engine.spark.confs import jar_groups, spark_confs
from merge_runner.engine.spark.jars import runtime_folder
from merge_runner.engine.spark.java import java_version
from merge_runner.engine.spark.spark_home import installed_spark, spark_home
from merge_runner.engine.spark.user_confs import CLASS_PATH, OPTIONS, own_java, user_confs
from merge_runner.formats.lines import installed_line
from merge_runner.python_process import python_command

if TYPE_CHECKING:
    from merge_runner.project.schema.profile import Profile

_SWITCH = "MERGE_RUNNER_CDS"
_TRAINED_AS = 1
"""Counts the ways that archives were made: they are made again where the statements of the training change much."""
_READ_FROM_ENV = ("SPARK_CLASSPATH", "SPARK_DIST_CLASSPATH", "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Variables that put something on the class path of the driver."""
_FREE_BYTES = 1 << 30
_AGAIN_SECONDS = 24 * 3600.0
_LOW_PRIORITY = ("nice", "-n", "19")
_FIRST_JAVA = 13
"""The first version of Java with -XX:ArchiveClassesAtExit (JEP 350)."""


@dataclass(frozen=True)
class Archive:
    """The AppCDS archive of a driver, whether it exists yet or not. A file next to it records how it was made."""

    folder: Path
    key: str

    @property
    def path(self) -> Path:
        """The archive's file."""
        return self.folder / f"{self.key}.jsa"

    @property
    def record(self) -> Path:
        """The file with the archive's size and time: an archive that differs is damaged, and would crash a JVM."""
        return self.folder / f"{self.key}.json"

    @property
    def failed(self) -> Path:
        """The file with the reason why the archive could not be made."""
        return self.folder / f"{self.key}.failed"

    def is_whole(self) -> bool:
        """Whether the archive is there as it was made."""
        try:
            recorded = json.loads(self.record.read_text(encoding="utf-8"))
            stat = self.path.stat()
        except (OSError, ValueError):
            return False
        return bool(recorded == {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns})

    def used(self) -> None:
        """Notes that it is in use, so that it is kept longest."""
        with suppress(OSError):  # a folder that cannot be written needs no order
            os.utime(self.record)

    def publish(self, made: Path) -> None:
        """Puts the file `made` of the same folder in its place. Raises OSError."""
        with made.open("rb") as file:
            os.fsync(file.fileno())
        self.record.unlink(missing_ok=True)
        made.replace(self.path)
        stat = self.path.stat()
        write_atomic(self.record, json.dumps({"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}))
        self.failed.unlink(missing_ok=True)

    def discard(self) -> None:
        """Removes it: a JVM did not start with it."""
        for path in (self.record, self.path):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Removes the archives of other keys, but for the one of each line that was used last."""
        others = [path for path in self.folder.glob("*.json") if path != self.record]
        others.sort(key=lambda path: path.stat().st_mtime)
        last = {_line(path): path.stem for path in others}  # of each line, the last one wins
        kept = {self.key, *last.values()}
        for path in self.folder.glob("*.*"):
            if path.name.partition(".")[0] not in kept:
                path.unlink(missing_ok=True)


def archive(
    profile: Profile,
    confs: Mapping[str, str],
    java_home: Path,
    env: Mapping[str, str],
    defaults: Mapping[str, str] | None = None,
) -> Archive | None:
    """The archive that fits a driver with these confs; None where there can be none, or it is switched off.

    Only local drivers with our jars have one: they run on files that are known. A JVM that the profile's `jvm: custom`,
    its conf or the `defaults` of spark-defaults.conf give other options has none, nor has a Java that cannot write one.
    """
    local = profile.is_local and profile.jars == "pinned"
    own = profile.jvm == "custom" or own_java(user_confs(profile, defaults or {}))
    if not local or own or env.get(_SWITCH) == "0" or (java_version(java_home) or _FIRST_JAVA) < _FIRST_JAVA:
        return None
    parts = [str(_TRAINED_AS), confs[OPTIONS], *(f"{name}={env.get(name)}" for name in _READ_FROM_ENV)]
    jars = [Path(jar) for jar in confs.get(CLASS_PATH, "").split(os.pathsep) if jar]
    try:
        parts += _java(java_home)
        parts += _files([*jars, *sorted((spark_home() / "jars").iterdir())])
    except OSError:  # an installation of another kind, of which nothing is known
        return None
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return Archive(runtime_folder(env) / "cds", f"{installed_line().extra}-{key}")


def with_archive(confs: Mapping[str, str], fitting: Archive | None, log: Path) -> dict[str, str]:
    """The confs of a driver that uses the archive; they are as before where it is not there."""
    if fitting is None or not fitting.is_whole():
        return dict(confs)
    fitting.used()
    options = (
        f'-XX:SharedArchiveFile="{fitting.path}" -Xshare:auto',
        # Where the JVM does not take it, it goes on without, and need not talk of it.
        "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off",
        f'-XX:ErrorFile="{log.absolute().parent / "hs_err_pid%p.log"}"',
    )
    return {**confs, OPTIONS: " ".join((confs[OPTIONS], *options))}


def make_later(fitting: Archive | None, profile: Profile, java_home: Path, env: Mapping[str, str]) -> None:
    """Start a separate process that makes the archive if it is missing; the caller neither waits nor fails."""
    if fitting is None or fitting.is_whole() or (env.get("CI") and env.get(_SWITCH) != "1"):
        return
    with suppress(OSError):
        if time.time() - fitting.failed.stat().st_mtime < _AGAIN_SECONDS:
            return
    with suppress(OSError):
        fitting.folder.mkdir(parents=True, exist_ok=True)
        if not os.access(fitting.folder, os.W_OK) or shutil.disk_usage(fitting.folder).free < _FREE_BYTES:
            return
        subprocess.Popen(
            [*_LOW_PRIORITY, *training_command(profile, java_home)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=fitting.folder,
            env={**os.environ, **env},
            start_new_session=True,
        )


def training_command(profile: Profile, java_home: Path) -> list[str]:
    """The command of the process that makes the archive of a profile's drivers."""
    jvm = profile.jvm or "fast-start"
    return python_command("merge_runner.engine.appcds_training", str(java_home), jvm, *jar_groups(profile))


def archive_state(profile: Profile, root: Path, env: Mapping[str, str], java_home: Path, jars: Sequence[Path]) -> str:
    """Return the state of the archive of a profile's drivers, with this Java and these jars, as text."""
    defaults = installed_spark(root, env).defaults
    confs = spark_confs(profile, root, jars, defaults)
    fitting = archive(profile, confs, java_home, env, defaults)
    if fitting is None:
        return (
            f"off: {_SWITCH}=0"
            if env.get(_SWITCH) == "0"
            else "none for this target: it is not local, has its own JVM options or jars, `jars: provided`, or Java 11"
        )
    if fitting.is_whole():
        return f"{fitting.path.stat().st_size / 1e6:.0f} MB in {fitting.path}"
    with suppress(OSError):
        return f"none, it could not be made: {fitting.failed.read_text(encoding='utf-8').strip()}"
    return "none yet: `merge-runner deps --archive` makes it" + ("" if env.get("CI") else ", or the first run")


def _java(home: Path) -> Iterable[str]:
    release = home / "release"
    yield release.read_text(encoding="utf-8", errors="replace") if release.exists() else ""
    yield from _files(sorted(home.resolve().glob("lib/server/*")))


def _line(path: Path) -> str:
    """The line of Spark in the name of an archive's file; nothing for one of an earlier version."""
    return path.stem.rpartition("-")[0]


def _files(paths: Iterable[Path]) -> Iterable[str]:
    for path in paths:
        stat = path.stat()
        yield f"{path} {stat.st_size} {stat.st_mtime_ns}"
