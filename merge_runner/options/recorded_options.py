"""What an invocation keeps of its options in run_results.json and the journal, and how `retry` reads it again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from merge_runner.options.declaration import DeclaredOption, declared_options
from merge_runner.options.nodes import NodeOptions
from merge_runner.options.output import OutputOptions

_Options = TypeVar("_Options", bound=OutputOptions)


def recorded_options(options: OutputOptions) -> dict[str, Any]:
    """Return the options of an invocation that its artifacts keep, as JSON."""
    values = {
        declared_option.name: getattr(options, declared_option.name)
        for declared_option in declared_options(type(options))
        if declared_option.declaration.recorded
    }
    return {name: _as_json(value) for name, value in values.items()}


def check_recorded_options(args: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError where the arguments of an invocation are not what `recorded_options` returns."""
    for declared_option in declared_options(NodeOptions):
        value = args.get(declared_option.name)
        if declared_option.declaration.recorded and value is not None:
            _check(declared_option, value)


def restore_options(options: _Options, args: Mapping[str, Any], given: Collection[str]) -> _Options:
    """Return the options, those that are not `given` as an earlier invocation has kept them."""
    recordable = {
        declared_option.name: declared_option
        for declared_option in declared_options(type(options))
        if declared_option.declaration.recorded
    }
    values = {
        name: _from_json(recordable[name], value)
        for name, value in args.items()
        if name in recordable and name not in given and value is not None
    }
    return replace(options, **values)


def _as_json(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _from_json(option: DeclaredOption, value: Any) -> Any:
    if option.several:
        return tuple(value)
    return Path(value) if option.type is Path else value


def _check(option: DeclaredOption, value: Any) -> None:
    if option.several:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise TypeError(option.name)
        return
    kinds = {bool: (bool,), int: (int,), float: (int, float)}.get(option.type, (str,))
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(option.name)
    if isinstance(value, int | float) and value < (option.declaration.least or 0):
        raise ValueError(option.name)
