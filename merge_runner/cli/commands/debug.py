"""`merge-runner debug`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import prepared_project
from merge_runner.options.declaration import flag, option
from merge_runner.options.project import ProjectOptions

if TYPE_CHECKING:
    from merge_runner.errors import ProblemsError
    from merge_runner.plan.load.project_context import Prepared


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
    from merge_runner.cli.display.messages import say
    from merge_runner.run import set_up

    prepared = _Loaded(options)
    yield "versions", set_up.versions
    yield "java", set_up.java
    yield "jars", lambda: set_up.jars(say)
    yield "project", lambda: set_up.project(prepared(warn=True))
    yield "merges", lambda: set_up.merges(prepared())
    yield "catalogs", lambda: set_up.catalogs(prepared(), say)
    yield "home", lambda: set_up.spark_home(prepared(), lambda note: say(f"warning: {note}", "warn"))
    yield "archive", lambda: set_up.archive(prepared())
    if options.spark:
        yield "spark", lambda: set_up.spark_version(prepared())
    if options.write_catalog is not None:
        file = Path(options.write_catalog) if options.write_catalog else None
        yield "catalog", lambda: set_up.write_catalog(prepared(), file)


class _Loaded:
    """The project, loaded when it is first needed; the checks that need one that cannot be loaded all report why."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._prepared: Prepared | ProblemsError | None = None

    def __call__(self, *, warn: bool = False) -> Prepared:
        from merge_runner.cli.display.problems import show_unread_vars
        from merge_runner.errors import ProblemsError

        if self._prepared is None:
            try:
                self._prepared = prepared_project(self._options)
            except ProblemsError as error:
                self._prepared = error
        if isinstance(self._prepared, ProblemsError):
            raise self._prepared
        if warn:
            show_unread_vars(self._prepared, self._options)
        return self._prepared
