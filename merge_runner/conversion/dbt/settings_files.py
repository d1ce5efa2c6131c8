"""pyproject.toml and profiles.yml of an imported project, out of dbt_project.yml and the profile."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any, get_args

import yaml

from merge_runner.conversion.dbt.config_call import Value
from merge_runner.conversion.dbt.config_keys import INCREMENTAL_KEYS, dbt_key, translate_config
from merge_runner.conversion.dbt.known_values import LATE, holds_jinja
from merge_runner.conversion.dbt.project import DbtFolder, is_folder, project_vars
from merge_runner.conversion.dbt.todo import Kind, Todo, in_file
from merge_runner.plan.load.run_hooks import MOMENTS
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.project.schema.config import as_list
from merge_runner.project.schema.config_layers import config_key
from merge_runner.project.schema.dbt_keys import SETTINGS as HINTS
from merge_runner.project.schema.profile import Adapter
from merge_runner.project.syntax.places import KeyPath

BASELINE = "lint-baseline.json"
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_USUAL = {
    "model-paths": ["models"],
    "macro-paths": ["macros"],
    "seed-paths": ["seeds"],
    "test-paths": ["tests"],
    "analysis-paths": ["analyses"],
}
_READ = frozenset({"name", "profile", "version", "config-version", "vars", "models", "seeds", "snapshots"}).union(
    _USUAL, MOMENTS
)
_WITHOUT_EFFECT = frozenset(
    {
        *("clean-targets", "target-path", "log-path", "query-comment", "quoting", "require-dbt-version", "flags"),
        *("asset-paths", "docs-paths", "snapshot-paths", "packages-install-path"),
    }
)


@dataclass(frozen=True)
class SettingsFile:
    """The lines of pyproject.toml, and of each where dbt_project.yml has what it says; None for what is in no file."""

    lines: Sequence[str]
    origins: Sequence[KeyPath | None]

    @property
    def text(self) -> str:
        """The text of the file."""
        return "\n".join(self.lines) + "\n"


class SettingsWriter:
    """Makes pyproject.toml. `todos` gets what is left to decide; what is at paths in `left_out` is skipped."""

    def __init__(self, project: DbtFolder, name: str, todos: list[Todo], left_out: Collection[KeyPath]) -> None:
        self.project = project
        self.name = name
        self.todos = todos
        self.left_out = left_out
        self._lines: list[tuple[str, KeyPath | None]] = []

    def file(self, files: Collection[str], *, has_findings: bool) -> SettingsFile:
        """Return the file. `files` are the paths of the new project: of folders those with one count.

        `has_findings`: there is a baseline of what lint reports.
        """
        data = self.project.data
        self._add("[tool.merge-runner]", f"name = {toml(self.name)}")
        profile = self.project.connection.profile or data.get("profile")
        if isinstance(profile, str) and profile != self.name and not holds_jinja(profile):
            self._add(f"profile = {toml(profile)}")
        for key, usual in _USUAL.items():
            paths = [
                *self.project.paths[key],
                *(self.project.paths["snapshot-paths"] if key == "model-paths" else ()),
            ]
            paths = [path for path in dict.fromkeys(paths) if any(file.startswith(f"{path}/") for file in files)]
            if paths and paths != usual:
                self._add(f"{key} = {toml(paths)}", origin=(key,))
        self._add_hooks()
        self._add_vars()
        for kind, suffix in (("models", ".sql"), ("seeds", ".csv")):
            self._add_folders(kind, _folders_of(self.project, kind, files, suffix))
        if has_findings:
            self._add("", "[tool.merge-runner.lint]", f"baseline = {toml(BASELINE)}")
        for key in data:
            if key not in _READ | _WITHOUT_EFFECT and data[key]:
                self._todo((key,), f"`{key}` is left out", HINTS.get(str(key)), "left-out")
        return SettingsFile([line for line, _ in self._lines], [origin for _, origin in self._lines])

    def _add(self, *lines: str, origin: KeyPath | None = None) -> None:
        self._lines += [(line, origin) for line in lines]

    def _todo(self, path: KeyPath, message: str, hint: str | None = None, kind: Kind = "decide") -> None:
        at = in_file(PYPROJECT) if kind == "decide" else None
        self.todos.append(Todo(kind, message, self.project.settings.key_place(path), hint, at))

    def _add_hooks(self) -> None:
        """Add the hooks of a run, a line for each."""
        for moment in MOMENTS:
            texts = as_list(self.project.data.get(moment))
            hooks = [
                ((moment, index), text) for index, text in enumerate(texts) if (moment, index) not in self.left_out
            ]
            if hooks:
                self._add(f"{moment} = [")
                for path, text in hooks:
                    self._add(f"    {toml(text)},", origin=path)
                self._add("]")

    def _add_vars(self) -> None:
        vars_ = self.project.data.get("vars")
        own = vars_.get(self.project.name) if isinstance(vars_, Mapping) else None
        header = ["", "[tool.merge-runner.vars]"]
        for key, value in project_vars(self.project.data, self.project.name).items():
            path = ("vars", self.project.name, key) if isinstance(own, Mapping) and key in own else ("vars", key)
            if path in self.left_out:
                continue
            if _holds_null(value):
                message = f"the var `{key}` is null, which TOML has not"
                self._todo(path, message, f"read it by `var('{key}', none)`, or give it a value")
            else:
                self._add(*header)
                self._add(f"{_key(str(key))} = {toml(value)}", origin=path)
                header = []

    def _add_folders(self, kind: str, folders: Collection[tuple[str, ...]]) -> None:
        """Add the config of the `folders` of models or seeds; that of others is left out."""
        configs = self.project.data.get(kind)
        tree = configs if isinstance(configs, Mapping) else {}
        own = tree.get(self.project.name)
        own = own if isinstance(own, Mapping) else {}
        for key, value in tree.items():
            if key != self.project.name and is_folder(key, value):
                message = f"the config of `{key}` is left out: its {kind} are not imported"
                self._todo((kind, key), message, None, "left-out")
        of_all = {key: value for key, value in tree.items() if not is_folder(key, value)}

        def path_of(key: str) -> KeyPath:
            return (kind, self.project.name, key) if key in own else (kind, key)

        self._add_folder({**of_all, **own}, path_of, (kind,), folders)

    def _add_folder(
        self,
        data: Mapping[str, Any],
        path_of: Callable[[str], KeyPath],
        folder: tuple[str, ...],
        folders: Collection[tuple[str, ...]],
    ) -> None:
        """Add the table of one folder, and of those in it. `path_of` gives where a key is in dbt_project.yml."""
        values = {}
        for key, value in data.items():
            path = path_of(key)
            if is_folder(key, value) or path in self.left_out or _holds_null(value):
                continue
            is_late = dbt_key(key) in LATE
            setting = Value.of(value) if is_late else self.project.rendering.of_yaml(value, self.project.settings, path)
            if not setting.is_known:
                hint = "write it in config()"
                self._todo(path, f"`{key}: {value}` is left out: pyproject.toml has no Jinja", hint)
                continue
            if setting.written is not None and dbt_key(key) not in INCREMENTAL_KEYS:
                message = f"`{key}: {setting.written}` is {setting.value!r} here, as it renders now"
                self._todo(path, message, "where that differs by target, write it in config()")
            values[key] = setting
        translation = translate_config(values)
        for todo in translation.todos:
            self._todo(path_of(todo.key), todo.message, todo.hint)
        if translation.values:
            self._add("", f"[{'.'.join(map(_key, ('tool', 'merge-runner', *folder)))}]")
            origins = {config_key(key): path_of(key) for key in values}
            for key, value in translation.values.items():
                self._add(f"{_key(key)} = {toml(value.value)}", origin=origins.get(key, path_of(next(iter(values)))))
        for key, value in data.items():
            if not is_folder(key, value):
                continue
            if (*folder[1:], key) in folders:
                self._add_folder(value, partial(_below, path_of(key)), (*folder, key), folders)
            else:
                message = f"the config of `{'/'.join((*folder[1:], key))}` is left out: nothing of it is imported"
                self._todo(path_of(key), message, None, "left-out")


def _folders_of(project: DbtFolder, kind: str, files: Collection[str], suffix: str) -> frozenset[tuple[str, ...]]:
    """The folders of the models or seeds of the new project, and these themselves, below the folder of their kind."""
    tops = project.paths["seed-paths"] if kind == "seeds" else ()
    tops = tops or (*project.paths["model-paths"], *project.paths["snapshot-paths"])
    folders: set[tuple[str, ...]] = set()
    for file in files:
        top = next((folder for folder in tops if file.startswith(f"{folder}/") and file.endswith(suffix)), None)
        if top is not None:
            parts = PurePosixPath(file.removeprefix(f"{top}/")).with_suffix("").parts
            folders |= {parts[:length] for length in range(1, len(parts) + 1)}
    return frozenset(folders)


def profiles(project: DbtFolder, name: str, schema: str, *, has_iceberg: bool) -> str:
    """Return the text of profiles.yml: a Spark on this machine, with the names that dbt's profile has."""
    connection = project.connection
    profile = connection.profile or project.data.get("profile")
    output: dict[str, Any] = {"master": "local[*]", "schema": schema, "warehouse": "warehouse"}
    if connection.adapter in get_args(Adapter) and connection.adapter != "spark":
        output["type"] = connection.adapter
    if has_iceberg:
        output["catalogs"] = {"ice": {"type": "embedded"}}
    target = connection.target or "local"
    profile_name = profile if isinstance(profile, str) and not holds_jinja(profile) else name
    outputs = {profile_name: {"target": target, "outputs": {target: output}}}
    return yaml.safe_dump(outputs, sort_keys=False, allow_unicode=True)


def _below(path: KeyPath, key: str) -> KeyPath:
    return (*path, key)


def toml(value: Any) -> str:
    """Return a plain value as TOML, in one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(key))} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(str(value), ensure_ascii=False)


def _key(name: str) -> str:
    return name if _BARE.match(name) else json.dumps(name, ensure_ascii=False)


def _holds_null(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(_holds_null, value)))
