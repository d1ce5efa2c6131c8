"""Options that many commands share, named as in dbt."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from merge_runner.cli.completion import profiles, selection, selectors, targets
from merge_runner.cli.display.messages import hide, say, set_style
from merge_runner.cli.multi_word_option import Names
from merge_runner.cli.project_root import project_root

if TYPE_CHECKING:
    from merge_runner.api import Project
    from merge_runner.plan.load.project_context import Flags
    from merge_runner.project.syntax.environment import RecordingEnv
    from merge_runner.template.rendered import Log

Function = TypeVar("Function", bound=Callable[..., Any])

LARGEST_BATCH = 2**63 - 1
"""Delta keeps the version of an application's transactions as a Java long."""
_FOLDER = click.Path(file_okay=False, path_type=Path)


def _log_format(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    set_style(as_json=value == "json")
    return value


def _debug(_ctx: click.Context, _param: click.Parameter, value: bool) -> bool:
    set_style(debug=value)
    return value


def _no_use_colors(_ctx: click.Context, _param: click.Parameter, value: bool) -> bool:
    set_style(plain=value)
    return value


def _branch(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    return None if value is None else checked_branch(value)


def checked_branch(value: str) -> str:
    """The name of a branch that can be written. Raises click.BadParameter."""
    from merge_runner.plan.branch_plan import branch_name

    try:
        return branch_name(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_PROJECT = (
    click.option("--project-dir", type=_FOLDER, help="The project's folder; default: the nearest one upwards."),
    click.option("--profiles-dir", type=_FOLDER, help="Where profiles.yml is; default: the project, ~/.merge-runner."),
    click.option("--profile", shell_complete=profiles, help="The profile of profiles.yml."),
    click.option("-t", "--target", shell_complete=targets, help="The output of the profile."),
    click.option("--vars", "vars_text", metavar="YAML", help="Variables, as '{name: value, …}'."),
    click.option("--target-path", help="The folder for everything generated."),
)
_FULL_REFRESH = (
    click.option("-f", "--full-refresh", is_flag=True, help="Rebuild targets instead of merging into them."),
)
_NO_LINT = (click.option("--no-lint", is_flag=True, help="Do not lint first; errors of lint stop a build."),)
_SELECTION = (
    click.option(
        *("-s", "--select", "-m", "--models"),
        cls=Names,
        multiple=True,
        shell_complete=selection,
        help="The nodes to take, in dbt's syntax.",
    ),
    click.option("--exclude", cls=Names, multiple=True, shell_complete=selection, help="The nodes to leave out."),
    click.option("--selector", shell_complete=selectors, help="A named selection of selectors.yml."),
    click.option(
        "--state", type=_FOLDER, help="A folder with the artifacts of an earlier run, for state:, result: and --defer."
    ),
)
_DEFER = (
    click.option(
        "--defer",
        is_flag=True,
        help="What is neither selected nor built in this target is read where the manifest.json of --state has it.",
    ),
)
_OUTPUT = (
    click.option(
        "--log-format",
        type=click.Choice(["text", "json"]),
        default="text",
        is_eager=True,
        callback=_log_format,
        help="How messages are written.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Errors and results only."),
    click.option(
        "-d",
        "--debug",
        is_flag=True,
        is_eager=True,
        callback=_debug,
        help="Every event, and tracebacks of what should not happen.",
    ),
    click.option("--no-use-colors", is_flag=True, is_eager=True, callback=_no_use_colors, help="No colours."),
    click.option("--warn-error", is_flag=True, help="Warnings count as errors."),
)
_RUNNING = (
    click.option("--threads", type=click.IntRange(min=1), help="Models to run in parallel; default: the profile's."),
    click.option("-x", "--fail-fast", is_flag=True, help="Stop, and cancel what runs, at the first failure."),
)
_JUNIT = (
    click.option(
        "--junit",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Also write the results to this file, as JUnit XML for CI servers.",
    ),
)
_BATCH = (
    click.option(
        "--batch-id",
        type=click.IntRange(min=0, max=LARGEST_BATCH),
        help="A whole number that grows; a merge that has committed for it, or a later one, is not run again.",
    ),
)
_BRANCH = (
    click.option(
        "--branch",
        metavar="NAME",
        callback=_branch,
        help="Write this branch of every Iceberg table instead of main, and read it; `publish` moves main to it.",
    ),
)


def _duration(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """Seconds of a text such as `90`, `36h` or `7d`."""
    from merge_runner.project.syntax.duration import seconds

    try:
        return None if value is None else seconds(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not {error}.") from None


_MAINTENANCE = (
    click.option(
        "--vacuum",
        is_flag=True,
        help="Also remove old files (Delta's VACUUM) and old snapshots (Iceberg's expire_snapshots).",
    ),
    click.option(
        "--retain",
        metavar="DURATION",
        callback=_duration,
        help="With --vacuum: how long old files are kept, e.g. 14d. Default, and least: as long as the table says.",
    ),
)


_SHARED = (
    *_PROJECT,
    *_FULL_REFRESH,
    *_SELECTION,
    *_DEFER,
    *_NO_LINT,
    *_RUNNING,
    *_BATCH,
    *_BRANCH,
    *_JUNIT,
    *_MAINTENANCE,
)
"""Every option that code of several commands reads. `_OUTPUT` is not in it: each command has those."""


@cache
def shared_defaults() -> Mapping[str, Any]:
    """Return the value that each shared option has where it is not given, by parameter name."""
    command = click.command("shared")(_add(lambda **_options: None, _SHARED))
    return MappingProxyType(command.make_context("shared", [], default_map={}).params)


def project_options(function: Function) -> Function:
    """Adds the options that say which project, profile and target."""
    return _add(function, _PROJECT)


def folder_options(function: Function) -> Function:
    """Add those of `project_options` that name folders, for commands that need no profile."""
    return _add(function, (_PROJECT[0], _PROJECT[-1]))


def full_refresh_option(function: Function) -> Function:
    """Add --full-refresh, for commands that run or render models."""
    return _add(function, _FULL_REFRESH)


def lint_option(function: Function) -> Function:
    """Add --no-lint, for `build`."""
    return _add(function, _NO_LINT)


def selection_options(function: Function) -> Function:
    """Adds --select and its kin."""
    return _add(function, _SELECTION)


def defer_option(function: Function) -> Function:
    """Adds --defer, for commands that have --state."""
    return _add(function, _DEFER)


def output_options(function: Function) -> Function:
    """Adds the options that say how messages look."""
    return _add(function, _OUTPUT)


def output_options_without(*ignored: str) -> Callable[[Function], Function]:
    """Add the options of `output_options`; those that the command ignores are accepted, and not in its help.

    `ignored` are parameter names. A script may give these options to every command, as dbt's global flags.
    """

    def decorate(function: Function) -> Function:
        function = output_options(function)
        for param in function.__click_params__:  # type: ignore[attr-defined]
            if param.name in ignored:
                param.hidden = True
        return function

    return decorate


def running_options(function: Function) -> Function:
    """Adds the options of commands that run models."""
    return _add(function, _RUNNING)


def junit_option(function: Function) -> Function:
    """Adds --junit, for commands that run tests."""
    return _add(function, _JUNIT)


def batch_option(function: Function) -> Function:
    """Adds --batch-id, for commands that run merges."""
    return _add(function, _BATCH)


def branch_option(function: Function) -> Function:
    """Adds --branch, for commands that run nodes."""
    return _add(function, _BRANCH)


def maintenance_options(function: Function) -> Function:
    """Adds the options of `optimize`."""
    return _add(function, _MAINTENANCE)


def load_project(options: dict[str, Any], *, warn: bool = True) -> Project:
    """Return the project that the options of `project_options` mean; `warn` of vars that it does not read."""
    from merge_runner.api import Project
    from merge_runner.cli.display.problems import show_unread_vars
    from merge_runner.plan.load.project_context import prepare

    root = project_root(options["project_dir"])
    env = recording_env()
    prepared = prepare(root, project_flags(options), env, lambda log: _tell(log, options))
    hide(lambda: prepared.secrets)
    if warn:
        show_unread_vars(prepared, options)
    return Project(prepared)


def recording_env() -> RecordingEnv:
    """The environment, of which nothing is shown that a project has asked for by a name that says that it is secret."""
    from merge_runner.project.schema.secret_names import secret_values
    from merge_runner.project.syntax.environment import RecordingEnv

    env = RecordingEnv(os.environ)
    hide(lambda: secret_values(dict(env.asked)))
    return env


def project_flags(options: dict[str, Any]) -> Flags:
    """Return what the options of `project_options` say of the project, as flags for loading it."""
    from merge_runner.plan.load.project_context import Flags

    return Flags(
        profile=options["profile"],
        target=options["target"],
        profiles_dir=options["profiles_dir"],
        vars=parsed_vars(options["vars_text"]),
        target_path=options["target_path"],
        full_refresh=options["full_refresh"],
    )


def _tell(log: Log, options: dict[str, Any]) -> None:
    """Shows what a template logs: with info=true always, the rest with --debug."""
    if options.get("debug") or (log.info and not options.get("quiet")):
        say(f"{log.place}: {log.message}" if options.get("debug") else log.message, "info" if log.info else "debug")


def selected(project: Project, options: dict[str, Any], *, default: bool = True) -> tuple[str, ...]:
    """Return the ids of the nodes that the options of `selection_options` mean; what matches nothing is warned of.

    Without any of them the default selector of selectors.yml counts, where there is one and `default`: it becomes the
    value of --selector, so that `retry` knows of it.
    """
    from merge_runner.cli.display.problems import show_warnings

    if default and not (options["select"] or options["exclude"] or options["selector"]):
        named = project.prepared.files.selectors.values()
        options["selector"] = next((selector.name for selector in named if selector.default), None)
        if options["selector"] is not None and not options.get("quiet"):
            say(f"the default selector {options['selector']} of selectors.yml counts; --select '*' takes all nodes")
    selection = project.select(options["select"], options["exclude"], options["selector"], options["state"])
    show_warnings(selection.warnings, as_errors=options["warn_error"])
    return selection.ids


def deferred(project: Project, ids: tuple[str, ...], options: dict[str, Any]) -> Project:
    """The project as --defer makes it for a build of the nodes `ids`."""
    if not options["defer"]:
        return project
    if options["state"] is None:
        raise click.UsageError("--defer needs --state, the folder with the manifest.json to defer to.")
    return project.defer(ids, options["state"])


def parsed_vars(text: str | None) -> dict[str, Any]:
    """The vars of --vars. Raises ProblemsError where they are no mapping."""
    if text is None:
        return {}
    from merge_runner.project.load.load import parse_vars

    return parse_vars(text)


def _add(function: Function, options: tuple[Callable[[Function], Function], ...]) -> Function:
    for option in reversed(options):
        function = option(function)
    return function
