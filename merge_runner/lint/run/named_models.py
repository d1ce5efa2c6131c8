"""What paths given to lint mean: which models of a project, which plain files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.graph.graph import Graph, ModelNode, RefNode, SeedNode, SourceNode, nodes_of
from merge_runner.graph.selection.state import macros_affected
from merge_runner.lint.run.hook_files import has_merges, hooks_of
from merge_runner.lint.run.plain_file import holds_no_sql
from merge_runner.lint.run.roots import root_of, within
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.project.schema.profile import FILE as PROFILES

if TYPE_CHECKING:
    from merge_runner.plan.load.project_context import Prepared

_FOR_ALL = (PYPROJECT, PROFILES, "catalog.yml")
"""Files that every model depends on."""
_READ_THROUGH = ("view", "ephemeral")


@dataclass(frozen=True)
class PathSelection:
    """What paths name in a project: models, and seeds with hooks, by id, and plain files."""

    models: frozenset[str]
    plain: tuple[Path, ...]
    foreign: tuple[Path, ...]
    """Paths in other projects."""
    whole: bool
    """Whether these are all that there are."""
    unnamed: frozenset[str]
    """Files of models that the paths do not mean; those that cannot be read as Jinja are in no other list."""


def select_paths(prepared: Prepared, root: Path, paths: Iterable[Path]) -> PathSelection:
    """What the paths mean in the project at `root`.

    A model means itself, a folder the models in it. Any other file of the project means the models that depend on it,
    so that a hook can be given whatever has changed: a property file those that it describes and that read what it
    describes, a macro file those that call it, a seed those that read it; settings, profiles and the recorded catalog
    all of them, a test none. What remains are plain files, and files that hold no SQL, which mean nothing.
    """
    reader = _Reader(prepared)
    models: set[str] = set()
    files: set[str] = set()
    has_shared_files = False
    plain: list[Path] = []
    foreign: list[Path] = []
    for path in paths:
        inner = within(root, path)
        if inner is None:
            (plain if root_of(path) is None else foreign).append(path)
        elif path.is_dir() and not reader.owns(inner):
            plain.append(path)
        elif path.is_dir():
            files.add(inner)
            models |= reader.in_folder(inner)
        elif (of_file := reader.of_file(inner)) is not None:
            files.add(inner)
            has_shared_files = has_shared_files or inner not in reader.files
            models |= of_file
        else:
            plain.append(path)
    # What a macro or a property file is about may be a model whose Jinja cannot be read: none of them is left out then.
    unnamed = (
        set() if has_shared_files else {file for file in reader.files if not any(_inside(file, name) for name in files)}
    )
    whole = models == reader.linted.keys()
    return PathSelection(frozenset(models), tuple(plain), tuple(foreign), whole, frozenset(unnamed))


def _inside(file: str, folder: str) -> bool:
    return folder in (".", file) or file.startswith(f"{folder}/")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


class _Reader:
    """Finds the models that files of a project mean."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._graph: Graph = prepared.graph
        self.files = prepared.model_names.keys()
        self.models = {node.unique_id: node for node in nodes_of(self._graph.nodes, ModelNode)}
        seeds = {node.unique_id: node for node in nodes_of(self._graph.nodes, SeedNode) if has_merges(node)}
        self.linted = {**seeds, **self.models}
        """The models, and the seeds whose hooks may hold MERGEs."""

    def owns(self, folder: str) -> bool:
        """Whether the settings name the folder, one in it or one above it."""
        settings = self._prepared.files.settings
        own = (*settings.model_paths, *settings.macro_paths, *settings.test_paths, *settings.seed_paths)
        return any(_inside(path.rstrip("/"), folder) or _inside(folder, path.rstrip("/")) for path in own)

    def in_folder(self, folder: str) -> set[str]:
        """The models and seeds in a folder."""
        return {key for key, node in self.linted.items() if _inside(node.path, folder)}

    def of_file(self, file: str) -> set[str] | None:
        """The models that depend on a file; None where it is none of the project's and may hold SQL."""
        files = self._prepared.files
        if file in self.files:
            return {key for key, node in self.models.items() if node.path == file}
        if file in _FOR_ALL or file == files.settings.lint.baseline:
            return set(self.linted)
        if any(macro.path == file for macro in files.macros):
            return self._find_callers(file)

        if holds_no_sql(file):
            return self._find_described(file)
        own = (*files.singular_tests, *files.fixtures.values())
        return set() if any(source.path == file for source in own) else None

    def _find_callers(self, file: str) -> set[str]:
        """The models that call a macro of the file, or a macro that does, and those that read views which do.

        Seeds, too. The graph has no macros of their hooks: those that have the name of the macro in them are meant.
        """
        graph = self._graph
        macros = macros_affected(graph, (key for key, macro in graph.macros.items() if macro.path == file))
        models = nodes_of(graph.nodes, ModelNode)
        calling = {node.unique_id for node in models if not macros.isdisjoint(node.macros)}
        views = [key for key in calling if self.models[key].materialized in _READ_THROUGH]
        seeds = self._in_hooks(macro.name for macro in graph.macros.values() if macro.path == file)
        return calling | seeds | readers(graph, views)

    def _in_hooks(self, macros: Iterable[str]) -> set[str]:
        """The seeds whose hooks name one of these macros, or one that names it."""
        names, count = set(macros), -1
        texts = {macro.name: _words(macro.sql) for macro in self._graph.macros.values()}
        while len(names) != count:
            count = len(names)
            names |= {name for name, words in texts.items() if not words.isdisjoint(names)}

        seeds = nodes_of(self._graph.nodes, SeedNode)
        return {seed.unique_id for seed in seeds if any(_words(hook.text) & names for hook in hooks_of(seed))}

    def _find_described(self, file: str) -> set[str]:
        """The models and seeds that a property or data file is about, and those that read what it is about."""
        nodes = (*nodes_of(self._graph.nodes, RefNode), *nodes_of(self._graph.nodes, SourceNode))
        about = {node.unique_id for node in nodes if file in (node.path, node.patch_path)}
        return (about & self.linted.keys()) | readers(self._graph, about)


def readers(graph: Graph, ids: Iterable[str]) -> set[str]:
    """The models that read models, seeds or sources, directly or through views."""
    waiting = [key for key in ids if isinstance(graph.nodes[key], RefNode | SourceNode)]
    models: set[str] = set()
    while waiting:
        for child in graph.dag.succ[waiting.pop()]:
            node = graph.nodes[child]
            if isinstance(node, ModelNode) and child not in models:
                models.add(child)
                if node.materialized in _READ_THROUGH:
                    waiting.append(child)
    return models
