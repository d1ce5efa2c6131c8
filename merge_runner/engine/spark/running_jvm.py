"""The JVM that other code has started in this process: that of spark-submit, which runs us, or that of a notebook.

It has the jars that it was started with, and no others can be added. Under spark-submit there is no SparkContext yet,
so that the session gets extensions and catalogs from us; what was submitted counts as spark-defaults.conf does
elsewhere. In a notebook Spark runs, and only what a session can have is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.spark.confs import running_confs, spark_confs, table_formats
from merge_runner.engine.spark.jvm_util import java_class
from merge_runner.engine.spark.start_notes import other_line
from merge_runner.engine.spark.user_confs import DEPLOY, MASTER
from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats import Format
from merge_runner.formats.registry import capabilities
from merge_runner.project.schema.warehouse import DIR

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.project.schema.profile import Profile


@dataclass(frozen=True)
class Submission:
    """What the JVM was started with. `running`: its Spark runs already, as in a notebook."""

    confs: Mapping[str, str] = field(default_factory=dict, repr=False)
    running: bool = False


def submission() -> Submission:
    """Return what the JVM of this process was started with. Raises what PySpark and Py4J raise."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    active = SparkContext._active_spark_context
    conf = active.getConf() if active is not None else SparkConf(_jvm=SparkContext._jvm)
    return Submission(dict(conf.getAll()), active is not None)


def confs_in_running_jvm(profile: Profile, root: Path, submission: Submission) -> dict[str, str]:
    """Return the confs for the session of an output in a JVM that has been started with others.

    Raises ProblemsError `submitted-master` where spark-submit was given another kind of master.
    """
    if submission.running:
        return running_confs(profile, root)
    there, master = submission.confs.get(MASTER), profile.master or ""
    if there is not None and _kind(there) != _kind(master):
        message = f"spark-submit runs this on {there}, and the output {profile.target} on {master}"
        hint = f"write `master: {there}` into the output, or give spark-submit --master {master}"
        raise ProblemsError([Problem("submitted-master", message, hint=hint)])
    confs = spark_confs(profile, root, [], submission.confs)
    # It is decided already: in cluster mode this process is on the cluster.
    return confs | {key: submission.confs[key] for key in (MASTER, DEPLOY) if key in submission.confs}


def check_classes(profile: Profile, session: SparkSession) -> None:
    """Refuse a JVM without the table formats of an output: its first table would fail.

    Raises ProblemsError `jars-missing`.
    """
    utils = java_class(session, "org.apache.spark.util.Utils")
    missing = [name for name in table_formats(profile) if not utils.classIsLoadable(capabilities(name).main_class)]
    if missing:
        raise ProblemsError(_missing(format) for format in missing)


def notes_of_running(profile: Profile, submission: Submission, version: str) -> list[str]:
    """Return what a user should know of the Spark that runs already, which has this version."""
    warnings = other_line(profile, version)
    if submission.running and profile.warehouse is not None and not profile.warehouse_assumed:
        there = submission.confs.get(DIR, "spark-warehouse")
        warnings.append(f"`warehouse` has no effect: Spark is running already, and keeps its tables in {there}")
    return warnings


def _missing(format: Format) -> Problem:
    label = capabilities(format).label
    hint = "name its jars where Spark is started: spark-submit --jars, or spark.jars"
    return Problem("jars-missing", f"Spark was started without {label}, and no jar can be added to it now", hint=hint)


def _kind(master: str) -> str:
    return master.partition(":")[0].partition("[")[0]
