"""Methods that go by what a node is called and where its file lies: fqn, path, file, source, package."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from merge_runner.graph.graph import ExposureNode, Node, SourceNode
from merge_runner.graph.selection.criterion import Criterion
from merge_runner.graph.selection.methods.lookup import Lookup, bad_value, nothing_selected
from merge_runner.graph.selection.methods.paths import holds_path, is_path


def by_fqn(lookup: Lookup, criterion: Criterion) -> set[str]:
    """A name, or the first parts of a dotted path of folders; never a source."""
    matches = _name_matcher(criterion.value)
    ids = lookup.ids(lambda node: not isinstance(node, SourceNode) and matches(node.fqn))
    if ids:
        return ids
    nodes = lookup.graph.nodes.values()
    for node in nodes:
        if isinstance(node, SourceNode) and criterion.value in (node.name, node.source_name):
            hint = f"a source is selected by source:{node.full_name}"
            lookup.warnings.append(nothing_selected(criterion.text, hint))
            return ids
    for node in lookup.graph.disabled:
        if matches(node.fqn):
            lookup.warnings.append(nothing_selected(criterion.text, f"{node.path} is disabled by its config"))
            return ids
    return lookup.warn_if_empty(criterion, ids, {node.name for node in nodes if not isinstance(node, SourceNode)})


def _name_matcher(value: str) -> Callable[[tuple[str, ...]], bool]:
    """Does an fqn match as a name, or as the leading parts of the dotted path, with or without the project?

    From the first part with a wildcard on, the rest of the path is matched as a whole. Unlike in dbt, a pattern may
    also match the name alone: `stg_*` finds models in any folder.
    """
    parts = value.split(".")
    plain = next((index for index, part in enumerate(parts) if any(char in part for char in "*?[")), len(parts))
    name_pattern = ".".join(parts[plain:])

    def leading(path: list[str]) -> bool:
        if len(path) < len(parts) or path[:plain] != parts[:plain]:
            return False
        return not name_pattern or fnmatchcase(".".join(path[plain:]), name_pattern)

    def matches(fqn: tuple[str, ...]) -> bool:
        if fqn[-1] == value or (plain == 0 and fnmatchcase(fqn[-1], value)):
            return True
        # A dot inside a name separates like the dots between names.
        return leading(".".join(fqn).split(".")) or leading(".".join(fqn[1:]).split("."))

    return matches


def by_path(lookup: Lookup, criterion: Criterion) -> set[str]:
    """A file, all files of a folder, or the nodes that a YAML file describes."""
    root = lookup.context.root.as_posix()
    path = PurePosixPath(criterion.value.replace("\\", "/"))
    if path.is_relative_to(root):
        path = path.relative_to(root)

    def matches(node: Node) -> bool:
        described = node.patch_path is not None and is_path(path, PurePosixPath(node.patch_path))
        return described or holds_path(path, PurePosixPath(node.path))

    files = {PurePosixPath(node.path) for node in lookup.graph.nodes.values()}
    folders = {folder for file in files for folder in file.parents if folder.name}
    return lookup.warn_if_empty(criterion, lookup.ids(matches), {path.as_posix() for path in files | folders})


def by_file(lookup: Lookup, criterion: Criterion) -> set[str]:
    """A file name, with or without its ending."""

    def matches(node: Node) -> bool:
        file = PurePosixPath(node.path)
        return fnmatchcase(file.name, criterion.value) or fnmatchcase(file.stem, criterion.value)

    names = {PurePosixPath(node.path).name for node in lookup.graph.nodes.values()}
    return lookup.warn_if_empty(criterion, lookup.ids(matches), names)


def by_source(lookup: Lookup, criterion: Criterion) -> set[str]:
    """The tables of a source, or one of them."""
    parts = criterion.value.split(".")
    if len(parts) > 3:
        hint = "write source:name, source:name.table or source:project.name.table"
        raise bad_value(criterion, f'"{criterion.value}" names no source', hint)
    project, source, table = {1: ["*", *parts, "*"], 2: ["*", *parts], 3: parts}[len(parts)]

    def matches(node: Node) -> bool:
        return (
            isinstance(node, SourceNode)
            and fnmatchcase(lookup.graph.project, project)
            and fnmatchcase(node.source_name or "", source)
            and fnmatchcase(node.name, table)
        )

    tables = [node for node in lookup.graph.nodes.values() if isinstance(node, SourceNode)]
    candidates = {node.source_name for node in tables} | {node.full_name for node in tables}
    return lookup.warn_if_empty(criterion, lookup.ids(matches), candidates)


def by_exposure(lookup: Lookup, criterion: Criterion) -> set[str]:
    """An exposure, by its name."""
    names = {node.unique_id: node.name for node in lookup.graph.nodes.values() if isinstance(node, ExposureNode)}
    ids = {unique_id for unique_id, name in names.items() if fnmatchcase(name, criterion.value)}
    return lookup.warn_if_empty(criterion, ids, names.values())


def by_package(lookup: Lookup, criterion: Criterion) -> set[str]:
    """Everything in the project of that name; `this` is the project itself."""
    project = lookup.graph.project
    ids = set(lookup.graph.nodes) if criterion.value == "this" or fnmatchcase(project, criterion.value) else set()
    return lookup.warn_if_empty(criterion, ids, [project])
