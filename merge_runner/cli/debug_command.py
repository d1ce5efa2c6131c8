"""`merge-runner debug`."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from typing import Any

import click

from merge_runner.cli.options import load_project, output_options, project_options


@click.command("debug")
@click.option("--spark", is_flag=True, help="Start Spark as well, and run a query on it.")
@project_options
@output_options
def command(**options: Any) -> int:
    """Check the set-up: versions, Java, jars, project and profile, and with --spark a session."""
    from merge_runner.cli.messages import styled
    from merge_runner.cli.problems import show_problems
    from merge_runner.errors import ProblemsError

    status = 0
    for name, check in _checks(options):
        try:
            click.echo(f"{name:<9} {styled('OK', fg='green')}  {check()}")
        except ProblemsError as error:
            click.echo(f"{name:<9} {styled('ERROR', fg='red')}")
            show_problems(error.problems)
            status = 2
    return status


def _checks(options: dict[str, Any]) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "versions", _versions
    yield "java", _java
    yield "jars", _jars
    yield "project", lambda: _project(options)
    if options["spark"]:
        yield "spark", lambda: _spark(options)


def _versions() -> str:
    from importlib.metadata import version

    names = ("merge-runner", "pyspark", "delta-spark", "sqlglot")
    return f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in names)


def _java() -> str:
    from merge_runner.engine.java import require_java

    return str(require_java(os.environ))


def _jars() -> str:
    from merge_runner.cli.messages import say
    from merge_runner.engine.jars import fetch_jars

    paths = fetch_jars(("delta",), os.environ, say)
    return f"{len(paths)} in {paths[0].parent}"


def _project(options: dict[str, Any]) -> str:
    project = load_project(options)
    profile = project.prepared.files.profile
    return (
        f"{project.graph.project} at {project.prepared.files.root}, {len(project.graph.nodes)} nodes, "
        f"target {profile.target} on {profile.where}, schema {profile.schema}"
    )


def _spark(options: dict[str, Any]) -> str:
    from merge_runner.engine.session import start_driver

    prepared = load_project(options).prepared
    log = prepared.target_path / "logs" / "spark.log"
    driver = start_driver(prepared.files.profile, prepared.files.root, log, os.environ)
    try:
        version = driver.spark.sql("SELECT version()").collect()[0][0]
    finally:
        driver.stop()
    return f"Spark {version} answers"
