"""The parameters of click that the declarations of options make (merge_runner/options)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from merge_runner.cli.completion import profiles, selection, selectors, targets
from merge_runner.cli.display.messages import set_log_format, set_style
from merge_runner.cli.environment import speaks_dbt
from merge_runner.cli.multi_word_option import Names
from merge_runner.options.declaration import DeclaredOption, declared_options

_Callback = Callable[[click.Context, click.Parameter, Any], Any]

_COMPLETED: Mapping[str, Callable[..., Any]] = {
    "select": selection,
    "exclude": selection,
    "selector": selectors,
    "profile": profiles,
    "target": targets,
}
"""What completes the values of options that several commands share."""


def _log_format(value: str) -> str:
    """Take a log format; where the caller takes us for dbt, `json` means dbt's lines."""
    log_format = "dbt-json" if value == "json" and speaks_dbt(os.environ) else value
    set_log_format(log_format)
    return log_format


def _debug(value: bool) -> bool:
    set_style(debug=value)
    return value


def _no_use_colors(value: bool) -> bool:
    set_style(plain=value)
    return value


_EFFECTS: Mapping[str, Callable[[Any], Any]] = {
    "log_format": _log_format,
    "debug": _debug,
    "no_use_colors": _no_use_colors,
}
"""What takes effect while the command line is read, since its errors are shown like that; they return the value."""


def parameters(
    kind: type, groups: tuple[type, ...] | None = None, ignored: tuple[str, ...] = ()
) -> Iterator[click.Parameter]:
    """Yield the arguments and options that a dataclass declares, of the classes `groups` alone where they are given.

    What is `ignored` is accepted, and not in the help.
    """
    for declared_option in declared_options(kind, groups):
        yield (
            _option(declared_option, declared_option.name in ignored)
            if declared_option.declaration.flags
            else _argument(declared_option)
        )


def _option(declared_option: DeclaredOption, hidden: bool) -> click.Option:
    declaration = declared_option.declaration
    settings: dict[str, Any] = {
        "help": declaration.help,
        "hidden": hidden,
        "metavar": declaration.metavar,
        "multiple": declared_option.several,
        "callback": _callback(declared_option),
        "is_eager": declared_option.name in _EFFECTS,
        "shell_complete": declaration.complete or _COMPLETED.get(declared_option.name),
        "show_default": declaration.shows_default,
    }
    if declared_option.is_flag:
        settings["is_flag"] = True
    else:
        settings["type"] = _type(declared_option)
        if declared_option.default:
            settings["default"] = declared_option.default
    if declaration.bare is not None:
        settings |= {"is_flag": False, "flag_value": declaration.bare}
    kind = Names if declaration.words else click.Option
    return kind([*declaration.flags, declared_option.name], **settings)


def _argument(argument: DeclaredOption) -> click.Argument:
    declaration = argument.declaration
    settings: dict[str, Any] = {"nargs": -1} if argument.several else {"required": declaration.required}
    return click.Argument(
        [argument.name],
        type=_type(argument),
        metavar=declaration.metavar,
        callback=_callback(argument),
        shell_complete=declaration.complete,
        **settings,
    )


def _type(declared_option: DeclaredOption) -> Any:
    declaration = declared_option.declaration
    if declared_option.choices:
        return click.Choice(declared_option.choices)
    if declared_option.type is Path:
        kind = declaration.path
        return click.Path(file_okay=kind != "folder", dir_okay=kind != "file", path_type=Path)
    if declaration.parse is None and declared_option.type is int:
        return click.IntRange(_whole(declaration.least), _whole(declaration.most))
    if declaration.parse is None and declared_option.type is float:
        return click.FloatRange(declaration.least, declaration.most, min_open=declaration.above)
    return str


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


def _callback(declared_option: DeclaredOption) -> _Callback | None:
    effect, parse = _EFFECTS.get(declared_option.name), declared_option.declaration.parse
    if effect is not None:
        return lambda _ctx, _param, value: effect(value)
    return None if parse is None else lambda _ctx, _param, value: _parse(parse, value)


def _parse(parse: Callable[[str], Any], value: str | None) -> Any:
    try:
        return None if value is None else parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
