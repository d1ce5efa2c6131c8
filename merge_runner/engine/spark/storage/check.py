"""What the runner has to do in a warehouse of an object store, each tried once: what `debug --spark` reports."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.storage import files
from merge_runner.engine.spark.storage.leases import no_put_if_absent
from merge_runner.errors import Problem, ProblemsError
from merge_runner.location import Uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_storage(session: SparkSession, warehouse: Uri) -> str:
    """Return what works in a folder of the warehouse, which is removed again; all has to.

    Raises ProblemsError `storage` with the first operation that does not, and what is missing.
    """
    done: list[str] = []
    for name, operation in _operations(session, warehouse, warehouse / f".merge-runner-{uuid.uuid4().hex}"):
        try:
            operation()
        except EngineError as error:
            before = f" (it can {', '.join(done)})" if done else ""
            message = f"{warehouse}: cannot {name}{before}: {error.message}"
            raise ProblemsError([Problem("storage", message, hint=error.hint)]) from error
        done.append(name)
    return f"{warehouse}: can {', '.join(done[:-1])} and {done[-1]}"


def _operations(session: SparkSession, warehouse: Uri, folder: Uri) -> Iterator[tuple[str, Callable[[], object]]]:
    file, moved, text = folder / "file", folder / "moved", uuid.uuid4().hex

    def put_if_absent() -> None:
        files.create(session, file, text)
        if files.create(session, file, uuid.uuid4().hex):
            raise no_put_if_absent(warehouse)

    def read() -> None:
        if files.read_text(session, file) != text:
            raise EngineError("storage", "what was written is not what is read")

    def delete() -> None:
        for place in (file, moved, folder):
            files.delete(session, place)

    yield "list", lambda: files.names(session, warehouse)
    yield "write", lambda: files.write_text(session, file, text)
    yield "read", read
    yield "rename", lambda: files.rename(session, file, moved)
    yield "put if absent", put_if_absent
    yield "delete", delete
