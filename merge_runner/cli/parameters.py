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
from merge_runner.options.declaration import Declared, declared

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
    taken = "dbt-json" if value == "json" and speaks_dbt(os.environ) else value
    set_log_format(taken)
    return taken


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
    for each in declared(kind, groups):
        yield _option(each, each.name in ignored) if each.declaration.flags else _argument(each)


def _option(each: Declared, hidden: bool) -> click.Option:
    declaration = each.declaration
    settings: dict[str, Any] = {
        "help": declaration.help,
        "hidden": hidden,
        "metavar": declaration.metavar,
        "multiple": each.several,
        "callback": _callback(each),
        "is_eager": each.name in _EFFECTS,
        "shell_complete": declaration.complete or _COMPLETED.get(each.name),
        "show_default": declaration.shows_default,
    }
    if each.is_flag:
        settings["is_flag"] = True
    else:
        settings["type"] = _type(each)
        if each.default:
            settings["default"] = each.default
    if declaration.bare is not None:
        settings |= {"is_flag": False, "flag_value": declaration.bare}
    kind = Names if declaration.words else click.Option
    return kind([*declaration.flags, each.name], **settings)


def _argument(each: Declared) -> click.Argument:
    declaration = each.declaration
    settings: dict[str, Any] = {"nargs": -1} if each.several else {"required": declaration.required}
    return click.Argument(
        [each.name],
        type=_type(each),
        metavar=declaration.metavar,
        callback=_callback(each),
        shell_complete=declaration.complete,
        **settings,
    )


def _type(each: Declared) -> Any:
    declaration = each.declaration
    if each.choices:
        return click.Choice(each.choices)
    if each.type is Path:
        wanted = declaration.path
        return click.Path(file_okay=wanted != "folder", dir_okay=wanted != "file", path_type=Path)
    if declaration.parse is None and each.type is int:
        return click.IntRange(_whole(declaration.least), _whole(declaration.most))
    if declaration.parse is None and each.type is float:
        return click.FloatRange(declaration.least, declaration.most, min_open=declaration.above)
    return str


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


def _callback(each: Declared) -> _Callback | None:
    effect, parse = _EFFECTS.get(each.name), each.declaration.parse
    if effect is not None:
        return lambda _ctx, _param, value: effect(value)
    return None if parse is None else lambda _ctx, _param, value: _parsed(parse, value)


def _parsed(parse: Callable[[str], Any], value: str | None) -> Any:
    try:
        return None if value is None else parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
