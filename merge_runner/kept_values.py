"""Values that are kept between runs as pickles: read as data alone, whatever the bytes are."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

PROTOCOL = 5

_Key = TypeVar("_Key", bound=Hashable)

_PACKAGES = tuple(f"merge_runner.{name}." for name in ("project", "graph", "template"))
_MODULES = (
    *("merge_runner.text", "merge_runner.errors", "merge_runner.relation"),
    *("merge_runner.lint.check", "merge_runner.lint.finding", "merge_runner.lint.report"),
)
_OTHERS = {("pathlib", "PosixPath"), ("pathlib", "WindowsPath"), ("datetime", "date"), ("datetime", "datetime")}


def pack(values: Mapping[_Key, Any], write: Callable[[bytes], tuple[int, int]]) -> dict[_Key, tuple[int, int]]:
    """Write a pickle of each value, and return where it is, as `write` does."""
    return {key: write(pickle.dumps(value, PROTOCOL)) for key, value in values.items()}


_MOST_READ = 4096
"""So many values stay once they are read: all of a usual project, and few enough of a large one."""


class Packed(Mapping[_Key, Any]):
    """Values that `pack` has written, each read when it is asked for."""

    def __init__(self, values: Callable[[tuple[int, int]], Any], places: Mapping[_Key, tuple[int, int]]) -> None:
        """Take what reads a value, and where each begins and ends."""
        self._values = values
        self._places = places
        self._read: dict[_Key, Any] = {}

    def __getitem__(self, key: _Key) -> Any:
        if key not in self._read:
            place = self._places[key]
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            self._read[key] = self._values(place)
        return self._read[key]

    def forget(self) -> None:
        """Leave what was read to be read again."""
        self._read.clear()

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places


def read_values(content: bytes | io.BytesIO) -> Any:
    """Return the next values of a pickle. Raises UnpicklingError where it has anything but data of a project."""
    return _Reader(io.BytesIO(content) if isinstance(content, bytes) else content).load()


class _Reader(pickle.Unpickler):
    """Reads data alone: no bytes make it call anything but the classes of a project's values."""

    def find_class(self, module: str, name: str) -> Any:
        return _value_class(module, name)


@cache
def _value_class(module: str, name: str) -> Any:
    """Return a class whose values may be kept. Raises UnpicklingError for anything else."""
    if (module, name) in _OTHERS or module.startswith(_PACKAGES) or module in _MODULES:
        found = getattr(import_module(module), name, None)
        if (module, name) in _OTHERS or (isinstance(found, type) and is_dataclass(found)):
            return found
    raise pickle.UnpicklingError(f"{module}.{name} is no value of a project")
