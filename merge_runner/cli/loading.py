"""The project that the options of a command are about, and the nodes that they select."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from merge_runner.cli.display.messages import hide, say
from merge_runner.cli.host import current_host
from merge_runner.columns import printable
from merge_runner.options.output import OutputOptions
from merge_runner.options.project import Defer, FullRefresh, ProjectOptions, Selection

if TYPE_CHECKING:
    from merge_runner.api.project import Project
    from merge_runner.graph.selection.select import Selection as Chosen
    from merge_runner.project.syntax.environment import RecordingEnv
    from merge_runner.template.rendered_text import Log

COLUMNS_NEED_STATE = "--columns needs --state, the folder with the manifest.json to compare with."
_Selection = TypeVar("_Selection", bound=Selection)


def load_project(options: ProjectOptions, env: RecordingEnv | None = None, *, secrets: bool = False) -> Project:
    """Return the project that the options mean; show which vars it does not read, and which variables it does not get.

    `env` None: that of the process, whose secrets templates get with `secrets`, as a command that runs something needs.
    """
    from merge_runner.cli.display.problems import show_not_read, show_warnings

    project = project_of(options, env, secrets=secrets)
    show_not_read(project.prepared.withheld, options)
    show_warnings(project.prepared.unread_vars, as_errors=options.warn_error)
    return project


def project_of(options: ProjectOptions, env: RecordingEnv | None = None, *, secrets: bool = False) -> Project:
    """Return the project that the options mean, whose secrets no message shows from here on."""
    from merge_runner.api.project import Project

    root, host = project_root(options.project_dir), current_host()
    env = recording_env(secrets=secrets) if env is None else env
    project = Project.load(
        root,
        vars=options.vars_text,
        target=options.target,
        profile=options.profile,
        profiles_dir=options.profiles_dir,
        target_path=options.target_path,
        full_refresh=isinstance(options, FullRefresh) and options.full_refresh,
        cache=not options.no_cache,
        env=env,
        on_log=lambda log: _show_log(log, options),
        start=host.start,
        queries_only=host.queries_only,
    )
    hide(lambda: project.prepared.secrets)
    return project


def recording_env(*, secrets: bool = False) -> RecordingEnv:
    """Return the environment of a command, whose secrets templates get with `secrets` alone.

    Nothing is shown of it that a project has asked for by a name that says that it is secret.
    """
    from merge_runner.project.syntax.environment import RecordingEnv
    from merge_runner.project.syntax.secret_names import secret_values

    env = RecordingEnv(os.environ, secrets=secrets)
    hide(lambda: secret_values(dict(env.reads)))
    return env


def _show_log(log: Log, options: OutputOptions) -> None:
    """Show what a template logs: with info=true always, the rest with --debug."""
    if options.debug or (log.info and not options.quiet):
        message = printable(log.message)
        say(f"{log.place}: {message}" if options.debug else message, "info" if log.info else "debug")


def with_default_selector(project: Project, options: _Selection) -> _Selection:
    """Return the options; where they select nothing, with the default selector of selectors.yml, if there is one."""
    if options.select or options.exclude or options.selector:
        return options
    selectors = project.prepared.files.selectors.values()
    name = next((selector.name for selector in selectors if selector.default), None)
    if name is not None and not options.quiet:
        say(f"the default selector {name} of selectors.yml counts; --select '*' takes all nodes")
    return replace(options, selector=name)


def selected(project: Project, options: Selection) -> Chosen:
    """Return the nodes that the options select; warn of what matches nothing. Raise UsageError."""
    from merge_runner.cli.display.problems import show_warnings

    if options.columns and options.state is None:
        raise click.UsageError(COLUMNS_NEED_STATE)
    selection = project.selected_by(options)
    show_warnings(selection.warnings, as_errors=options.warn_error)
    return selection


def check_defer(options: Defer, state: Path | None) -> Path | None:
    """Return the folder that --defer reads, `state` by default. Raise UsageError for --defer without one."""
    folder = options.defer_state or state
    if options.defer and folder is None:
        raise click.UsageError("--defer needs --state, the folder with the manifest.json to defer to.")
    return folder


def project_root(project_dir: Path | None) -> Path:
    """The project's folder: that of --project-dir and no other, else the nearest one from here upwards."""
    from merge_runner.project.load.find_project import find_root

    return find_root(Path.cwd()) if project_dir is None else find_root(project_dir, upwards=False)
