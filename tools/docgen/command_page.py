"""The page of the command line: every command with its arguments and options, environment variables, exit status."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import click

from merge_runner.cli.command import Context
from merge_runner.cli.main import ALIASES, cli
from merge_runner.cli.other_tools import ELSEWHERE
from tools.docgen.markdown import anchor, fenced, page, table

_INTRODUCTION = """\
`merge-runner COMMAND --help` shows the same in a terminal. Options may precede or follow arguments. `--select`,
`--exclude` and `--resource-type` take several values, up to the next option. Data goes to standard output, progress
and messages to standard error."""

COMMON = 8
"""An option that at least so many commands have with the same help is described once."""

EXIT_STATUS: Mapping[int, str] = {
    0: "success; warnings do not count, unless `--warn-error` is given",
    1: "a model or test failed, or lint found an error",
    2: "the command could not run or did not finish: bad usage, an invalid project or profile, Spark did not start, "
    "an interrupt",
}
"""What each exit status means."""


def commands() -> dict[str, click.Command]:
    """Return all commands by their names, in the order of the help."""
    context = Context(cli, info_name="merge-runner")
    found = ((name, cli.get_command(context, name)) for name in cli.list_commands(context))
    return {name: command for name, command in found if command is not None}


def options(command: click.Command) -> list[click.Option]:
    """Return the options of a command that its help shows."""
    return [param for param in command.params if isinstance(param, click.Option) and not param.hidden]


def command_line() -> str:
    """Return the page of all commands and options."""
    found = commands()
    count = Counter(_signature(option) for command in found.values() for option in options(command))
    common = {signature for signature, number in count.items() if number >= COMMON}
    shared = {_signature(option): option for command in found.values() for option in options(command)}
    return page(
        "Command line",
        _INTRODUCTION,
        table(
            ("command", "what it does"),
            (
                (f"[`{name}`](#{anchor(f'merge-runner {name}')})", command.get_short_help_str(500))
                for name, command in found.items()
            ),
        ),
        "## Exit status",
        table(("status", "meaning"), ((f"`{status}`", text) for status, text in EXIT_STATUS.items())),
        "## Common options",
        "The section of each command lists which of them it has.",
        _table(shared[signature] for signature in shared if signature in common),
        "Options of `merge-runner` itself, before the command:",
        _table(options(cli)),
        *(part for name, command in found.items() for part in _command(name, command, common)),
        "## Environment variables",
        table(("variable", "meaning"), ((f"`{name}`", text) for name, text in ENVIRONMENT.items())),
        "## Commands of other tools",
        "What to use instead of a command that dbt or SQLMesh has:",
        table(("command", "instead"), ((f"`{name}`", text) for name, text in ELSEWHERE.items())),
    )


def _command(name: str, command: click.Command, common: set[tuple[str, ...]]) -> Iterator[str]:
    yield f"## `merge-runner {name}`"
    yield inspect.cleandoc(command.help or "")
    context = Context(command, info_name=f"merge-runner {name}")
    yield fenced("console", f"$ {context.command_path} {' '.join(command.collect_usage_pieces(context))}")
    if others := [f"`{alias}`" for alias, meant in ALIASES.items() if meant == name]:
        yield f"Also: {', '.join(others)}."
    own = [option for option in options(command) if _signature(option) not in common]
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    if arguments:
        yield table(
            ("argument", "values"), ((f"`{each.make_metavar(context)}`", _argument(each)) for each in arguments)
        )
    if own:
        yield _table(own)
    if inherited := [f"`{max(option.opts, key=len)}`" for option in options(command) if option not in own]:
        yield f"[Common options](#common-options): {', '.join(inherited)}."


def _table(found: Iterable[click.Option]) -> str:
    return table(
        ("option", "values", "default", "meaning"),
        (
            (", ".join(f"`{name}`" for name in each.opts), _values(each), _default(each), each.help or "")
            for each in found
        ),
    )


def _signature(option: click.Option) -> tuple[str, ...]:
    return (*option.opts, option.help or "", _values(option))


def _argument(argument: click.Argument) -> str:
    number = "any number, also none" if argument.nargs == -1 else "required" if argument.required else "optional"
    choices = (
        ", ".join(f"`{choice}`" for choice in argument.type.choices) if isinstance(argument.type, click.Choice) else ""
    )
    return f"{choices} ({number})" if choices else number


def _values(option: click.Option) -> str:
    if option.is_flag:
        return "flag"
    kind = option.type
    if isinstance(kind, click.Choice):
        text = ", ".join(f"`{choice}`" for choice in kind.choices)
    elif isinstance(kind, click.IntRange | click.FloatRange):
        number = "integer" if isinstance(kind, click.IntRange) else "number"
        least = f" above {kind.min:g}" if kind.min_open else f", {kind.min:g} or more"
        text = number + (least if kind.min is not None else "")
    elif isinstance(kind, click.Path):
        text = "folder" if not kind.file_okay else "file" if not kind.dir_okay else "path"
    else:
        text = f"`{option.metavar}`" if option.metavar else "text"
    if isinstance(option.flag_value, str):
        text += " (may be left out)"
    return f"{text}; several" if option.multiple else text


def _default(option: click.Option) -> str:
    if option.is_flag or option.multiple or option.default is None or not isinstance(option.default, str | int | float):
        return ""
    return f"`{option.default:g}`" if isinstance(option.default, float) else f"`{option.default}`"


ENVIRONMENT: Mapping[str, str] = {
    "JAVA_HOME": "the Java of the driver, 17 or 21 (Spark 3.5: 11 or 17); else `java` on `PATH`, then usual folders",
    "SPARK_HOME": "the Spark installation of the driver; without it the one of the package pyspark",
    "SPARK_CONF_DIR": "the folder with `spark-defaults.conf`; without it `conf` in the Spark installation",
    "SPARK_DRIVER_MEMORY": "the memory of the driver, where neither the profile nor `spark-defaults.conf` sets it",
    "MERGE_RUNNER_CACHE_DIR": "`--cache-dir`, the folder of downloaded jars and of what earlier runs found out about "
    "files; without it `merge-runner` in `XDG_CACHE_HOME` or `~/.cache`",
    "XDG_CACHE_HOME": "the folder of caches",
    "MERGE_RUNNER_MAVEN_URL": "the Maven repository from which jars are fetched; without it Maven Central",
    "MERGE_RUNNER_WARM": "`0`: the project's warm driver is not used; `1`: it is used also with `CI`",
    "MERGE_RUNNER_CDS": "`0`: no AppCDS archive of the driver is used or written; `1`: it is written also with `CI`, "
    "and the command waits for it",
    "CI": "set by CI servers: no warm driver is used and no AppCDS archive is written, but see above",
    "XDG_RUNTIME_DIR": "the folder of the warm driver's socket; without it the temporary folder",
    "NO_COLOR": "no colours in the output",
    "FORCE_COLOR": "colours also where the output is no terminal",
    "COLUMNS": "the width of the terminal",
    "MERGE_RUNNER_TARGET": "`--target`; likewise `…_PROJECT_DIR`, `…_PROFILES_DIR`, `…_PROFILE`, `…_TARGET_PATH`, "
    "`…_STATE`, `…_DEFER_STATE`, `…_LOG_FORMAT`, `…_INDIRECT_SELECTION`, and `true` or `false` in "
    "`…_DEBUG`, `…_QUIET`, `…_WARN_ERROR`, "
    "`…_FAIL_FAST`, `…_FULL_REFRESH`, `…_DEFER`, `…_USE_COLORS`. The option of the command line wins",
    "DBT_TARGET": "as `MERGE_RUNNER_TARGET`, where that is not set; likewise all the others, also as `DBT_ENGINE_…`. "
    "`DBT_TARGET_PATH` is also the target folder of a dbt project, for `lint` of it",
    "DBT_LOG_FORMAT": "`json`: messages are dbt's event lines (`--log-format dbt-json`), also with "
    "`--log-format json`, and `--version` is written for tools that run dbt",
}
"""What each variable does. `env_var` in templates and profiles reads any other one."""
