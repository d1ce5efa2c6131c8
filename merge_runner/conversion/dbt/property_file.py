"""Property files of dbt as merge-runner reads them: config keys translated, what it has not left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from merge_runner.conversion.dbt.config_call import Value
from merge_runner.conversion.dbt.config_keys import dbt_key, translate_config
from merge_runner.conversion.dbt.references import with_sources
from merge_runner.conversion.dbt.todo import Todo, in_file
from merge_runner.errors import Problem, Problems
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.text import SourceText

_CONTENT = ("sources", "models", "seeds", "unit_tests", "exposures", "macros", "groups", "analyses")
"""Keys without which a file says nothing."""
_NOT_READ = {
    "metrics": "there is no semantic layer",
    "semantic_models": "there is no semantic layer",
    "saved_queries": "there is no semantic layer",
    "functions": "write CREATE FUNCTION in a `pre_hook`",
}
_OF_SNAPSHOTS = ("relation", "config")
"""Keys of a snapshot that its own file has now."""


_RENDERED = frozenset({"materialized", "file_format", "table_format"})
"""Config keys whose values decide what becomes of them; Jinja in those of others stays."""
Described = Literal["enforced", "types", "names", "query"]
"""What dbt takes of the columns of a model: all, under a contract; no constraints; their names and tests alone, as an
incremental model has the columns and types of its query; or no contract either, as of an ephemeral model."""


@dataclass
class PropertyFile:
    """A property file of dbt's; `left_out` are the paths in it that merge-runner does not take, and why."""

    tree: YamlTree
    sources: Callable[[str], str | None] = field(repr=False)
    """Gives, by the name of a model that is not imported, that of the table of a source that it is now."""
    described: Callable[[str], Described] = field(repr=False)
    """Gives, by the name of a model, how far its columns are what its table is created with."""
    typed: Callable[[str], str | None] = field(repr=False)
    """Gives, by the name of a model, the column whose declared type counts in any case."""
    rendered: Callable[[Any, YamlTree, KeyPath], Value] = field(repr=False)
    """Gives the value at a path of the file as dbt renders it."""
    left_out: dict[KeyPath, Todo] = field(default_factory=dict)
    todos: list[Todo] = field(default_factory=list)
    _origins: dict[KeyPath, KeyPath] = field(default_factory=dict)
    """By a path in the new file, the one in dbt's."""

    @property
    def path(self) -> str:
        """The path of both files."""
        return self.tree.source.path

    def text(self) -> str | None:
        """Return the text of the new file: the author's own where nothing changes; None where nothing is left."""
        self.todos.clear()
        self._origins.clear()
        data = self._file()
        if data == self.tree.data:
            return self.tree.source.text
        if not any(data.get(key) for key in _CONTENT):
            return None
        note = f"# from {self.path} of the dbt project, without its comments\n"
        return note + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1 << 20)

    def keeps_type(self, model: str) -> bool:
        """Whether the new file has the type of the column of a model whose declared type counts in any case."""
        entries = self.tree.data.get("models") if isinstance(self.tree.data, Mapping) else None
        return any(
            isinstance(entry, Mapping) and entry.get("name") == model and self._typed_column(entry) is not None
            for entry in (entries if isinstance(entries, list) else ())
        )

    def _typed_column(self, entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The column whose type stays; None for one that is declared alone: a table would be created with it alone."""
        name, columns = self.typed(str(entry.get("name"))), entry.get("columns")
        if name is None or not isinstance(columns, list) or len(columns) < 2:
            return None
        named = (column for column in columns if isinstance(column, Mapping) and column.get("data_type"))
        return next((column for column in named if str(column.get("name")).casefold() == name.casefold()), None)

    def leave_out(self, problem: Problem, text: str) -> bool:
        """Leave out what a problem of the new file, whose text is given, is about; return whether that is found."""
        place = problem.place
        new = yaml_tree(SourceText(self.path, text), Problems())
        path = path_at(new, place.line, place.column) if new is not None and place is not None else None
        if path is None:
            return False
        own = self._origin(path)
        if own[0] == "unit_tests":
            own = own[:2]  # what is left of a unit test would test something else
        elif (test := _data_test(own)) is not None and not (own[-2] == "config" and "unknown key" in problem.message):
            own = test
        elif own[-1] == "name" and isinstance(own[-2], int):
            own = own[:-1]  # a model, table or column is what it is by its name
        while len(own) > 1 and own in self.left_out:
            own = own[:-1]
        if own in self.left_out:
            return False
        place = self.tree.key_place(own)
        self.left_out[own] = Todo("left-out", problem.message, place, problem.hint, in_file(self.path))
        return True

    def _origin(self, path: KeyPath) -> KeyPath:
        """The path in dbt's file of a path in the new one."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._origins:
                return (*self._origins[path[:length]], *path[length:])
        return path

    def _file(self) -> dict[str, Any]:
        content: dict[str, Any] = {}
        for key, value in self.tree.data.items() if isinstance(self.tree.data, Mapping) else ():
            if key in _NOT_READ:
                self._todo((key,), f"`{key}` is left out", _NOT_READ[key], "left-out")
            elif key == "version":
                content[key] = 2  # dbt takes any
            elif (key,) not in self.left_out:
                into = "models" if key == "snapshots" else key
                before = content.get(into) or []
                content[into] = value if not isinstance(value, list) else before
                if isinstance(value, list):
                    content[into] = [*before, *self._entries(key, value, (into,), len(before))]
        return {key: value for key, value in content.items() if value != [] or self.tree.data.get(key) == []}

    def _entries(self, key: str, entries: Sequence[Any], into: KeyPath, before: int) -> list[Any]:
        included: list[Any] = []
        for index, entry in enumerate(entries):
            name = str(entry.get("name")) if isinstance(entry, Mapping) else ""
            own: KeyPath = (key, index)
            is_left_out = key in ("models", "snapshots") and self.sources(name) is not None
            if own in self.left_out or is_left_out:
                continue
            new = (*into, before + len(included))
            self._origins[new] = own
            included.append(self._entry(key, entry, own, new) if isinstance(entry, Mapping) else entry)
        return included

    def _entry(self, kind: str, entry: Mapping[str, Any], own: KeyPath, new: KeyPath) -> dict[str, Any]:
        content: dict[str, Any] = {}
        entry = self._without_ddl(entry) if kind in ("models", "snapshots") else entry
        for key, value in entry.items():
            path: KeyPath = (*own, key)
            if path in self.left_out or (kind == "snapshots" and key in _OF_SNAPSHOTS):
                continue
            if key == "config" and isinstance(value, Mapping) and kind in ("models", "seeds"):
                if config := self._config(value, path):
                    content[key] = config
            elif key == "depends_on" and kind == "exposures" and isinstance(value, list):
                content[key] = [self._dependency(str(ref)) for ref in value]
            else:
                content[key] = self._without_left_out(value, path, (*new, key))
        return content

    def _without_ddl(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """An entry without what dbt creates no table with: it documents columns, and not all of them."""
        described = self.described(str(entry.get("name")))
        if described == "enforced":
            return entry
        dropped = {"constraints"} if described in ("types", "query") else {"constraints", "data_type"}
        columns, typed = entry.get("columns"), self._typed_column(entry)
        content = {key: value for key, value in entry.items() if key != "constraints"}
        if described == "query":
            content.pop("contract", None)
            if isinstance(config := content.get("config"), Mapping) and "contract" in config:
                content["config"] = {key: value for key, value in config.items() if key != "contract"}
        if isinstance(columns, list):
            content["columns"] = [
                {
                    key: value
                    for key, value in column.items()
                    if key not in dropped or (key == "data_type" and column is typed)
                }
                if isinstance(column, Mapping)
                else column
                for column in columns
            ]
        return content

    def _without_left_out(self, value: Any, own: KeyPath, new: KeyPath) -> Any:
        """A value without what is left out of it. Where items of a list are, the others move."""
        self._origins[new] = own
        if isinstance(value, Mapping):
            content: dict[str, Any] = {}
            for key, item in value.items():
                if (*own, key) in self.left_out:
                    continue
                if key == "external" and isinstance(item, Mapping):
                    content |= self._external(item, (*own, key))
                else:
                    content[key] = self._without_left_out(item, (*own, key), (*new, key))
            return content
        if isinstance(value, list):
            items: list[Any] = []
            for index, item in enumerate(value):
                if (*own, index) not in self.left_out:
                    items.append(self._without_left_out(item, (*own, index), (*new, len(items))))
            return items
        return value

    def _config(self, config: Mapping[str, Any], own: KeyPath) -> dict[str, Any]:
        settings = {
            str(key): self.rendered(value, self.tree, (*own, key))
            if dbt_key(str(key)) in _RENDERED
            else Value.of(value)
            for key, value in config.items()
            if (*own, key) not in self.left_out
        }
        translation = translate_config(settings)
        for todo in translation.todos:
            self._todo((*own, todo.key), todo.message, todo.hint)
        return {key: value.value for key, value in translation.values.items()}

    def _external(self, value: Mapping[str, Any], own: KeyPath) -> dict[str, Any]:
        """What dbt-external-tables has of the files of a source."""
        location, using = value.get("location"), value.get("using")
        if not isinstance(location, str) or not isinstance(using, str) or "{{" in location:
            self._todo(own, "`external` is left out", "write `path`, `format` and `options` of the table")
            return {}
        options = value.get("options")
        table: dict[str, Any] = {"path": location, "format": using.lower()}
        return {**table, "options": dict(options)} if isinstance(options, Mapping) else table

    def _dependency(self, text: str) -> str:
        return with_sources(text, self.sources)

    def _todo(self, path: KeyPath, message: str, hint: str | None, kind: Any = "decide") -> None:
        self.todos.append(Todo(kind, message, self.tree.key_place(path), hint, in_file(self.path)))


def _data_test(path: KeyPath) -> KeyPath | None:
    """The path of the data test that a path is in: what is left of a test would test something else."""
    lists = [at for at, step in enumerate(path) if step in ("data_tests", "tests") and len(path) > at + 1]
    return path[: lists[0] + 2] if lists else None


def path_at(tree: YamlTree, line: int, column: int) -> KeyPath | None:
    """Return the longest path of a tree whose key or value begins at a place; None where there is none."""
    candidates = [
        path
        for path in _paths(tree.data, ())
        if path
        and any((place.line, place.column) == (line, column) for place in (tree.place(path), tree.key_place(path)))
    ]
    return max(candidates, key=len, default=None)


def _paths(value: Any, at: KeyPath) -> Iterable[KeyPath]:
    yield at
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield from _paths(item, (*at, key))
