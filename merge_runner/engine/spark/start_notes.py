"""What a user should know before Spark starts: verdicts for another Spark, other builds of the formats, dead confs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.spark.format_jars import FormatJar, check_provided, format_jar, format_jars, main_jars
from merge_runner.engine.spark.user_confs import DEPLOY, user_confs
from merge_runner.formats.lines import line_of
from merge_runner.formats.registry import capabilities

if TYPE_CHECKING:
    from merge_runner.engine.spark.spark_home import SparkHome
    from merge_runner.project.schema.profile import Profile


def notes(profile: Profile, home: SparkHome, jars: Sequence[Path]) -> list[str]:
    """Return the warnings of a start with our `jars`. Raises ProblemsError: what `check_provided` raises."""
    theirs = user_confs(profile, home.defaults)
    if profile.jars == "provided":
        warnings = list(_jars_not_measured(check_provided(profile, home), home))
    else:
        warnings = [
            f"{there.where} has {there.name} {there.version}, and merge-runner adds {there.name} {ours}: "
            "take it out, or classes of both mix"
            for there, ours in _other_versions(format_jars(theirs, home), jars)
        ]
    warnings += other_line(profile, home.version)
    if theirs.get(DEPLOY, "client") != "client":
        warnings.append(f"{DEPLOY} is {theirs[DEPLOY]}, and the driver is this process: it starts in client mode")
    return warnings


def other_line(profile: Profile, version: str | None) -> list[str]:
    """Return the warning where a project runs on another line of Spark than its verdicts are for; else nothing."""
    line = line_of(version)
    if line is None or line == profile.line:
        return []
    return [
        f"lint judges for {profile.line}, and the models run on Spark {version}: a MERGE may scan more than its "
        f"verdict says; set `engine: {{spark: '{line.spark}'}}` in the output {profile.target}"
    ]


def _other_versions(there: Iterable[FormatJar], jars: Iterable[Path]) -> Iterator[tuple[FormatJar, str]]:
    """Yield the jars that are there in another version than ours, with ours."""
    ours = {jar.name: jar.version for path in jars if (jar := format_jar("", str(path))) is not None}
    for jar in there:
        version = ours.get(jar.name)
        if version is not None and jar.version not in (None, version):
            yield jar, version


def _jars_not_measured(jars: list[FormatJar], home: SparkHome) -> Iterator[str]:
    """Yield what lint says of another minor version of a format than the one that its facts were measured with."""
    line = line_of(home.version)
    for format, jar in main_jars(jars):
        measured = line.formats.get(format) if line is not None else None
        if measured is not None and jar.version is not None and _minor(jar.version) != _minor(measured):
            label = capabilities(format).label
            yield f"{label} {jar.version} is provided; what lint says of it was measured with {label} {measured}"


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
