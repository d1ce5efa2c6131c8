"""The confs that a user has set, in the profile or in spark-defaults.conf, put together with ours.

The profile's conf counts most, then spark-defaults.conf, then our defaults. What is a list, and what we cannot go
without, has ours and theirs; where that does not go, the run is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from merge_runner.errors import Problem, ProblemsError
from merge_runner.project.schema.warehouse import DELTA_CATALOG, DIR, IMPLEMENTATION, SESSION_CATALOG, keeping_catalog

if TYPE_CHECKING:
    from merge_runner.engine.spark.spark_home import SparkHome
    from merge_runner.project.schema.profile import Profile

EXTENSIONS = "spark.sql.extensions"
CLASS_PATH = "spark.driver.extraClassPath"
JARS = "spark.jars"
PACKAGES = "spark.jars.packages"
OPTIONS = "spark.driver.extraJavaOptions"
MORE_OPTIONS = "spark.driver.defaultJavaOptions"
MASTER = "spark.master"
DEPLOY = "spark.submit.deployMode"
_LOG_CONFIG = re.compile(r"-Dlog4j2?\.configurationFile=")


def user_confs(profile: Profile, defaults: Mapping[str, str]) -> dict[str, str]:
    """Return what the user has set: `defaults` are those of spark-defaults.conf, and the profile's conf wins.

    A catalog of the profile takes nothing from a catalog of the same name in the defaults.
    """
    own = tuple(f"spark.sql.catalog.{name}" for name in profile.catalogs)
    own_keys = {key for key in defaults for name in own if key == name or key.startswith(f"{name}.")}
    return {key: value for key, value in defaults.items() if key not in own_keys} | dict(profile.conf)


def merge_confs(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Return the confs to start Spark with: theirs over ours, and both where a list or the log is at stake."""
    confs = {**ours, **theirs}
    for key, separator in ((EXTENSIONS, ","), (CLASS_PATH, os.pathsep), (JARS, ",")):
        if key in ours and key in theirs:
            confs[key] = separator.join(
                dict.fromkeys(split_list(ours[key], separator) + split_list(theirs[key], separator))
            )
    if OPTIONS in ours and OPTIONS in theirs and not _LOG_CONFIG.search(theirs[OPTIONS]):
        confs[OPTIONS] = f"{theirs[OPTIONS]} {_log_option(ours[OPTIONS])}".strip()
    elif MORE_OPTIONS in theirs and OPTIONS in ours and OPTIONS not in theirs:
        confs[OPTIONS] = _log_option(ours[OPTIONS])  # a JVM refuses two garbage collectors
    return confs


def required_confs(profile: Profile, ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Return the confs that hold whatever the defaults say: those of the output's own keys, and client mode."""
    here = {DEPLOY: "client"} if theirs.get(DEPLOY, "client") != "client" else {}
    keys = (MASTER, *((DIR, IMPLEMENTATION) if profile.warehouse is not None else ()))
    return here | {key: ours[key] for key in keys if key not in profile.conf}


def own_java(theirs: Mapping[str, str]) -> bool:
    """Whether the user has set options of the driver's JVM, or jars that it loads."""
    return not theirs.keys().isdisjoint((OPTIONS, MORE_OPTIONS, CLASS_PATH, JARS, PACKAGES))


def with_their_jars(theirs: Mapping[str, str]) -> bool:
    """Whether our jars have to be in `spark.jars`, and not on the class path: the user adds jars there.

    Spark loads those of `spark.jars` and `spark.jars.packages` by a class loader below that of the class path, whose
    classes do not see them: Iceberg would find neither the SDK of its S3FileIO nor the driver of a database.
    """
    return CLASS_PATH not in theirs and not theirs.keys().isdisjoint((JARS, PACKAGES))


def check_defaults(profile: Profile, home: SparkHome) -> None:
    """Refuse defaults that contradict what the project would do, where the profile does not decide.

    Raises ProblemsError `spark-defaults` with what to write into the profile.
    """
    contradictions = list(_contradictions(profile, home.defaults))
    if contradictions:
        of = f"the output {profile.target} of profile {profile.name} in profiles.yml"
        raise ProblemsError(
            Problem("spark-defaults", f"{home.defaults_file}: {message}", hint=f"write into {of} {what}")
            for message, what in contradictions
        )


def _contradictions(profile: Profile, defaults: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the defaults, and what a profile may say to decide it."""
    folder = profile.warehouse
    catalog = keeping_catalog(defaults)
    if profile.warehouse_assumed and catalog == IMPLEMENTATION and IMPLEMENTATION not in profile.conf:
        value = defaults[IMPLEMENTATION]
        yield (
            f"{IMPLEMENTATION} is {value}, and this output keeps its tables in the folder {folder}",
            f"`conf: {{{IMPLEMENTATION}: {value}}}` to have them in the metastore, or `warehouse: {folder}`",
        )
    elif profile.warehouse_assumed and DIR in defaults:
        value = defaults[DIR]
        yield (
            f"{DIR} is {value}, and this output keeps its tables in the folder {folder}",
            f"`conf: {{{DIR}: {value}}}` to have them there, or `warehouse: {folder}`",
        )
    if catalog == SESSION_CATALOG and SESSION_CATALOG not in profile.conf:
        value = defaults[SESSION_CATALOG]
        yield (
            f"{SESSION_CATALOG} is {value}, and Delta tables need {DELTA_CATALOG}",
            f"`conf: {{{SESSION_CATALOG}: …}}` with the one that is meant",
        )


def split_list(text: str, separator: str) -> list[str]:
    """Return the parts of a conf that is a list."""
    return [part.strip() for part in text.split(separator) if part.strip()]


def _log_option(options: str) -> str:
    """Our option for the log, which hides secrets; it is the last one, and has a path in quotes."""
    match = _LOG_CONFIG.search(options)
    return options[match.start() :] if match is not None else ""
