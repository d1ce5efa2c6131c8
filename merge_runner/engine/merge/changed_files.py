"""The files by which two versions of a Delta table differ, as relations of their rows.

To read an earlier version, Delta makes its state from the log by several jobs; Spark reads a file of Parquet by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
            for number, ((partition, more), paths) in enumerate(groups.items()):
                literals = {name: _literal(kinds[name], value) for name, value in partition}
                in_files = ", ".join(f"{quote(name)} {kind}" for name, kind in kinds.items() if name not in literals)
                view = f"merge_runner_files_{number}"
                session.read.schema(in_files).parquet(*paths).createOrReplaceTempView(view)
                dropped.callback(session.catalog.dropTempView, view)
                values = "".join(f", {literal} AS {quote(name)}" for name, literal in literals.items())
                relations.append((f"(SELECT *{values} FROM {view})", more))
        yield relations


def _groups(
    folder: str, files: Sequence[ChangedFile], kinds: Mapping[str, str]
) -> dict[tuple[Partition, int], list[str]] | None:
    """Return the paths of files by what their relation depends on; None where there can be no such relations."""
    groups: dict[tuple[Partition, int], list[str]] = {}
    for file in files:
        path = file.path if _ABSOLUTE.match(file.path) else f"{folder}/{file.path}"
        groups.setdefault((file.partition, file.more), []).append(path)
    known = all(_is_known(partition, kinds) for partition, _ in groups)
    named = not any(_PATTERN.search(path) for paths in groups.values() for path in paths)
    return groups if known and named and len(groups) <= _MOST else None


def _is_known(partition: Partition, kinds: Mapping[str, str]) -> bool:
    """Return whether the values of a partition have literals, and its files a column besides."""
    return len(partition) < len(kinds) and all(
        name in kinds and _literal(kinds[name], value) is not None for name, value in partition
    )


def _literal(kind: str, value: str | None) -> str | None:
    """Return a value of the log in SQL."""
    literal = typed_literal(kind, value) if value is not None else "NULL"
    return f"CAST({literal} AS {kind})" if literal is not None else None
