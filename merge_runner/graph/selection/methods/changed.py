"""Methods that go by what has changed and how it went: state, result, git.

That nothing has changed, or that nothing failed, is an ordinary answer, so none of them warns of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

from merge_runner.errors import Problem
from merge_runner.graph.graph import SourceNode
from merge_runner.graph.selection.criterion import Criterion
from merge_runner.graph.selection.methods.lookup import Lookup, allowed_value
from merge_runner.graph.selection.methods.paths import holds_path
from merge_runner.graph.selection.state import Change, macros_affected


def by_state(lookup: Lookup, criterion: Criterion) -> set[str]:
    """Nodes by how they differ from the earlier manifest, or by what their inputs and tables are now."""
    state = allowed_value(criterion, (*_STATES, *_OF_TABLES))
    if state in _OF_TABLES:
        return set(lookup.state_of_tables(state))
    return {unique_id for unique_id, node_changes in lookup.changes.items() if _STATES[state](node_changes)}


_OF_TABLES = ("inputs", "older-rows")
"""Whether the inputs have changed since the last run; whether an older text has made rows of the table."""
_STATES: dict[str, Callable[[frozenset[Change]], bool]] = {
    "new": lambda changes: "new" in changes,
    "old": lambda changes: "new" not in changes,
    "modified": bool,
    "unmodified": lambda changes: not changes,
    "modified.body": lambda changes: bool(changes & {"new", "body"}),
    "modified.configs": lambda changes: bool(changes & {"new", "configs"}),
    "modified.relation": lambda changes: bool(changes & {"new", "relation"}),
    "modified.contract": lambda changes: bool(changes & {"new", "contract"}),
    "modified.macros": lambda changes: "macros" in changes,
}

_STATUSES = ("success", "error", "fail", "warn", "skipped", "pass", "no-op", "partial_success")
"""As they are written: a blank separates criteria on the command line, so a status has `_` for its blank."""


def by_result(lookup: Lookup, criterion: Criterion) -> set[str]:
    """Nodes by their status in the earlier run."""
    status = allowed_value(criterion, _STATUSES).replace("_", " ")
    return lookup.ids(lambda node: lookup.results.get(node.unique_id) == status)


def by_git(lookup: Lookup, criterion: Criterion) -> set[str]:
    """Nodes whose files, macros or project files have changed since a commit."""
    graph, files = lookup.graph, lookup.changed_files(criterion.value)
    if not files.isdisjoint(lookup.context.project_files):
        return set(graph.nodes)
    macros = macros_affected(graph, (key for key, macro in graph.macros.items() if macro.path in files))
    paths = [PurePosixPath(file) for file in files]
    _warn_of_deleted_properties(lookup, criterion, files)
    return lookup.ids(
        lambda node: (
            node.path in files
            or node.patch_path in files
            or (isinstance(node, SourceNode) and _holds_any(node.files, paths))
            or not macros.isdisjoint(node.macros)
        )
    )


def _holds_any(places: Iterable[str], paths: Sequence[PurePosixPath]) -> bool:
    return any(holds_path(PurePosixPath(place), path) for place in places for path in paths)


def _warn_of_deleted_properties(lookup: Lookup, criterion: Criterion, files: frozenset[str]) -> None:
    """A YAML file that is gone no longer says which nodes it described."""
    top_folders = {node.path.partition("/")[0] for node in lookup.graph.nodes.values()}
    deleted = [
        file
        for file in sorted(files)
        if file.endswith((".yml", ".yaml"))
        and file.partition("/")[0] in top_folders
        and not (lookup.context.root / file).exists()
    ]
    if deleted:
        message = f'"{criterion.text}" cannot determine which nodes these deleted files described: {", ".join(deleted)}'
        hint = "state:modified with an earlier manifest can"
        lookup.warnings.append(Problem("deleted-properties", message, hint=hint))
