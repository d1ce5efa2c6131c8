"""The command of a driver's JVM as Spark's launcher has made it, kept in the cache folder for the next start.

`spark-submit` runs two shell scripts and a JVM, the launcher, which prints the command of the real JVM. With the same
confs, environment, Java and Spark that is the same command each time. It is read from /proc, so only Linux keeps it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from merge_runner.atomic import keep_newest, write_atomic
from merge_runner.engine.spark.jars import runtime_folder

_READ_BY_SPARK = ("SPARK_", "_SPARK", "PYSPARK_", "HADOOP_", "YARN_", "JAVA", "JDK_", "LD_", "LIBPATH")
"""What the names of variables begin with that spark-submit, its scripts and the launcher read."""
_OF_THE_SHELL = frozenset({"_", "PWD", "OLDPWD", "SHLVL"})
_SETTINGS = "{settings}"
_KEPT = 20
"""The commands that are kept: those used last."""
_SPARK_ENV = "spark-env.sh"


@dataclass(frozen=True)
class Command:
    """The words of a command, and the variables that Spark's scripts set for it."""

    words: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True)
class KeptCommand:
    """Where the command of a start is kept, whether it is there yet or not."""

    path: Path

    def load(self, settings: Path) -> Command | None:
        """Return the command, which reads the confs from the file `settings`; None where none is kept."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            words = tuple(str(settings) if word == _SETTINGS else str(word) for word in found["words"])
            command = Command(words, dict(found["env"]))
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None
        with suppress(OSError):  # those used last are kept
            os.utime(self.path)
        return command if str(settings) in words else None

    def keep(self, pid: int, settings: Path, folder: Path, env: Mapping[str, str], hidden: Iterable[str]) -> None:
        """Keep the command of the running process `pid`, which spark-submit has become; it was started with `env`.

        Nothing is kept where it cannot be read or written, names the `folder` of the start, or has a text in it that is
        `hidden`.
        """
        try:
            words = _split(Path(f"/proc/{pid}/cmdline"))
            added = dict(entry.split("=", 1) for entry in _split(Path(f"/proc/{pid}/environ")) if "=" in entry)
        except OSError:
            return
        added = {name: value for name, value in added.items() if name not in _OF_THE_SHELL and env.get(name) != value}
        patterns = [_SETTINGS if word == str(settings) else word for word in words]
        # A wrapper in the folder of this start is gone with it (`java.startable`).
        if _SETTINGS not in patterns or any(str(folder) in word for word in patterns):
            return
        text = json.dumps({"words": patterns, "env": added})
        if any(secret in part for secret in hidden for part in (*words, *added.values())):
            return
        with suppress(OSError):
            write_atomic(self.path, text, synced=False)
            keep_newest(self.path.parent, "*.json", _KEPT)

    def discard(self) -> None:
        """Remove it: a JVM did not start with it."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def kept_command(
    submit: Sequence[str], confs: str, java_home: Path, spark_home: Path, root: Path, env: Mapping[str, str]
) -> KeptCommand | None:
    """Return where the command of a start is kept: of spark-submit with the words `submit`, in the folder `root`.

    `confs` is the text of the file of its confs. None where it may be another one each time: with a `spark-env.sh`.
    """
    folder = root / env.get("SPARK_CONF_DIR", str(spark_home / "conf"))
    if (folder / _SPARK_ENV).exists():
        return None
    files = (*_files(folder), java_home / "bin" / "java", java_home / "release", spark_home / "jars")
    parts = [*submit, confs, str(java_home), str(spark_home), *map(_stamp, files)]
    parts += [f"{name}={value}" for name, value in sorted(env.items()) if name.startswith(_READ_BY_SPARK)]
    key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return KeptCommand(runtime_folder(env) / "launch" / f"{key}.json")


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _stamp(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return str(path)
    return f"{path} {stat.st_size} {stat.st_mtime_ns}"


def _split(path: Path) -> list[str]:
    return os.fsdecode(path.read_bytes()).rstrip("\0").split("\0")
