"""Environment variables that stand for options: `MERGE_RUNNER_…`, and dbt's `DBT_…` where the former is not set.

Tools that run dbt set dbt's for each call. An option of the command line wins over both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

_PREFIXES = ("MERGE_RUNNER_", "DBT_ENGINE_", "DBT_")
"""In the order in which they count; dbt 1.12 prefers its second."""
_TEXTS = (
    "project_dir",
    "profiles_dir",
    "profile",
    "target",
    "target_path",
    "state",
    "defer_state",
    "indirect_selection",
)
_FLAGS = ("debug", "quiet", "warn_error", "fail_fast", "full_refresh", "defer")
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "true", "y", "yes", "on"), True),
    **dict.fromkeys(("0", "f", "false", "n", "no", "off"), False),
}
_USED = "merge_runner.environment"


def options_of(environment: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """Return the options that variables set, by their names: the variable and the value.

    Raises UsageError for a flag that is neither true nor false. A variable without text is not set.
    """
    return {name: (variable, value) for name, variable, value in _environment_options(environment)}


def speaks_dbt(environment: Mapping[str, str]) -> bool:
    """Whether the caller takes us for dbt: `json` means dbt's lines then, and the version is read as dbt's."""
    return [value for _, value in _log_format(environment)] == ["dbt-json"]


def note_used(context: click.Context, variables: Mapping[str, str]) -> None:
    """Remember the variable of each option that one has set: it is not given, as `retry` means it."""
    context.meta[_USED] = variables


def used(context: click.Context) -> frozenset[str]:
    """Return the names of the options that variables have set."""
    return frozenset(context.meta.get(_USED, ()))


def noted(context: click.Context) -> list[str]:
    """Return what --debug says: where an option of this command has its value from."""
    return [
        f"{name} is set by the environment variable {variable}"
        for name, variable in context.meta.get(_USED, {}).items()
        if name in context.params and context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT_MAP
    ]


def _environment_options(environment: Mapping[str, str]) -> Iterator[tuple[str, str, Any]]:
    for name in _TEXTS:
        for variable, text in _variable(environment, name):
            yield name, variable, text
    for name in _FLAGS:
        for variable, text in _variable(environment, name):
            yield name, variable, _boolean(variable, text)
    for variable, text in _variable(environment, "use_colors"):
        yield "no_use_colors", variable, not _boolean(variable, text)
    for variable, text in _log_format(environment):
        yield "log_format", variable, text


def _log_format(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the variable of the log format and what it asks for; dbt's other forms are for people."""
    for variable, text in _variable(environment, "log_format"):
        ours = variable.startswith(_PREFIXES[0])
        yield variable, text if ours else {"json": "dbt-json"}.get(text, "text")


def _variable(environment: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    """Yield the variable that counts and its text, if there is one."""
    for prefix in _PREFIXES:
        variable = prefix + name.upper()
        if environment.get(variable):
            yield variable, environment[variable]
            return


def _boolean(variable: str, text: str) -> bool:
    value = _BOOLEANS.get(text.lower())
    if value is None:
        raise click.UsageError(f"the environment variable {variable} is {text!r}: write true or false, or unset it.")
    return value
