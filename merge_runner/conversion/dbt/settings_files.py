"""pyproject.toml and profiles.yml of an imported project, out of dbt_project.yml and the profile."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import yaml

from merge_runner.conversion.dbt.config_call import Value
from merge_runner.conversion.dbt.config_keys import dbt_key, translated
from merge_runner.conversion.dbt.project import DbtFolder
from merge_runner.conversion.dbt.todo import Todo, in_file
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.project.schema.config import TABLE_KEYS
from merge_runner.project.schema.dbt_keys import SETTINGS as HINTS
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
_READ = frozenset({"name", "profile", "version", "config-version", "vars", "models", "seeds", "snapshots", *_USUAL})
_WITHOUT_EFFECT = frozenset(
    {
        *("clean-targets", "target-path", "log-path", "query-comment", "quoting", "require-dbt-version", "flags"),
        *("asset-paths", "docs-paths", "snapshot-paths", "packages-install-path"),
    }
)


def pyproject(project: DbtFolder, name: str, files: Collection[str], todos: list[Todo], *, has_findings: bool) -> str:
    """Return the text of pyproject.toml. `files` are the paths of the new project: of folders those with one count.

    `has_findings`: there is a baseline of what lint reports.
    """
    data = project.data
    lines = ["[tool.merge-runner]", f"name = {toml(name)}"]
    if isinstance(profile := data.get("profile"), str) and profile != name:
        lines.append(f"profile = {toml(profile)}")
    for key, usual in _USUAL.items():
        paths = [*project.paths[key], *(project.paths["snapshot-paths"] if key == "model-paths" else ())]
        paths = [path for path in dict.fromkeys(paths) if any(file.startswith(f"{path}/") for file in files)]
        if paths and paths != usual:
            lines.append(f"{key} = {toml(paths)}")
    lines += _vars(project, name, todos)
    for kind in ("models", "seeds"):
        lines += _folders(project, kind, todos)
    if has_findings:
        lines += ["", "[tool.merge-runner.lint]", f"baseline = {toml(BASELINE)}"]
    for key in data:
        if key not in _READ | _WITHOUT_EFFECT and data[key]:
            hint = HINTS.get(str(key))
            todos.append(Todo("left-out", f"`{key}` is left out", project.settings.key_place((key,)), hint))
    return "\n".join(lines) + "\n"


def profiles(project: DbtFolder, name: str, schema: str) -> str:
    """Return the text of profiles.yml: a Spark on this machine, and the schema of dbt's profile."""
    profile = project.data.get("profile")
    output = {"master": "local[*]", "schema": schema, "warehouse": "warehouse"}
    outputs = {profile if isinstance(profile, str) else name: {"target": "local", "outputs": {"local": output}}}
    return yaml.safe_dump(outputs, sort_keys=False, allow_unicode=True)


def _vars(project: DbtFolder, name: str, todos: list[Todo]) -> Iterator[str]:
    given = project.data.get("vars")
    values = dict(given) if isinstance(given, Mapping) else {}
    own = values.pop(project.name, None)
    at: dict[str, KeyPath] = {key: ("vars", key) for key in values}
    if isinstance(own, Mapping):
        values |= own
        at |= {key: ("vars", project.name, key) for key in own}
    lines = []
    for key, value in values.items():
        if _holds_null(value):
            message = f"the var `{key}` is null, which TOML has not"
            hint = f"read it by `var('{key}', none)`, or give it a value"
            todos.append(Todo("decide", message, project.settings.key_place(at[key]), hint, in_file(PYPROJECT)))
        else:
            lines.append(f"{_key(str(key))} = {toml(value)}")
    if lines:
        yield from ("", "[tool.merge-runner.vars]", *lines)


def _folders(project: DbtFolder, kind: str, todos: list[Todo]) -> Iterator[str]:
    """The config of the folders of models or seeds; that of other packages is left out."""
    given = project.data.get(kind)
    tree = given if isinstance(given, Mapping) else {}
    own = tree.get(project.name)
    own = own if isinstance(own, Mapping) else {}
    for key, value in tree.items():
        if key != project.name and _is_folder(key, value):
            message = f"the config of `{key}` is left out: its models are not imported"
            todos.append(Todo("left-out", message, project.settings.key_place((kind, key))))
    of_all = {key: value for key, value in tree.items() if not _is_folder(key, value)}
    yield from _folder(
        project,
        {**of_all, **own},
        lambda key: (kind, project.name, key) if key in own else (kind, key),
        (kind,),
        todos,
    )


def _folder(
    project: DbtFolder,
    data: Mapping[str, Any],
    path_of: Callable[[str], KeyPath],
    folder: tuple[str, ...],
    todos: list[Todo],
) -> Iterator[str]:
    """The table of one folder, and of those in it. `path_of` gives where a key is in dbt_project.yml."""
    kept = {}
    for key, value in data.items():
        if isinstance(value, str) and "{{" in value:
            message = f"`{key}: {value}` is left out: pyproject.toml has no Jinja"
            place = project.settings.key_place(path_of(key))
            todos.append(Todo("decide", message, place, "write it in config()", in_file(PYPROJECT)))
        elif not _is_folder(key, value) and not _holds_null(value):
            kept[key] = Value.of(value)
    made = translated(kept)
    for each in made.todos:
        place = project.settings.key_place(path_of(each.key))
        todos.append(Todo("decide", each.message, place, each.hint, in_file(PYPROJECT)))
    if made.values:
        yield from ("", f"[{'.'.join(map(_key, ('tool', 'merge-runner', *folder)))}]")
        yield from (f"{_key(key)} = {toml(value.value)}" for key, value in made.values.items())
    for key, value in data.items():
        if _is_folder(key, value):
            yield from _folder(project, value, partial(_below, path_of(key)), (*folder, key), todos)


def _below(path: KeyPath, key: str) -> KeyPath:
    return (*path, key)


def _is_folder(key: str, value: Any) -> bool:
    return isinstance(value, Mapping) and not key.startswith("+") and dbt_key(key) not in TABLE_KEYS


def toml(value: Any) -> str:
    """Return a plain value as TOML, in one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(key))} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(str(value), ensure_ascii=False)


def _key(name: str) -> str:
    return name if _BARE.match(name) else json.dumps(name, ensure_ascii=False)


def _holds_null(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(_holds_null, value)))
