"""The class-data archive of a local driver: Spark's classes as its JVM has them in memory, in a file of 190 MB.

With it a driver loads no class from a jar and starts in half the time. It fits one JVM, one class path and one set of
options, which are its key. The JVM of a run that has none writes one when it ends, after the command, and a
later start gives it its name. `MERGE_RUNNER_CDS=0` switches it off. Where `CI` is set none is written, unless
`MERGE_RUNNER_CDS=1` says so; the command waits for it then.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.spark.confs import spark_confs
from merge_runner.engine.spark.jars import runtime_folder
from merge_runner.engine.spark.java import java_version
from merge_runner.engine.spark.spark_home import installed_spark, spark_home
from merge_runner.engine.spark.user_confs import CLASS_PATH, OPTIONS, own_java, user_confs

if TYPE_CHECKING:
    from subprocess import Popen

    from merge_runner.project.schema.profile import Profile

_SWITCH = "MERGE_RUNNER_CDS"
_READ_FROM_ENV = ("SPARK_CLASSPATH", "SPARK_DIST_CLASSPATH", "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Variables that put something on the class path of the driver."""
_FREE_BYTES = 1 << 30
_LEAST_BYTES = 100 << 20
"""An archive that is smaller is of a JVM that has run next to nothing, as where its command was killed."""
_MOST_ARCHIVES = 3
_ABANDONED_SECONDS = 600.0
"""After so long without a change a file is none that a JVM still writes: that takes some ten seconds."""
_WRITE_SECONDS = 600.0
_FIRST_JAVA = 13
"""The first version of Java with -XX:ArchiveClassesAtExit (JEP 350)."""
_JAVAS_OWN = "lib/server/classes*.jsa"
"""The archive of Java's own classes, on which that of a driver builds; a runtime of chosen modules may have none."""
_WRITES = "-XX:ArchiveClassesAtExit="
# Not -XX:+AutoCreateSharedArchive of Java 19 and newer: two JVMs that end together would write the same file, and Java
# 17 would need this way all the same.


@dataclass(frozen=True)
class Archive:
    """The class-data archive of a driver, whether it exists or not.

    Its name ends with its size: a file that was cut off, as by a full disk, would crash the JVM that uses it (Java 17).
    """

    folder: Path
    key: str

    def path(self) -> Path | None:
        """Return the archive's file; None: there is none."""
        return next((path for path in self.folder.glob(f"{self.key}-*.jsa") if _has_its_size(path)), None)

    def discard(self) -> None:
        """Remove it: a JVM did not start with it."""
        path = self.path()
        with suppress(OSError):
            if path is not None:
                path.unlink()

    def may_be_written(self, env: Mapping[str, str]) -> bool:
        """Whether a JVM is to write it when it ends, and can."""
        if env.get("CI") and env.get(_SWITCH) != "1":
            return False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            return os.access(self.folder, os.W_OK) and shutil.disk_usage(self.folder).free > _FREE_BYTES
        except OSError:
            return False


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
    old = (java_version(java_home) or _FIRST_JAVA) < _FIRST_JAVA
    if not local or own or env.get(_SWITCH) == "0" or old or not any(java_home.glob(_JAVAS_OWN)):
        return None
    parts = [confs[OPTIONS], *(f"{name}={env.get(name)}" for name in _READ_FROM_ENV)]
    jars = [Path(jar) for jar in confs.get(CLASS_PATH, "").split(os.pathsep) if jar]
    try:
        parts += _java(java_home)
        parts += _files([*jars, *sorted((spark_home() / "jars").iterdir())])
    except OSError:  # an installation of another kind, of which nothing is known
        return None
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return Archive(_folder(env), key)


def with_archive(
    confs: Mapping[str, str], fitting: Archive | None, log: Path, env: Mapping[str, str]
) -> dict[str, str]:
    """Return the confs of a driver that uses the archive, or writes it when it ends, or does neither."""
    if fitting is None:
        return dict(confs)
    tidy(fitting.folder)
    path = fitting.path()
    if path is not None:
        with suppress(OSError):  # its time is when it was used last
            os.utime(path)
        use = f'-XX:SharedArchiveFile="{path}" -Xshare:auto'
    elif fitting.may_be_written(env):
        # A separate file for each JVM: two that end together do not write the same.
        use = f'{_WRITES}"{fitting.folder / f"{fitting.key}-{uuid.uuid4().hex}.part"}"'
    else:
        return dict(confs)
    # Where the JVM does not take it, or leaves classes out, it need not talk of it.
    silent = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"
    errors = f'-XX:ErrorFile="{log.absolute().parent / "hs_err_pid%p.log"}"'
    return {**confs, OPTIONS: " ".join((confs[OPTIONS], use, silent, errors))}


def writes_archive(confs: Mapping[str, str]) -> bool:
    """Whether the JVM of a driver with these confs writes an archive when it ends."""
    return _WRITES in confs.get(OPTIONS, "")


def wait_for_archive(jvm: Popen[bytes], env: Mapping[str, str]) -> None:
    """Wait until a JVM that ends has written its archive, where that is asked for: for an image, or a CI cache."""
    if env.get(_SWITCH) == "1":
        with suppress(subprocess.TimeoutExpired):
            jvm.wait(_WRITE_SECONDS)
        tidy(_folder(env))


def tidy(folder: Path) -> None:
    """Give the archives that JVMs have written their names, and remove all files but the archives used last."""
    with suppress(OSError):  # a folder that cannot be written, or another process does the same
        for part in folder.glob("*.part"):
            if is_whole(part):
                part.replace(_name_part(part))
        times = {path: path.stat().st_mtime for path in folder.iterdir()}
        archives = sorted(filter(_has_its_size, times), key=times.__getitem__)[-_MOST_ARCHIVES:]
        for path in times.keys() - {*archives}:
            if time.time() - times[path] > _ABANDONED_SECONDS:
                path.unlink(missing_ok=True)


def is_whole(path: Path) -> bool:
    """Whether a JVM has written all of an archive, with the classes of a run.

    It writes the header at the end, which begins with a number that is not 0 (JDK 17: `FileMapInfo::open_for_write`).
    """
    try:
        with path.open("rb") as file:
            return any(file.read(4)) and path.stat().st_size >= _LEAST_BYTES
    except OSError:
        return False


def archive_state(profile: Profile, root: Path, env: Mapping[str, str], java_home: Path, jars: Sequence[Path]) -> str:
    """Return the state of the archive of a profile's drivers, with this Java and these jars, as text."""
    defaults = installed_spark(root, env).defaults
    confs = spark_confs(profile, root, jars, defaults)
    fitting = archive(profile, confs, java_home, env, defaults)
    if fitting is None:
        return (
            f"off: {_SWITCH}=0"
            if env.get(_SWITCH) == "0"
            else "none for this target: it is not local, has its own JVM options or jars, `jars: provided`, Java 11, "
            f"or a Java without {_JAVAS_OWN}"
        )
    tidy(fitting.folder)
    path = fitting.path()
    if path is not None:
        return f"{path.stat().st_size / 1e6:.0f} MB in {path}"
    if fitting.may_be_written(env):
        return "none yet: the next run writes it"
    return f"none yet, and none is written: CI is set, or {fitting.folder} cannot be written or has no 1 GB left"


def _folder(env: Mapping[str, str]) -> Path:
    return runtime_folder(env) / "cds"


def _java(home: Path) -> Iterable[str]:
    release = home / "release"
    yield release.read_text(encoding="utf-8", errors="replace") if release.exists() else ""
    yield from _files(sorted(home.resolve().glob("lib/server/*")))


def _name_part(part: Path) -> Path:
    """Return the path of the archive that a JVM has written to a file."""
    return part.with_name(f"{part.name.partition('-')[0]}-{part.stat().st_size}.jsa")


def _has_its_size(path: Path) -> bool:
    """Whether a file is an archive as a JVM has written it."""
    try:
        return path.suffix == ".jsa" and path.stem.partition("-")[2] == str(path.stat().st_size)
    except OSError:  # another process has just removed it
        return False


def _files(paths: Iterable[Path]) -> Iterable[str]:
    for path in paths:
        stat = path.stat()
        yield f"{path} {stat.st_size} {stat.st_mtime_ns}"
