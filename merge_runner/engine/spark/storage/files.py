"""Files of the warehouse, on a local disk or by Hadoop's file systems."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.atomic import write_atomic
from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.jvm_util import java_class
from merge_runner.location import Location, Uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATH = "org.apache.hadoop.fs.Path"
_LOG = "_delta_log"
_FIRST_COMMIT = "00000000000000000000.json"
_MISSING = "FileNotFoundException"
_REPLACED = ("RemoteFileChangedException", "ChecksumException")
"""What is raised of a file that is replaced while it is read, as a lock is that is renewed: by S3A (Hadoop 3.3, 3.4),
and by `file:`, which writes a file and its checksum one after the other."""
_MOST_READS = 20
"""How often such a file is read: a lock is replaced once in some seconds."""
_PUT = "mergerunner.S3ConditionalPut"
"""The class of ours by which S3 itself refuses to overwrite, on each Hadoop (`S3ConditionalPut.java`)."""


def has_table(session: SparkSession, location: Uri) -> bool:
    """Return whether a folder has a Delta table: a log with a commit or a checkpoint of one. Raises EngineError.

    Most logs have their first commit, which costs one HEAD; where that has been cleaned up, the log is listed.
    """
    log = location / _LOG
    return _exists(session, log / _FIRST_COMMIT) or any(name[:1].isdigit() for name in names(session, log))


def _exists(session: SparkSession, file: Uri) -> bool:
    """Return whether there is a file. Raises EngineError."""
    with engine_errors():
        files, path = _of(session, file)
        return bool(files.exists(path))


def names(session: SparkSession, folder: Uri) -> list[str]:
    """Return the names in a folder, none where there is no such folder. Raises EngineError."""
    try:
        with engine_errors():
            files, path = _of(session, folder)
            return [str(status.getPath().getName()) for status in files.listStatus(path)]
    except EngineError as error:
        if error.code != _MISSING:
            raise
        return []


def list_once(session: SparkSession, folder: Uri, settings: Mapping[str, str]) -> None:
    """List a folder by a separate client with settings of Hadoop. Raises EngineError.

    The folder need not exist. Its container or bucket has to: clients of Azure or Google report both as a missing file.
    """
    missing: str | None = None
    with engine_errors():
        conf = java_class(session, "org.apache.hadoop.conf.Configuration")(
            session.sparkContext._jsc.hadoopConfiguration()
        )
        for key, value in settings.items():
            conf.set(key, value)
        place = java_class(session, _PATH)
        own = java_class(session, "org.apache.hadoop.fs.FileSystem").newInstance(place(folder.text).toUri(), conf)
        try:
            if _is_missing(lambda: own.listStatusIterator(place(folder.text)).hasNext()):
                root = f"{folder.store}/"
                with suppress(EngineError):  # a key need not have the right to read the bucket itself
                    if _is_missing(lambda: own.getFileStatus(place(root))):
                        missing = root
        finally:
            own.close()
    if missing is not None:
        raise EngineError("no-store", f"{missing} does not exist", "create it, or correct its name")


def _is_missing(reading: Callable[[], object]) -> bool:
    """Return whether what is read is reported as a missing file. Raises EngineError."""
    try:
        with engine_errors():
            reading()
    except EngineError as error:
        if error.code != _MISSING:
            raise
        return True
    return False


def read_text(session: SparkSession, place: Location) -> str | None:
    """Return the text of a file in UTF-8; None where there is none. Raises EngineError."""
    if isinstance(place, Path):
        return place.read_text(encoding="utf-8") if place.exists() else None
    reads = 0
    while True:
        try:
            return _read(session, place)
        except EngineError as error:
            reads += 1
            if error.code == _MISSING:
                return None
            if error.code not in _REPLACED or reads == _MOST_READS:
                raise


def _read(session: SparkSession, place: Uri) -> str:
    with engine_errors():
        files, path = _of(session, place)
        stream = files.open(path)
        try:
            return str(java_class(session, "org.apache.commons.io.IOUtils").toString(stream, "UTF-8"))
        finally:
            stream.close()


def write_text(session: SparkSession, place: Location, text: str) -> None:
    """Replace a file as a whole. Raises EngineError, OSError."""
    if isinstance(place, Path):
        write_atomic(place, text)
        return
    with engine_errors():
        files, path = _of(session, place)
        _write(files.create(path, True), text)


def create(session: SparkSession, place: Uri, text: str) -> bool:
    """Write a file where there is none; False where there is one: of concurrent calls, one gets True.

    `text` is one that no other call writes: a request whose answer was lost is sent again by the client, which then
    finds its own file. Raises EngineError.
    """
    try:
        with engine_errors():
            files, path = _of(session, place)
            if place.scheme == "s3a":
                java_class(session, _PUT).create(files, path, text)
            else:
                _write(files.createFile(path).recursive().overwrite(False).build(), text)
    except EngineError:
        contents = read_text(session, place)
        if contents is None:
            raise
        return contents == text
    return True


def rename(session: SparkSession, place: Uri, to: Uri) -> None:
    """Move a file. Raises EngineError."""
    with engine_errors():
        files, path = _of(session, place)
        if not files.rename(path, java_class(session, _PATH)(to.text)):
            raise OSError(errno.EIO, "it was not renamed", place.text)


def delete(session: SparkSession, place: Uri) -> None:
    """Remove a file, or a folder that is empty. Raises EngineError."""
    with engine_errors():
        files, path = _of(session, place)
        files.delete(path, False)


def delete_folder(session: SparkSession, place: Uri) -> None:
    """Remove a folder with all that is in it. Raises EngineError."""
    with engine_errors():
        files, path = _of(session, place)
        files.delete(path, True)


def remove_empty_log(session: SparkSession, location: Location) -> None:
    """Remove the log of a table that has no commit: a process that was killed leaves it, and CREATE stops there.

    Where a commit is a rename (Azure, HDFS), the log may hold the first one under its hidden name.
    """
    if isinstance(location, Path):
        shutil.rmtree(location / _LOG, ignore_errors=True)
        return
    log = location / _LOG
    with suppress(Exception):  # where it holds a commit by now, it stays: a folder with files is not removed
        for name in names(session, log):
            if name.startswith(f".{_FIRST_COMMIT}.") and name.endswith(".tmp"):
                delete(session, log / name)
        delete(session, log)


def _of(session: SparkSession, place: Uri) -> tuple[Any, Any]:
    path = java_class(session, _PATH)(place.text)
    return path.getFileSystem(session.sparkContext._jsc.hadoopConfiguration()), path


def _write(out: Any, text: str) -> None:
    try:
        out.write(text.encode())
    finally:
        out.close()
