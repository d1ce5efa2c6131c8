"""A YAML property file, read: its types, its data tests, and the places of its keys and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from merge_runner.errors import Problems
from merge_runner.project.load.not_read import KEYS
from merge_runner.project.schema.config import MODEL_KEYS
from merge_runner.project.schema.data_test import data_test
from merge_runner.project.schema.dbt_keys import PROPERTIES
from merge_runner.project.schema.properties import DataTest, PropertyFile
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.validate import describe_value, validate
from merge_runner.project.syntax.yaml_tree import YamlTree

_Read = Callable[[Mapping[str, Any], KeyPath, str], Mapping[str, Any]]

ELSEWHERE = {**PROPERTIES, **dict.fromkeys(MODEL_KEYS, 'it is a config key: write it below "config:"')}


def read_properties(tree: YamlTree, problems: Problems) -> PropertyFile | None:
    """The content of a property file; None, with problems, where that fails. An empty file says nothing."""
    if tree.data is None:
        return PropertyFile()
    data = _TestReader(tree, problems).file(tree.data)
    return validate(PropertyFile, data, tree, problems, elsewhere=ELSEWHERE)


class _TestReader:
    """Puts read data tests in the place of written ones, whose many forms no plain type describes."""

    def __init__(self, tree: YamlTree, problems: Problems) -> None:
        self._tree = tree
        self._problems = problems

    def file(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        result = {key: value for key, value in data.items() if key not in KEYS and key != "anchors"}
        for kind in ("models", "seeds"):
            if kind in data:
                result[kind] = self._map_entries(data[kind], (kind,), kind.removesuffix("s"), self._holder)
        if "sources" in data:
            result["sources"] = self._map_entries(data["sources"], ("sources",), "source", self._source)
        return result

    def _source(self, source: Mapping[str, Any], at: KeyPath, of: str) -> Mapping[str, Any]:
        if "tables" not in source:
            return source
        return {**source, "tables": self._map_entries(source["tables"], (*at, "tables"), f"{of}, table", self._holder)}

    def _holder(self, entry: Mapping[str, Any], at: KeyPath, of: str) -> Mapping[str, Any]:
        """Read a model, seed or table, with its own tests and those of its columns."""
        if "columns" in entry:
            entry = {
                **entry,
                "columns": self._map_entries(entry["columns"], (*at, "columns"), f"{of}, column", self._with_tests),
            }
        return self._with_tests(entry, at, of)

    def _with_tests(self, entry: Mapping[str, Any], at: KeyPath, of: str) -> Mapping[str, Any]:
        keys = [key for key in ("data_tests", "tests") if key in entry]
        if not keys:
            return entry
        if len(keys) == 2:
            message = f'{of}: "tests" and "data_tests" are two names of one key'
            self._problems.add("duplicate-key", message, self._tree.key_place((*at, "tests")), 'keep "data_tests"')
        key = keys[0]
        other_keys = {name: value for name, value in entry.items() if name not in keys}
        return {**other_keys, "data_tests": self._tests(entry[key], (*at, key), of)}

    def _tests(self, entries: Any, at: KeyPath, of: str) -> tuple[DataTest, ...]:
        if entries is None:
            return ()
        if not isinstance(entries, list):
            message = f'{of}: "{at[-1]}" must be a list, not {describe_value(entries)}'
            self._problems.add("invalid-value", message, self._tree.place(at))
            return ()
        tests = (data_test(entry, (*at, index), self._tree, self._problems, of) for index, entry in enumerate(entries))
        return tuple(test for test in tests if test is not None)

    def _map_entries(self, entries: Any, at: KeyPath, kind: str, read: _Read) -> Any:
        """Applies `read` to every mapping of a list; other shapes are left for the types to refuse."""
        if not isinstance(entries, list):
            return entries
        return [
            read(entry, (*at, index), f"{kind} {entry.get('name', index + 1)}") if isinstance(entry, Mapping) else entry
            for index, entry in enumerate(entries)
        ]
