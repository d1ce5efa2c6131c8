"""The jars of table formats that a Spark has without us: in its folder `jars`, on its class path, among its confs.

Where an output says `jars: provided`, nothing is fetched or added, and these have to be there and to fit: a jar that is
built for another Spark starts, and fails at the first table. Vendors rename jars (`delta-spark.jar` of EMR), so that a
version is read inside of one where its name does not say it.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.spark.confs import table_formats
from merge_runner.engine.spark.user_confs import CLASS_PATH, JARS, PACKAGES, split_list, user_confs
from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats import Format
from merge_runner.formats.lines import Line, line_of
from merge_runner.formats.registry import FORMATS, capabilities

if TYPE_CHECKING:
    from merge_runner.engine.spark.spark_home import SparkHome
    from merge_runner.project.schema.profile import Profile

_ARTIFACT = re.compile(
    r"(?P<name>delta-spark|delta-core|delta-storage|delta-kernel-[a-z]+|iceberg-spark-runtime)"
    r"(?:-(?P<spark>\d+\.\d+))?(?:_(?P<first>\d+\.\d+))?(?:_(?P<second>\d+\.\d+))?"
    r"[-:](?P<version>\d+(?:\.\d+)+[\w.-]*?)(?:\.jar)?\Z"
)
_RENAMED = re.compile(r"(?P<name>delta-spark|delta-core|delta-storage)\.jar\Z|iceberg-spark[\w-]*runtime\.jar\Z")
"""Names without a version, as EMR has them in /usr/share/aws."""
_MANIFEST, _MANIFEST_VERSION = "META-INF/MANIFEST.MF", re.compile(r"^Implementation-Version: (\S+)", re.MULTILINE)
_BUILD, _BUILD_VERSION = "iceberg-build.properties", re.compile(r"^git\.build\.version=(\S+)", re.MULTILINE)
_RUNTIME = "iceberg-spark-runtime"
_SCALA = ("2.12", "2.13")
_SPARK_OF: Mapping[str, Sequence[tuple[str, str]]] = {"delta-spark": (("3.", "3.5"), ("4.0.", "4.0"))}
"""The Spark that versions of an artifact are for which does not name it: that of Delta does from 4.1.0 on."""


@dataclass(frozen=True, slots=True)
class FormatJar:
    """A jar of a table format: the conf or the folder that has it, its artifact, and what is known of its build."""

    where: str
    name: str
    version: str | None = None
    spark: str | None = None
    scala: str | None = None


def format_jars(theirs: Mapping[str, str], home: SparkHome) -> Iterator[FormatJar]:
    """Yield the jars of table formats that confs name or the Spark at `home` has, each once."""
    entries = [
        *((JARS, entry) for entry in split_list(theirs.get(JARS, ""), ",")),
        *((PACKAGES, entry) for entry in split_list(theirs.get(PACKAGES, ""), ",")),
        *((CLASS_PATH, entry) for entry in _expand(split_list(theirs.get(CLASS_PATH, ""), os.pathsep))),
        *((str(home.path / "jars"), str(jar)) for jar in sorted(home.path.glob("jars/*.jar"))),
    ]
    yield from dict.fromkeys(jar for where, entry in entries if (jar := format_jar(where, entry)) is not None)


def check_provided(profile: Profile, home: SparkHome) -> list[FormatJar]:
    """Return the jars with which an output of `jars: provided` runs.

    Raises ProblemsError `jars-missing` where there is none of a table format, `jars-version` where one is built for
    another Spark or Scala.
    """
    jars = list(format_jars(user_confs(profile, home.defaults), home))
    line = line_of(home.version)
    problems = [_missing(format, home, line) for format in table_formats(profile) if not _has(jars, format)]
    problems += [problem for jar in jars if (problem := _misfit(jar, home, line)) is not None]
    if problems:
        raise ProblemsError(problems)
    return jars


def main_jars(jars: list[FormatJar]) -> list[tuple[Format, FormatJar]]:
    """Return the jars that have the classes of a format, each with the format."""
    return [(format, jar) for format in FORMATS for jar in jars if jar.name in capabilities(format).artifacts]


def _has(jars: list[FormatJar], format: Format) -> bool:
    return any(jar.name in capabilities(format).artifacts for jar in jars)


def _missing(format: Format, home: SparkHome, line: Line | None) -> Problem:
    label, places = capabilities(format).label, f"{JARS}, {PACKAGES} and {CLASS_PATH}"
    message = f"`jars: provided`, and no jar of {label} is in {home.path / 'jars'} or in {places}"
    pinned = f": then {label} {line.formats[format]} is fetched" if line is not None and format in line.formats else ""
    return Problem("jars-missing", message, hint=f"name it in `conf: {{{JARS}: …}}`, or leave `jars` out{pinned}")


def _misfit(jar: FormatJar, home: SparkHome, line: Line | None) -> Problem | None:
    if line is None:
        return None
    for kind, of_jar, needed in (("Spark", jar.spark, line.spark), ("Scala", jar.scala, line.scala)):
        if of_jar is not None and of_jar != needed:
            message = (
                f"{jar.where} has {jar.name} {jar.version} for {kind} {of_jar}, and {home.words} has {kind} {needed}"
            )
            hint = f"take the build for {kind} {needed}: with this one each table fails with NoSuchMethodError"
            return Problem("jars-version", message, hint=hint)
    return None


def format_jar(where: str, entry: str) -> FormatJar | None:
    """Return the jar of a table format that a path or Maven coordinates name; None for any other."""
    file = entry.rpartition("/")[2]
    match = _ARTIFACT.search(file)
    if match is not None:
        # `_2.13`, `_4.0_2.13`: the version of Scala is the last one, whatever comes before is Spark's.
        versions = [part for part in (match["first"], match["second"]) if part is not None]
        scala = next((part for part in versions if part in _SCALA), None)
        spark = match["spark"] or next((part for part in versions if part not in _SCALA), None)
        name, version = match["name"], match["version"]
        return FormatJar(where, name, version, spark or _spark_of(name, version), scala)
    renamed = _RENAMED.search(file)
    if renamed is None:
        return None
    name = renamed["name"] or _RUNTIME
    inner_version = _version_inside(Path(re.sub(r"\A(?:file|local):/*(?=/)", "", entry)))
    return FormatJar(where, name, inner_version, _spark_of(name, inner_version))


def _spark_of(name: str, version: str | None) -> str | None:
    return next((spark for prefix, spark in _SPARK_OF.get(name, ()) if (version or "").startswith(prefix)), None)


def _version_inside(path: Path) -> str | None:
    """Return the version that a jar has in itself; None for one that cannot be read here."""
    with suppress(OSError, KeyError, zipfile.BadZipFile), zipfile.ZipFile(path) as jar:
        names = set(jar.namelist())
        for name, pattern in ((_BUILD, _BUILD_VERSION), (_MANIFEST, _MANIFEST_VERSION)):
            match = pattern.search(jar.read(name).decode("utf-8", "replace")) if name in names else None
            if match is not None:
                return match[1]
    return None


def _expand(entries: list[str]) -> Iterator[str]:
    """Class path entries, those that end in a star as the jars of their folder."""
    for entry in entries:
        yield from (str(jar) for jar in sorted(Path(entry[:-1]).glob("*.jar"))) if entry.endswith("/*") else (entry,)
