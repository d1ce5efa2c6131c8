"""`merge-runner debug`."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import load_project
from merge_runner.options.declaration import flag, option
from merge_runner.options.project import ProjectOptions


@dataclass(frozen=True)
class Options(ProjectOptions):
    """The options of `debug`."""

    spark: bool = flag("--spark", help="Start Spark as well, and run a query on it.")
    write_catalog: str | None = option(
        "--write-catalog",
        bare="",
        metavar="[FILE]",
        help="Record how the project's tables are laid out, for lint; default: catalog.yml in the project.",
    )


@make("debug", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Check the set-up: versions, Java, jars, project, profile, the Spark that starts, and with --spark a session."""
    from merge_runner.cli.display.messages import show_text, styled
    from merge_runner.cli.display.problems import show_problems
    from merge_runner.errors import ProblemsError

    status = 0
    for name, check in _checks(options):
        try:
            show_text(f"{name:<9} {styled('OK', fg='green')}  {check()}", hanging=14)
        except ProblemsError as error:
            click.echo(f"{name:<9} {styled('ERROR', fg='red')}")
            show_problems(error.problems)
            status = 2
    return status


def _checks(options: Options) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "versions", _versions
    yield "java", _java
    yield "jars", _jars
    yield "project", lambda: _project(options)
    yield "merges", lambda: _merges(options)
    yield "catalogs", lambda: _catalogs(options)
    yield "home", lambda: _home(options)
    yield "archive", lambda: _archive(options)
    if options.spark:
        yield "spark", lambda: _spark(options)
    if options.write_catalog is not None:
        yield "catalog", lambda: _catalog(options)


def _versions() -> str:
    from importlib.metadata import version

    names = ("merge-runner", "pyspark", "delta-spark", "sqlglot")
    return f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in names)


def _java() -> str:
    from merge_runner.engine.spark.java import require_java

    return str(require_java(os.environ))


def _jars() -> str:
    from merge_runner.cli.display.messages import say
    from merge_runner.engine.spark.jars import fetch_jars
    from merge_runner.formats import DEFAULT

    paths = fetch_jars((DEFAULT,), os.environ, say)
    return f"{len(paths)} in {paths[0].parent}"


def _project(options: Options) -> str:
    project = load_project(options)
    profile = project.prepared.files.profile
    return (
        f"{project.graph.project} at {project.prepared.files.root}, {len(project.graph.nodes)} nodes, "
        f"target {profile.target} on {profile.where}, schema {profile.schema}"
    )


def _merges(options: Options) -> str:
    """How many of the merges have what changes how they write, and what that sets on this platform."""
    from merge_runner.formats import DEFAULT
    from merge_runner.formats.presets import low_shuffle
    from merge_runner.formats.registry import capabilities
    from merge_runner.graph.graph import ModelNode

    prepared = load_project(options).prepared
    nodes = prepared.graph.nodes.values()
    merges = [node for node in nodes if isinstance(node, ModelNode) and node.materialized == "merge"]
    keys = ("low_shuffle", "storage_join")
    parts = [
        f"{len(merges)} models",
        *(f"{key} in {sum(bool(getattr(node.config, key)) for node in merges)}" for key in keys),
    ]
    found = low_shuffle(DEFAULT, prepared.files.profile.platform, on=True)
    sets = ", ".join(f"{key} = {value}" for key, value in {**found.properties, **found.conf}.items())
    return f"{', '.join(parts)}; on {capabilities(DEFAULT).label} low_shuffle sets {sets} here"


def _catalogs(options: Options) -> str:
    from merge_runner.cli.display.messages import say
    from merge_runner.engine.spark.confs import jar_groups
    from merge_runner.engine.spark.embedded_catalog import database
    from merge_runner.engine.spark.jars import fetch_jars

    files = load_project(options).prepared.files
    profile = files.profile
    if profile.iceberg_catalogs:
        fetch_jars(jar_groups(profile), os.environ, say)
    kinds = {name: settings.get("type", "no type") for name, settings in profile.catalogs.items()}
    kinds |= {name: f"embedded in {database(profile, files.root, name)}" for name in profile.embedded_catalogs}
    return ", ".join(f"{name} ({kind})" for name, kind in kinds.items()) or "the session's own alone"


def _home(options: Options) -> str:
    """The Spark that starts, and what its spark-defaults.conf says."""
    from merge_runner.cli.display.messages import say
    from merge_runner.engine.spark.confs import jar_groups
    from merge_runner.engine.spark.jars import pinned
    from merge_runner.engine.spark.user_confs import notes
    from merge_runner.engine.startup import fitting_spark

    files = load_project(options).prepared.files
    profile = files.profile
    if profile.remote is not None:
        return f"no Spark starts here: the project runs on {profile.where}"
    spark = fitting_spark(profile, files.root, os.environ)
    for note in notes(profile, spark, [Path(jar.name) for jar in pinned(jar_groups(profile))]):
        say(f"warning: {note}", "warn")
    if not spark.defaults:
        return spark.words
    names = ", ".join(sorted(spark.defaults))
    return f"{spark.words}; {spark.defaults_file or 'SPARK_DRIVER_MEMORY'} sets {names}"


def _archive(options: Options) -> str:
    from merge_runner.engine.spark.appcds import archive_state

    files = load_project(options).prepared.files
    return archive_state(files.profile, files.root, os.environ)


def _spark(options: Options) -> str:
    from merge_runner.engine.startup import start_driver

    prepared = load_project(options).prepared
    log = prepared.target_path / "logs" / "spark.log"
    driver = start_driver(prepared.files.profile, prepared.files.root, log, os.environ)
    try:
        version = driver.spark.sql("SELECT version()").collect()[0][0]
    finally:
        driver.stop()
    return f"Spark {version} answers"


def _catalog(options: Options) -> str:
    from merge_runner.atomic import write_atomic
    from merge_runner.engine.spark.errors import EngineError
    from merge_runner.engine.startup import start_driver
    from merge_runner.engine.tables.catalog import Catalog
    from merge_runner.engine.tables.introspect import record
    from merge_runner.errors import Problem, ProblemsError
    from merge_runner.plan.layout.recordable import recordable
    from merge_runner.project.schema.layout_file import RECORDED, layout_file_text

    prepared = load_project(options).prepared
    root = prepared.files.root
    file = Path(options.write_catalog or root / RECORDED)
    driver = start_driver(prepared.files.profile, root, prepared.target_path / "logs" / "spark.log", os.environ)
    try:
        with driver.session() as session:
            found = record(session, Catalog(driver.table_format), recordable(prepared))
    except EngineError as error:
        raise ProblemsError([Problem(error.code, error.message, hint=error.hint)]) from error
    finally:
        driver.stop()
    head = "Recorded by `merge-runner debug --write-catalog`: lint reads it where the project does not say more."
    try:
        write_atomic(file, layout_file_text(found.tables, head))
    except OSError as error:
        raise ProblemsError([Problem("unwritable", f"{file} cannot be written: {error.strerror}")]) from error
    left_out = f"; {len(found.missing)} do not exist yet" if found.missing else ""
    return f"{len(found.tables)} tables in {file}{left_out}"
