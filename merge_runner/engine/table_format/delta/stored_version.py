"""The commits to a Delta table that may have changed rows or columns, and the partitions that were changed.

Read from its log without an engine.

A commit of Delta is a file of JSON lines that is put into place whole, and whose `commitInfo` has a `txnId` of its own
(Delta 4.4.0).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from merge_runner.engine.table_format.stored_version import ChangedFile, ChangedFiles, Partition, StoredVersion
from merge_runner.lazy_dataclass import dataclass
from merge_runner.object_path import StoredPath
from merge_runner.pruning.runtime_filter.bound_literal import text_literal
from merge_runner.relation import quote

_MOVES_FILES = frozenset({"OPTIMIZE", "VACUUM START", "VACUUM END"})
"""Operations after which the table has the same rows, where no action of the commit says otherwise."""
_CHANGED_ROWS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
"""The metrics of a MERGE: where all are 0, it has copied rows at most."""
_MAPPING = "delta.columnMapping.mode"
_WIDENED = "delta.typeChanges"
"""In the schema of a table with files in which a column has another type (Delta's protocol, "Type Widening")."""


def stored_versions(folder: StoredPath) -> Iterator[StoredVersion]:
    """Yield the commits of the table in a folder, newest first, of which the log has the files."""
    try:
        for version, _ in _changes(folder):
            yield version
    except (OSError, ValueError, TypeError, AttributeError):
        return  # cleaned up meanwhile, or no log of Delta's: nothing is known of it


def changed_partitions(folder: StoredPath, since: str) -> frozenset[Partition] | str:
    """Return the partitions with files that were added or removed since a commit; a text says why they are not known.

    `since` is the identity of the commit.
    """
    found: set[Partition] = set()
    try:
        for version, actions in _changes(folder):
            if version.identity == since:
                return frozenset(found)
            for action in actions:
                if "metaData" in action or "protocol" in action:
                    return "its columns or properties have changed"
                file = action.get("add") or action.get("remove")
                if file is None:
                    continue
                if not file.get("partitionValues"):
                    return "it is not partitioned, or a commit does not name the partition of a file"
                found.add(_partition(file["partitionValues"]))
    except (OSError, ValueError, TypeError, AttributeError):
        pass
    return "its log does not have the version that was read before"


def changed_files(folder: StoredPath, since: str, until: str) -> ChangedFiles | str:
    """Return what was changed between two commits, given by their identities; a text says why it is not known."""
    moves: list[_Move] = []
    after = None
    try:
        for version, actions in _changes(folder):
            if version.identity == since and after is not None:
                return _between(folder, version.version, after, moves)
            if version.identity == until:
                after = version.version
            moves += _moves(actions) if after is not None else ()
    except (OSError, ValueError, TypeError, AttributeError):
        pass
    return "its log does not have the versions that were read"


def added_without_nulls(folder: StoredPath, version: int, columns: Collection[str]) -> bool:
    """Return whether the files that a commit has added show that none of these columns is NULL in a row of them.

    That is by their partition values and statistics; False: these do not show it, or cannot be read.
    """
    try:
        configuration = _described(folder, version)[0].get("configuration") or {}
        if configuration.get(_MAPPING, "none") != "none":
            return False  # its columns have other names in its log
        added = [action["add"] for action in _actions(_commit(folder, version).read_bytes()) if "add" in action]
        return bool(added) and all(_is_without_nulls(file, columns) for file in added)
    except (OSError, ValueError, TypeError, AttributeError):
        return False


def _is_without_nulls(file: dict[str, Any], columns: Collection[str]) -> bool:
    partition = file.get("partitionValues") or {}
    nulls = json.loads(file.get("stats") or "{}").get("nullCount") or {}
    return all(bool(partition[name]) if name in partition else nulls.get(name) == 0 for name in columns)


@dataclass(frozen=True)
class _Move:
    """A file that a commit has added (`more` is 1) or removed (-1). `size` None: the commit does not say it."""

    path: str
    values: Mapping[str, str | None]
    size: int | None
    more: int
    is_whole: bool
    """Whether all its rows are rows of the table: no deletion vector takes some away."""
    omits_nulls: bool
    """Whether a partition value that is not there is NULL."""

    def partition(self, names: Sequence[str]) -> Partition | None:
        """Return the partition in a table that is partitioned by these columns; None: it is not known."""
        if not (self.values.keys() <= set(names) if self.omits_nulls else self.values.keys() == set(names)):
            return None
        return _partition({name: self.values.get(name) for name in names})


def _moves(actions: Sequence[dict[str, Any]]) -> Iterator[_Move]:
    for action in actions:
        for kind, more in (("add", 1), ("remove", -1)):
            if (file := action.get(kind)) is not None:
                # Delta writes no NULL into the partition values of a removed file (4.4.0).
                omits = kind == "remove" and bool(file.get("extendedFileMetadata"))
                values, whole = file.get("partitionValues") or {}, not file.get("deletionVector")
                yield _Move(str(file.get("path")), values, file.get("size"), more, whole, omits)


def _between(folder: StoredPath, before: int, after: int, moves: Sequence[_Move]) -> ChangedFiles | str:
    """Return what was changed where the table has the same columns and partitioning in both versions.

    A table that was replaced meanwhile, as a seed is, may well have. Raises what reading and parsing raises.
    """
    old, new = _described(folder, before), _described(folder, after)
    if any(old[0].get(key) != new[0].get(key) for key in ("schemaString", "partitionColumns")):
        return "its columns or its partitioning have changed"
    if any((each.get("configuration") or {}).get(_MAPPING, "none") != "none" for each, _ in (old, new)):
        return "its columns have other names in its log"
    columns = new[0].get("partitionColumns") or ()
    named = [(move, move.partition(columns)) for move in moves]
    known = frozenset(partition for _, partition in named if partition is not None)
    partitions = known if columns and all(partition is not None for _, partition in named) else frozenset()
    files = _differing(named) if _WIDENED not in str(new[0].get("schemaString")) else None
    if partitions or files is not None:
        return ChangedFiles(before, after, partitions, sum(move.size or 0 for move in moves), files)
    if old[1] is None or new[1] is None:
        return "its size is not known"
    return ChangedFiles(before, after, frozenset(), max(old[1], new[1]))


def _differing(moves: Sequence[tuple[_Move, Partition | None]]) -> tuple[ChangedFile, ...] | None:
    """Return the files of moves that do not cancel each other; None where they do not show the rows that differ.

    Commits that keep all rows are not among the moves: a file that such a commit has removed counts as often as it was
    added, and the rows that it shares with others cancel each other when they are summed.
    """
    more: Counter[tuple[str, Partition]] = Counter()
    for move, partition in moves:
        if partition is None or move.size is None or not move.is_whole:
            return None
        more[unquote(move.path), partition] += move.more
    return tuple(ChangedFile(path, partition, number) for (path, partition), number in more.items() if number)


def _described(folder: StoredPath, version: int) -> tuple[dict[str, Any], int | None]:
    """Return the metadata of a version of a table, and the bytes of its files (None: not known).

    Raises what reading and parsing raises.
    """
    size = None
    for number in range(version, -1, -1):
        path = _commit(folder, number)
        checksum = path.with_suffix(".crc")
        known = json.loads(checksum.read_bytes()) if checksum.exists() else {}
        size = known.get("tableSizeBytes") if number == version else size
        if known.get("metadata"):
            return known["metadata"], size
        for action in _actions(path.read_bytes()):
            if "metaData" in action:
                return action["metaData"], size
    raise ValueError(folder)


def _partition(values: dict[str, str | None]) -> Partition:
    """Return the partition of a file; an empty text is NULL (Delta's protocol, "Partition Value Serialization")."""
    return tuple(sorted((name, value or None) for name, value in values.items()))


def in_partition(column: str, kind: str, value: str) -> str:
    """Return the condition that a column is a text of the log, which may have `05` for 5."""
    return f"cast({quote(column)} AS string) = {text_literal(value)}"


def _changes(folder: StoredPath) -> Iterator[tuple[StoredVersion, Sequence[dict[str, Any]]]]:
    """Yield the commits that may have changed rows or columns with their actions, newest first."""
    names = (path.stem for path in (folder / "_delta_log").glob("[0-9]*.json"))
    for version in sorted((int(name) for name in names if name.isdecimal()), reverse=True):
        text = _commit(folder, version).read_bytes()
        actions = list(_actions(text))
        info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
        if not _keeps_rows(info, actions):
            yield StoredVersion(version, hashlib.sha256(text).hexdigest()[:32], info.get("userMetadata")), actions


def _commit(folder: StoredPath, version: int) -> StoredPath:
    """Return the file of a commit."""
    return folder / "_delta_log" / f"{version:020}.json"


def _actions(text: bytes) -> Iterator[dict[str, Any]]:
    """Yield the actions of a commit, each on a line. Raises ValueError."""
    return (json.loads(line) for line in text.splitlines() if line.strip())


def _keeps_rows(info: dict[str, Any], actions: Sequence[dict[str, Any]]) -> bool:
    """Whether the table has the same rows and columns after a commit as before."""
    if any("metaData" in action or "protocol" in action for action in actions):
        return False
    if info.get("operation") == "MERGE":
        metrics = info.get("operationMetrics") or {}
        return all(metrics.get(name) == "0" for name in _CHANGED_ROWS)
    files = (action.get("add") or action.get("remove") or {} for action in actions)
    return info.get("operation") in _MOVES_FILES and not any(file.get("dataChange", False) for file in files)
