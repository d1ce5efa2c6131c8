"""The checkpoint of a stream: how far it has come, and a note of ours that says whose it is.

Spark keeps one file for each batch in `offsets` when it is planned and in `commits` when it is done
(`CheckpointFileManager`, `MetadataLog`; Spark 4.1). The note is in the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.engine.spark.jvm_util import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NOTE = "merge-runner.json"
_FILE_CONTEXT = "org.apache.hadoop.fs.FileContext"
_PATH = "org.apache.hadoop.fs.Path"
_RENAME = "org.apache.hadoop.fs.Options$Rename"


@dataclass(frozen=True)
class Note:
    """Whose a checkpoint is: what targets know its batches by, and the ids of the models that read them."""

    application: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckpointState:
    """How far a stream has come: the highest batch that was planned, and the highest that was done; -1: none.

    `note` None: there is none.
    """

    planned: int = -1
    done: int = -1
    note: Note | None = None


def checkpoint_state(session: SparkSession, path: str) -> CheckpointState:
    """Reads a checkpoint, on whatever file system; one that is not there has come nowhere. Raises EngineError."""
    with engine_errors():
        folder = java_class(session, _PATH)(path)
        files = folder.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
        note = java_class(session, _PATH)(folder, _NOTE)
        text = _text(session, files, note) if files.exists(note) else None
        return CheckpointState(
            _highest(session, files, folder, "offsets"),
            _highest(session, files, folder, "commits"),
            _read(text, path) if text is not None else None,
        )


def write_note(session: SparkSession, path: str, note: Note) -> None:
    """Replaces the note of a checkpoint in one step, where the file system can. Raises EngineError."""
    with engine_errors():
        folder = java_class(session, _PATH)(path)
        conf = session.sparkContext._jsc.hadoopConfiguration()
        files = folder.getFileSystem(conf)
        files.mkdirs(folder)
        final, fresh = (java_class(session, _PATH)(folder, name) for name in (_NOTE, f".{_NOTE}.new"))
        out = files.create(fresh, True)
        try:
            out.write(json.dumps({"application": note.application, "models": list(note.models)}).encode())
            out.hsync()
        finally:
            out.close()
        gateway: Any = session.sparkContext._gateway
        overwrite = gateway.new_array(java_class(session, _RENAME), 1)
        overwrite[0] = java_class(session, _RENAME).OVERWRITE
        java_class(session, _FILE_CONTEXT).getFileContext(files.getUri(), conf).rename(fresh, final, overwrite)


def _highest(session: SparkSession, files: Any, folder: Any, log: str) -> int:
    place = java_class(session, _PATH)(folder, log)
    if not files.exists(place):
        return -1
    names = (str(status.getPath().getName()) for status in files.listStatus(place))
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def _text(session: SparkSession, files: Any, path: Any) -> str:
    stream = files.open(path)
    try:
        return str(java_class(session, "org.apache.commons.io.IOUtils").toString(stream, "UTF-8"))
    finally:
        stream.close()


def _read(text: str, path: str) -> Note:
    try:
        note: Mapping[str, Any] = json.loads(text)
        return Note(str(note["application"]), tuple(str(model) for model in note["models"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EngineError(
            "checkpoint",
            f"{path}/{_NOTE} cannot be read: {error}",
            hint="it says whose the checkpoint is: take it from a copy, or begin with a new checkpoint and generation",
        ) from error
