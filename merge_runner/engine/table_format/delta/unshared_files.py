"""The files that one of two versions of a Delta table has and the other one has not, as views of their rows.

Two versions of a table share the files that no commit between them has rewritten, and a shallow clone shares those of
the table that was cloned. A deletion vector is part of what identifies a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from merge_runner.comparison.report import FilesRead
from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.jvm_util import active_session
from merge_runner.engine.table_format.delta.log import LogSnapshot, snapshot
from merge_runner.engine.table_format.protocol import TableVersion
from merge_runner.relation import string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST = 1_000
"""Files that are read by their names; where more differ, all are read."""
_VECTOR = ("deletionVector.storageType", "deletionVector.pathOrInlineDv", "deletionVector.offset")
_FILE_SCHEME = re.compile(r"^(file:)?/+")
_File = tuple[Any, ...]


@contextmanager
def unshared_files(
    session: SparkSession, left: TableVersion, right: TableVersion, names: tuple[str, str]
) -> Iterator[FilesRead | None]:
    """Define temporary views of the rows in files that are not shared; see the protocol. Raises EngineError."""
    first, second = (snapshot(session, side.table, side.version) for side in (left, right))
    if first is None or second is None or _columns(first) != _columns(second):
        yield None
        return
    left_files, right_files = _files(first, second)
    shared = left_files.keys() & right_files.keys()
    only_left, only_right = ([files[key] for key in files.keys() - shared] for files in (left_files, right_files))
    if max(len(only_left), len(only_right)) > _MOST:
        yield None
        return
    for state, paths, name in ((first, only_left, names[0]), (second, only_right, names[1])):
        _define(state, paths, name)
    yield FilesRead(len(only_left), len(only_right), len(shared))


def _columns(state: LogSnapshot) -> tuple[str, str]:
    """Return what decides how the columns of a file are named: with column mapping the schema has physical names."""
    metadata = state.state.metadata()
    return str(metadata.schemaString()), str(metadata.partitionColumns().mkString(","))


def _files(*states: LogSnapshot) -> list[dict[_File, str]]:
    """Return the files of each version: by what identifies them wherever they are named, the path in its log."""
    from pyspark.sql import DataFrame

    session = states[0].session
    with engine_errors(), active_session(session):
        tables = [DataFrame(state.state.allFiles().toDF(), session) for state in states]
        queries = [table.selectExpr(f"{at} AS side", "path", *_VECTOR) for at, table in enumerate(tables)]
        rows = reduce(DataFrame.unionAll, queries).collect()  # one job lists all
        folders = [str(state.state.deltaLog().dataPath().toUri()) for state in states]
    files: list[dict[_File, str]] = [{} for _ in states]
    for side, path, *vector in rows:
        key = (_absolute(path, folders[side]), *vector)
        files[side][key] = path
    return files


def _absolute(path: str, folder: str) -> str:
    """Return the whole path of a file, so that a clone names it like its table: the log of that has a relative one."""
    whole = path if path.startswith("/") or ":/" in path else f"{folder.rstrip('/')}/{path}"
    return _FILE_SCHEME.sub("/", unquote(whole))


def _define(state: LogSnapshot, paths: list[str], name: str) -> None:
    """Define a temporary view of the rows in some files of a version, as Delta reads them."""
    python_utils = state.session.sparkContext._jvm.PythonUtils  # type: ignore[union-attr]  # a classic session has it
    condition = f"path IN ({', '.join(map(string_literal, paths))})" if paths else "false"
    with engine_errors(), active_session(state.session):
        files = state.state.allFiles().filter(condition).collectAsList()
        log = state.state.deltaLog()
        no_action = getattr(log, "createDataFrame$default$4")()
        rows = log.createDataFrame(state.state, python_utils.toSeq(files), False, no_action)
        rows.createOrReplaceTempView(name)
