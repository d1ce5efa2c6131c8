"""The Spark that a driver starts: where it is, which version it has, and the defaults that its user has written.

Everything is read from files, without loading PySpark, which takes long.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from merge_runner.errors import Problem, ProblemsError, missing_extra
from merge_runner.formats.lines import LINES, RECOMMENDED, line_of
from merge_runner.version import pyspark_folder

DEFAULTS_FILE = "spark-defaults.conf"
_CORE = re.compile(r"spark-core_(?P<scala>\d+\.\d+)-(?P<version>\d+\.\d+\S*)\.jar")
_RELEASE = re.compile(r"Spark (?P<version>\d+\.\d+\S*)")
_MEMORY = "spark.driver.memory"


@dataclass(frozen=True)
class SparkHome:
    """A Spark installation. `named`: SPARK_HOME says it, else it is PySpark's own.

    `version` and `scala` are None where nothing says them. `defaults` are the confs of its user: of the file
    `defaults_file` (None where there is none), and of the variable SPARK_DRIVER_MEMORY.
    """

    path: Path
    named: bool = False
    version: str | None = None
    scala: str | None = None
    defaults_file: Path | None = None
    defaults: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def words(self) -> str:
        """The version and where it comes from, as messages name it."""
        where = f"in SPARK_HOME ({self.path})" if self.named else "of PySpark"
        return f"Spark {self.version or '(of an unknown version)'} {where}"


def spark_home(env: Mapping[str, str] | None = None) -> Path:
    """Return $SPARK_HOME, else the folder of PySpark, which has a Spark in it.

    Raises ProblemsError `missing-extra` without PySpark.
    """
    folder = (os.environ if env is None else env).get("SPARK_HOME")
    return Path(folder).absolute() if folder else _pyspark()


def installed_spark(root: Path, env: Mapping[str, str]) -> SparkHome:
    """Return the Spark that starts for a project: its JVM runs in the folder `root`.

    Raises ProblemsError: `missing-extra` without PySpark, `spark-defaults` for a file of defaults that cannot be read.
    """
    _pyspark()  # with $SPARK_HOME too: it speaks with the JVM
    home = spark_home(env)
    version, scala = _version(home)
    folder = env.get("SPARK_CONF_DIR")
    file = (root / folder if folder else home / "conf") / DEFAULTS_FILE
    defaults = {_MEMORY: env["SPARK_DRIVER_MEMORY"]} if env.get("SPARK_DRIVER_MEMORY") else {}
    there = file.is_file()
    if there:
        try:
            # As java.util.Properties; Spark itself reads the file as UTF-8.
            defaults |= spark_properties(file.read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            problem = Problem("spark-defaults", f"{file} cannot be read: {error.strerror}")
            raise ProblemsError([problem]) from error
    return SparkHome(home, bool(env.get("SPARK_HOME")), version, scala, file if there else None, defaults)


def check_version(home: SparkHome, pyspark: str | None) -> None:
    """Refuse a Spark that neither PySpark nor the pinned jars fit. What is not known is no reason.

    Such a Spark starts, and each model fails with NoSuchMethodError: jars of one minor version do not work on another.
    Raises ProblemsError `spark-version`.
    """
    problem = _misfit(home, pyspark)
    if problem is not None:
        raise ProblemsError([problem])


def _misfit(home: SparkHome, pyspark: str | None) -> Problem | None:
    line = line_of(home.version)
    if home.version is not None and line is None:
        *most, last = (line.spark for line in LINES.values() if line.formats)
        message = (
            f"{home.words} is none that merge-runner has jars of Delta and Iceberg for: {', '.join(most)} or {last}"
        )
        other = "let it name one of these"
        return Problem("spark-version", message, hint=_hint(home, pyspark, other))
    if line is not None and home.scala not in (None, line.scala):
        message = f"{home.words} is built for Scala {home.scala}, and merge-runner's jars for Scala {line.scala}"
        return Problem("spark-version", message, hint=_hint(home, pyspark, f"let it name one for Scala {line.scala}"))
    if line is not None and pyspark is not None and line_of(pyspark) is not line:
        message = f"{home.words} is not the version of PySpark, which is {pyspark}"
        return Problem("spark-version", message, hint=_hint(home, pyspark, f"pip install 'merge-runner[{line.extra}]'"))
    return None


def _hint(home: SparkHome, pyspark: str | None, other: str) -> str:
    fitting = line_of(pyspark)
    if not home.named or (pyspark is not None and fitting is None):
        return f"pip install 'merge-runner[{RECOMMENDED.extra}]'"
    return f"unset SPARK_HOME: PySpark brings Spark {pyspark or RECOMMENDED.spark}; or {other}"


def spark_properties(text: str) -> dict[str, str]:
    """Return the confs of a Java properties file whose names begin with `spark.`: Spark takes no others."""
    confs = {}
    for line in _logical_lines(text):
        key, value = _key_and_value(line)
        if key.startswith("spark."):
            confs[key] = value.strip()
    return confs


def _pyspark() -> Path:
    folder = pyspark_folder()
    if folder is None:
        raise missing_extra("this runs Spark, and PySpark is not installed", "spark")
    if importlib.util.find_spec("py4j") is None:
        # pyspark-client is the package `pyspark` without jars, and without what speaks with a JVM.
        missing = "this starts Spark, and the PySpark that is installed is the client of Spark Connect alone"
        raise missing_extra(missing, "spark")
    return folder


def _version(home: Path) -> tuple[str | None, str | None]:
    """The versions of Spark and Scala: by the jar that is loaded, else by the file that a release has."""
    core = next(home.glob("jars/spark-core_*.jar"), None)
    if core is not None and (match := _CORE.fullmatch(core.name)):
        return match["version"], match["scala"]
    try:
        release = _RELEASE.search((home / "RELEASE").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None, None
    return (release["version"] if release is not None else None), None


def _logical_lines(text: str) -> Iterable[str]:
    """Lines without comments and blanks before them; one that ends in a backslash goes on in the next one."""
    line_start = ""
    for line in re.split(r"\r\n|\r|\n", text):
        part = line.lstrip(" \t\f")
        if not line_start and (not part or part[0] in "#!"):
            continue
        if (len(part) - len(part.rstrip("\\"))) % 2:
            line_start += part[:-1]
            continue
        yield line_start + part
        line_start = ""
    if line_start:
        yield line_start


def _key_and_value(line: str) -> tuple[str, str]:
    end = next((at for at in range(len(line)) if line[at] in " \t\f=:" and not _is_escaped(line, at)), len(line))
    rest = line[end:].lstrip(" \t\f")
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(" \t\f")
    return _plain(line[:end]), _plain(rest)


def _is_escaped(line: str, at: int) -> bool:
    before = line[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def _plain(text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _CONTROL.get(match[2], match[2])

    return _ESCAPE.sub(replacement, text)
