"""`merge-runner mcp`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import say
from merge_runner.cli.loading import load_project, selected
from merge_runner.cli.main import collect_as_a_server
from merge_runner.errors import Problem, ProblemsError, missing_extra
from merge_runner.options.declaration import declared_options, flag
from merge_runner.options.project import ProjectOptions, Selection

if TYPE_CHECKING:
    from merge_runner.api.accepted_project import AcceptedProject


@dataclass(frozen=True)
class WriteOptions(ProjectOptions):
    """Whether tools write."""

    allow_write: bool = flag(
        "--allow-write", help="Offer the tool build, for the selected merges that have `expect_merge`."
    )


@dataclass(frozen=True)
class Options(Selection, WriteOptions):
    """The options of `mcp`."""


@make("mcp", Options, ignores=("warn_error", "quiet"))
def command(options: Options) -> int:
    """Serve agents over the Model Context Protocol: lint, explain, show, diff and test a project, and build its merges.

    A client starts this command, and speaks with it on standard input and output. Its tools write nothing, unless it
    is started with --allow-write: then they build what --select takes, each merge within its `expect_merge`, as long
    as guards, hooks and output are what they are now. Needs `merge-runner[mcp]`.
    """
    if not options.allow_write and (options.select or options.exclude or options.selector):
        raise click.UsageError("--select, --exclude and --selector say what may be built: they need --allow-write.")
    collect_as_a_server()
    try:
        from merge_runner.cli.commands.mcp_server.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "anyio", "jsonschema"):
            raise
        raise missing_extra("the server needs the package mcp, which is not installed", "mcp") from None
    from merge_runner.api.accepted_project import AcceptedProject
    from merge_runner.cli.commands.mcp_server.session import Session

    accepted_project: AcceptedProject | None = None
    try:
        project = load_project(options, secrets=True)
        ids = selected(project, options).ids if options.allow_write else ()
        accepted_project = AcceptedProject.of(project.prepared, ids)
    except ProblemsError as error:
        if options.allow_write:
            raise
        say(f"the project cannot be loaded, and only tools that need no Spark work: {error}", "warn")
    if options.allow_write:
        _say_merges(accepted_project)
    values = {option.name: getattr(options, option.name) for option in declared_options(ProjectOptions)}
    serve(Session(accepted_project, values, may_write=options.allow_write))
    return 0


def _say_merges(project: AcceptedProject | None) -> None:
    """Say what may be built. Raises ProblemsError where that is nothing."""
    if project is None or not project.merges:
        message = "none of the selected models is a merge with `expect_merge`: there is nothing to build"
        hint = "give a model limits (docs/guides/merge-guardrails.md), or leave out --allow-write"
        raise ProblemsError([Problem("not-accepted", message, hint=hint)])
    say(f"may be built: {', '.join(unique_id.split('.', 2)[2] for unique_id in project.merges)}")
