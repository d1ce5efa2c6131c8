"""The files by which two versions of a Delta table differ, as relations of their rows.

To read an earlier version, Delta makes its state from the log by several jobs; Spark reads a file of Parquet by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.table_format.stored_version import ChangedFile, Partition
from merge_runner.pruning.runtime_filter.bound_literal import typed_literal
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST = 16
"""Relations of one query: one for each partition, and each number of times that a file counts."""
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/")
_PATTERN = re.compile(r"[*?{}\[\]\\]")
"""What makes a path a pattern to Spark."""


@dataclass(frozen=True)
class _Group:
    """Files of a partition whose rows count equally often, and the values of the partition in SQL by column."""

    paths: Sequence[str]
    literals: Mapping[str, str]
    more: int


@contextmanager
def as_relations(
    session: SparkSession, folder: str, files: Sequence[ChangedFile] | None, kinds: Mapping[str, str]
) -> Iterator[list[tuple[str, int]] | None]:
    """Yield relations of the rows in files of a table in a folder, each with how often its rows count.

    They have the columns of `kinds`, which are their types in Spark by name, and exist inside the block. None where the
    files are not known, are too many, or cannot be named to Spark. Raises EngineError.
    """
    groups = _groups(folder, files, kinds) if files is not None else None
    if groups is None:
        yield None
        return
    with ExitStack() as dropped:
        relations = []
        with engine_errors():
            for number, group in enumerate(groups):
                literals = group.literals
                in_files = ", ".join(f"{quote(name)} {kind}" for name, kind in kinds.items() if name not in literals)
                view = f"merge_runner_files_{number}"
                session.read.schema(in_files).parquet(*group.paths).createOrReplaceTempView(view)
                dropped.callback(session.catalog.dropTempView, view)
                values = "".join(f", {literal} AS {quote(name)}" for name, literal in literals.items())
                relations.append((f"(SELECT *{values} FROM {view})", group.more))
        yield relations


def _groups(folder: str, files: Sequence[ChangedFile], kinds: Mapping[str, str]) -> list[_Group] | None:
    """Return the files in groups; None where one cannot be read, or they are too many."""
    paths_of: dict[tuple[Partition, int], list[str]] = {}
    for file in files:
        path = file.path if _ABSOLUTE.match(file.path) else f"{folder}/{file.path}"
        paths_of.setdefault((file.partition, file.more), []).append(path)
    if len(paths_of) > _MOST:
        return None
    groups = []
    for (partition, more), paths in paths_of.items():
        literals = _literals(partition, kinds)
        if literals is None or any(map(_PATTERN.search, paths)):
            return None
        groups.append(_Group(paths, literals, more))
    return groups


def _literals(partition: Partition, kinds: Mapping[str, str]) -> dict[str, str] | None:
    """Return the values of a partition in SQL; None where one has no literal, or its files have no column besides."""
    literals = {}
    for name, value in partition:
        literal = _literal(kinds[name], value) if name in kinds else None
        if literal is None:
            return None
        literals[name] = literal
    return literals if len(literals) < len(kinds) else None


def _literal(kind: str, value: str | None) -> str | None:
    """Return a value of the log in SQL."""
    literal = typed_literal(kind, value) if value is not None else "NULL"
    return f"CAST({literal} AS {kind})" if literal is not None else None
