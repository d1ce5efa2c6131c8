"""Whether the object store of a warehouse answers, and what of all that the runner has to do there works.

The clients of object stores send a request again for minutes, also where there is no server. So a run first lists its
warehouse by a separate client that gives up soon: a wrong endpoint, key or bucket is reported once, in seconds.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.storage import files
from merge_runner.engine.spark.storage.leases import no_put_if_absent
from merge_runner.errors import Problem, ProblemsError
from merge_runner.location import Uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FEW_ATTEMPTS: Mapping[str, Mapping[str, str]] = {
    "s3a": {
        "fs.s3a.attempts.maximum": "1",
        "fs.s3a.retry.limit": "1",
        "fs.s3a.retry.interval": "100ms",
        # In milliseconds, the only unit of Hadoop 3.3; less is not taken.
        "fs.s3a.connection.establish.timeout": "15000",
        "fs.s3a.connection.timeout": "15000",
    },
    "abfss": {
        "fs.azure.io.retry.max.retries": "1",
        "fs.azure.io.retry.backoff.interval": "100",
        "fs.azure.oauth.token.fetch.retry.max.retries": "1",
        "fs.azure.custom.token.fetch.retry.count": "1",
    },
    "gs": {"fs.gs.http.max.retry": "1", "fs.gs.http.connect-timeout": "15000"},
    "hdfs": {
        "ipc.client.connect.max.retries": "1",
        "ipc.client.connect.max.retries.on.timeouts": "1",
        "dfs.client.failover.max.attempts": "1",
    },
}
"""The settings of Hadoop, by scheme, with which a client gives up soon."""


def check_reachable(session: SparkSession, warehouse: Uri) -> None:
    """Make sure that a warehouse can be listed.

    Raises ProblemsError `storage` with the answer of the store, or why there is none, within a minute.
    """
    _try(warehouse, "list", [], lambda: files.list_once(session, warehouse, _FEW_ATTEMPTS.get(warehouse.scheme, {})))


def check_storage(session: SparkSession, warehouse: Uri) -> str:
    """Return what works in a folder of the warehouse, which is removed again; all has to.

    Raises ProblemsError `storage` with the first operation that does not, and what is missing.
    """
    verbs: list[str] = []
    for name, operation in _operations(session, warehouse, warehouse / f".merge-runner-{uuid.uuid4().hex}"):
        _try(warehouse, name, verbs, operation)
        verbs.append(name)
    return f"{warehouse}: can {', '.join(verbs[:-1])} and {verbs[-1]}"


def _try(warehouse: Uri, name: str, verbs: list[str], operation: Callable[[], object]) -> None:
    try:
        operation()
    except EngineError as error:
        before = f" (it can {', '.join(verbs)})" if verbs else ""
        message = f"{warehouse}: cannot {name}{before}: {error.message}"
        place = "`warehouse`, and `endpoint` of `storage`," if warehouse.scheme == "s3a" else "`warehouse`"
        hint = error.hint or (f"check {place} in profiles.yml, and the network" if name == "list" else None)
        raise ProblemsError([Problem("storage", message, hint=hint)]) from error


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

    yield "list", lambda: files.list_once(session, warehouse, _FEW_ATTEMPTS.get(warehouse.scheme, {}))
    yield "write", lambda: files.write_text(session, file, text)
    yield "read", read
    yield "rename", lambda: files.rename(session, file, moved)
    yield "put if absent", put_if_absent
    yield "delete", delete
