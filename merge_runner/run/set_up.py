"""The set-up of a machine and a project, each part as a line of text: what `debug` reports."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from merge_runner.atomic import write_atomic
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.spark.appcds import archive_state
from merge_runner.engine.spark.confs import jar_groups, table_formats
from merge_runner.engine.spark.embedded_catalog import database
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.format_jars import check_provided
from merge_runner.engine.spark.jars import fetch_jars, pinned_jars
from merge_runner.engine.spark.java import check_java, require_java
from merge_runner.engine.spark.spark_home import installed_spark
from merge_runner.engine.spark.start_notes import notes
from merge_runner.engine.spark.storage.check import check_storage
from merge_runner.engine.spark.storage.object_stores import stores
from merge_runner.engine.startup import fitting_spark, start_driver
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.engine.tables.introspect import record
from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats import DEFAULT
from merge_runner.formats.presets import low_shuffle
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import ModelNode
from merge_runner.location import Uri, location
from merge_runner.plan.layout.recordable_tables import recordable_tables
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.schema.layout_file import RECORDED, layout_file_text
from merge_runner.project.schema.profile import Profile
from merge_runner.version import package_version

_PACKAGES = ("merge-runner", "pyspark", "pyspark-client", "sqlglot")


def versions() -> str:
    """Return the versions of Python and of those packages that matter and are installed."""
    installed = {"Python": platform.python_version(), **{name: package_version(name) for name in _PACKAGES}}
    return ", ".join(f"{name} {version}" for name, version in installed.items() if version is not None)


def java(profile: Profile | None) -> str:
    """Return the Java of the driver of a profile, if there is one. Raises ProblemsError."""
    if profile is not None and profile.remote is not None:
        return f"none is needed: Spark runs on {profile.where}"
    home = require_java(os.environ)
    if profile is not None:
        check_java(home, table_formats(profile))
    return str(home)


def jars(profile: Profile | None, root: Path, notify: Callable[[str], None]) -> str:
    """Fetch the jars of the default format where the Spark of a profile has none, and return where they are.

    Raises ProblemsError.
    """
    if profile is not None and profile.remote is not None:
        return f"none are needed: {profile.where} has them"
    if profile is not None and profile.jars == "provided":
        there = check_provided(profile, installed_spark(root, os.environ))
        return ", ".join(f"{jar.name} {jar.version or '(of an unknown version)'} of {jar.where}" for jar in there)
    paths = fetch_jars((DEFAULT,), os.environ, notify)
    return f"{len(paths)} in {paths[0].parent}"


def project(prepared: Prepared) -> str:
    """Return the project with its target."""
    profile = prepared.files.profile
    return (
        f"{prepared.graph.project} at {prepared.files.root}, {len(prepared.graph.nodes)} nodes, "
        f"target {profile.target} on {profile.where}, schema {profile.schema}"
    )


def merges(prepared: Prepared) -> str:
    """Return how many merges have what changes how they write, and what that sets on this platform."""
    nodes = prepared.graph.nodes.values()
    merges = [node for node in nodes if isinstance(node, ModelNode) and node.materialized == "merge"]
    keys = ("low_shuffle", "storage_join")
    parts = [
        f"{len(merges)} models",
        *(f"{key} in {sum(bool(getattr(node.config, key)) for node in merges)}" for key in keys),
    ]
    shuffle_settings = low_shuffle(DEFAULT, prepared.files.profile.platform, on=True)
    sets = ", ".join(
        f"{key} = {value}" for key, value in {**shuffle_settings.properties, **shuffle_settings.conf}.items()
    )
    return f"{', '.join(parts)}; on {capabilities(DEFAULT).label} low_shuffle sets {sets} here"


def catalogs(prepared: Prepared, notify: Callable[[str], None]) -> str:
    """Return the catalogs of the profile; fetch the jars that they need. Raises ProblemsError."""
    files = prepared.files
    profile = files.profile
    if profile.iceberg_catalogs or stores(profile):
        fetch_jars(jar_groups(profile), os.environ, notify)
    kinds = {name: settings.get("type", "no type") for name, settings in profile.catalogs.items()}
    kinds |= {name: f"embedded in {database(profile, files.root, name)}" for name in profile.embedded_catalogs}
    names = ", ".join(f"{name} ({kind})" for name, kind in kinds.items()) or "the session's own alone"
    places = ", ".join(f"{store.scheme} by {store.jars} jars" for store in stores(profile))
    return f"{names}; {places}" if places else names


def spark_home(prepared: Prepared, notify: Callable[[str], None]) -> str:
    """Return the Spark that starts, and what its spark-defaults.conf sets. Raises ProblemsError."""
    files = prepared.files
    profile = files.profile
    if profile.remote is not None:
        return f"no Spark starts here: the project runs on {profile.where}"
    spark = fitting_spark(profile, files.root, os.environ)
    for note in notes(profile, spark, [Path(jar.name) for jar in pinned_jars(jar_groups(profile))]):
        notify(note)
    if not spark.defaults:
        return spark.words
    names = ", ".join(sorted(spark.defaults))
    return f"{spark.words}; {spark.defaults_file or 'SPARK_DRIVER_MEMORY'} sets {names}"


def archive(prepared: Prepared) -> str:
    """Return whether an AppCDS archive is there for the driver. Raises ProblemsError without Java."""
    profile, env = prepared.files.profile, os.environ
    java_home = require_java(env)
    return archive_state(profile, prepared.files.root, env, java_home, fetch_jars(jar_groups(profile), env))


@contextmanager
def _driver(prepared: Prepared, start: Callable[..., Driver] = start_driver) -> Iterator[Driver]:
    """The driver of the project, which ends with the block. Raises ProblemsError where it does not start."""
    log = prepared.target_path / "logs" / "spark.log"
    driver = start(prepared.files.profile, prepared.files.root, log, os.environ)
    try:
        yield driver
    finally:
        driver.stop()


def spark_version(prepared: Prepared) -> str:
    """Start Spark, run a query, and return its version, with what works in an object store. Raises ProblemsError."""
    files = prepared.files
    warehouse = location(files.root, files.profile.warehouse or "")
    with _driver(prepared) as driver:
        version = driver.spark.sql("SELECT version()").collect()[0][0]
        storage = f"; {check_storage(driver.spark, warehouse)}" if isinstance(warehouse, Uri) else ""
    return f"Spark {version} answers{storage}"


def write_catalog(prepared: Prepared, file: Path | None, start: Callable[..., Driver] = start_driver) -> str:
    """Record how the project's tables are laid out, in `file` or its catalog.yml. Raises ProblemsError."""
    file = file or prepared.files.root / RECORDED
    try:
        with _driver(prepared, start) as driver, driver.session() as session:
            recorded = record(session, Catalog(driver.table_format), recordable_tables(prepared))
    except EngineError as error:
        raise ProblemsError([Problem(error.code, error.message, hint=error.hint)]) from error
    head = "Recorded by `merge-runner debug --write-catalog`: lint reads it where the project does not say more."
    try:
        write_atomic(file, layout_file_text(recorded.tables, head))
    except OSError as error:
        raise ProblemsError([Problem("unwritable", f"{file} cannot be written: {error.strerror}")]) from error
    left_out = f"; {len(recorded.missing)} do not exist yet" if recorded.missing else ""
    return f"{len(recorded.tables)} tables in {file}{left_out}"
