"""The arguments of a tool: their JSON Schema, and the words of the command line that they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from merge_runner.cli.commands.mcp_server.tools import Tool
from merge_runner.options.declaration import DeclaredOption, declared_options
from merge_runner.options.output import OutputOptions

_TYPES = {bool: "boolean", int: "integer", float: "number"}
"""JSON's types of options; all others are texts, which the command line reads."""
_ARGUMENTS = {
    "paths": "Models, folders, or files with MERGEs in them; default: the whole project.",
    "codes": "Codes or names of rules, or beginnings of codes: P is all about pruning.",
    "name": "MODEL or MODEL.COLUMN; default: the columns of all models.",
}
"""What the arguments of commands mean: on the command line their names say it."""


def input_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a tool."""
    options = {option.name: option for option in declared_options(tool.kind)}
    return {
        "type": "object",
        "properties": {name: _schema(options[name]) for name in tool.parameters},
        "required": list(tool.required),
        "additionalProperties": False,
    }


def _schema(option: DeclaredOption) -> dict[str, Any]:
    declaration = option.declaration
    value: dict[str, Any] = {"type": "string", "minLength": 1} if declaration.parse else _schema_of_type(option)
    description = {"description": declaration.help or _ARGUMENTS[option.name]}
    if option.several:
        return {"type": "array", "items": value, **description}
    default = {"default": option.default} if option.default not in (None, False, ()) else {}
    return {**value, **default, **description}


def _schema_of_type(option: DeclaredOption) -> dict[str, Any]:
    if option.choices:
        return {"type": "string", "enum": list(option.choices)}
    if option.type not in _TYPES:
        return {"type": "string", "minLength": 1}
    limits = {"minimum": option.declaration.least, "maximum": option.declaration.most}
    return {"type": _TYPES[option.type], **{name: limit for name, limit in limits.items() if limit is not None}}


def command_words(kind: type[OutputOptions], values: Mapping[str, Any]) -> list[str]:
    """Return the words by which a command with the options `kind` gets the values, by name.

    No value is read as an option: it is in one word with the name of its option, or after `--`. Values of options that
    the command does not have are left out.
    """
    options: list[str] = []
    arguments: list[str] = []
    for option in declared_options(kind):
        value = values.get(option.name)
        if value in (None, False, (), []):
            continue
        if option.declaration.flags:
            options += _option(option, value)
        else:
            arguments += _texts(value)
    return [*options, *(["--", *arguments] if arguments else [])]


def _option(option: DeclaredOption, value: Any) -> Iterator[str]:
    flag = next(flag for flag in option.declaration.flags if flag.startswith("--"))
    if option.is_flag:
        yield flag
        return
    yield from (f"{flag}={text}" for text in _texts(value))


def _texts(value: Any) -> Iterable[str]:
    return map(str, value) if isinstance(value, list | tuple) else [str(value)]
