"""What a dbt project may hold that merge-runner does not read: named once, with what to use instead."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problems
from merge_runner.project.load.scan import scan
from merge_runner.project_file import Boundary, read_file
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.project.schema.settings import Settings
    from merge_runner.project.syntax.yaml_tree import YamlTree


@dataclass(frozen=True)
class UnreadPart:
    """A file, a folder, a key or a variable that is not read. `names` are those of the nodes that dbt would make."""

    place: Place
    message: str
    hint: str
    code: str
    names: frozenset[str] = frozenset()

    @property
    def where(self) -> str:
        """The file, or the place in it of a variable that is withheld."""
        return self.place.path if self.code == "not-read" else str(self.place)


DBT_PROJECT = "dbt_project.yml"
FILES = {
    DBT_PROJECT: ("it is not read", "settings are in [tool.merge-runner] of pyproject.toml: vars, models, seeds"),
}
_HISTORY = "write the history as a MERGE model (SCD2)"
FOLDERS = {
    "snapshots": ("snapshot is not run", "snapshots are not run", _HISTORY),
    "analysis": (
        "analysis is not compiled",
        "analyses are not compiled",
        'write analysis-paths = ["analysis"] in [tool.merge-runner], or name the folder analyses',
    ),
    "functions": ("function is not created", "functions are not created", "write CREATE FUNCTION in a `pre_hook`"),
}
_PYTHON = "write the model in SQL, or build its table elsewhere and declare it as a source"
_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+(\w+)")
_PYTHON_MODEL = re.compile(r"^def\s+model\s*\(", re.MULTILINE)

_NO_METRICS = "there is no semantic layer"
KEYS: Mapping[str, tuple[str, str, str]] = {
    "metrics": ("metric is", "metrics are", _NO_METRICS),
    "semantic_models": ("semantic model is", "semantic models are", _NO_METRICS),
    "saved_queries": ("saved query is", "saved queries are", _NO_METRICS),
    "snapshots": ("snapshot is", "snapshots are", _HISTORY),
    "functions": ("function is", "functions are", "write CREATE FUNCTION in a `pre_hook`"),
}
"""Keys of dbt's property files that are left out, the words for one entry and for several, and what to do instead."""


def files_not_read(root: str, settings: Settings, python: Iterable[str]) -> Iterator[UnreadPart]:
    """Yield what dbt reads of a project and merge-runner does not.

    `python` are the Python files in the model paths; they count where they hold a model of dbt.
    """
    for name, (message, hint) in FILES.items():
        if os.path.lexists(os.path.join(root, name)):  # noqa: PTH118 -- Path objects are slow
            yield UnreadPart(Place(name, 1, 1), message, hint, "not-read")
    own = settings.own_paths
    for folder, (singular, plural, hint) in FOLDERS.items():
        if any(path == "." or path.partition("/")[0] == folder for path in own):
            continue
        files = [
            scanned.join(name)
            for scanned in scan(root, folder, Problems())
            for name in scanned.files
            if name.endswith((".sql", ".py"))
        ]
        if files:
            names = frozenset(_snapshots(root, files)) if folder == "snapshots" else frozenset()
            yield UnreadPart(Place(folder, 1, 1), _count(len(files), singular, plural), hint, "not-read", names)
    models = [path for path in python if _PYTHON_MODEL.search(_text(root, path))]
    if models:
        names = frozenset(Path(path).stem for path in models)
        message = _count(len(models), "Python model is not run", "Python models are not run")
        yield UnreadPart(Place(models[0], 1, 1), message, _PYTHON, "not-read", names)


def has_key_not_read(tree: YamlTree) -> bool:
    """Return whether a property file has a key that is left out."""
    return isinstance(tree.data, Mapping) and not KEYS.keys().isdisjoint(tree.data)


def keys_not_read(trees: Iterable[YamlTree]) -> Iterator[UnreadPart]:
    """Yield what property files declare under keys that are left out: one for each key, at its first place."""
    entries_of: dict[str, list[tuple[YamlTree, Any]]] = {}
    for tree in trees:
        for key in KEYS.keys() & tree.data.keys() if isinstance(tree.data, Mapping) else ():
            if isinstance(tree.data[key], list) and tree.data[key]:
                entries_of.setdefault(key, []).append((tree, tree.data[key]))
    for key, (singular, plural, hint) in KEYS.items():
        if key in entries_of:
            entries = [entry for _, key_entries in entries_of[key] for entry in key_entries]
            entry_names = (entry.get("name") for entry in entries if isinstance(entry, Mapping))
            names = frozenset(str(name) for name in entry_names if name) if key == "snapshots" else frozenset()
            message = _count(len(entries), f"{singular} not read", f"{plural} not read")
            yield UnreadPart(entries_of[key][0][0].key_place((key,)), message, hint, "not-read", names)


def _snapshots(root: str, files: Iterable[str]) -> Iterator[str]:
    for path in files:
        yield from _SNAPSHOT.findall(_text(root, path)) or [Path(path).stem]


def _text(root: str, path: str) -> str:
    try:
        return read_file(f"{root}/{path}", Boundary(root)).decode("utf-8", "replace")
    except OSError:
        return ""


def _count(number: int, singular: str, plural: str) -> str:
    return f"1 {singular}" if number == 1 else f"{number} {plural}"
