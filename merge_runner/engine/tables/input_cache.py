"""Inputs that several nodes read, kept from the first reader to the last."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


SMALL = 4 << 20
"""Bytes of an input, as Spark's optimizer estimates them, below which it is read again rather than kept."""


class SharedInputs:
    """What Spark keeps of inputs in this invocation, by who has yet to read it. Safe for many threads.

    Spark finds by itself where a query holds what is kept, in whatever session: the cache belongs to the driver.
    """

    def __init__(self, readers: Iterable[Mapping[Relation, tuple[str, ...]]], small: int = SMALL) -> None:
        self._small = small
        self._waiting: dict[str, set[str]] = {}
        for shared in readers:
            for relation, nodes in shared.items():
                self._waiting[relation.name] = set(nodes)
        self._cached: dict[str, DataFrame] = {}
        self._guard = threading.Lock()

    def acquire(self, session: SparkSession, relation: Relation) -> None:
        """Has an input kept from now on; it is computed when it is first read. Raises EngineError."""
        with self._guard:
            if relation.name in self._cached or not self._waiting.get(relation.name):
                return
            with engine_errors():
                rows = session.table(str(relation))
                size = _size(rows)
                if size is None or size >= self._small:
                    self._cached[relation.name] = rows.persist()

    def done(self, unique_id: str) -> None:
        """Record that a node has read, or will not read, its inputs; what no other node needs is unpersisted."""
        with self._guard:
            for name, nodes in self._waiting.items():
                nodes.discard(unique_id)
                if not nodes and name in self._cached:
                    with suppress(Exception):  # a driver that is lost keeps nothing
                        self._cached.pop(name).unpersist()


def _size(rows: DataFrame) -> int | None:
    """Spark's estimate in bytes; None over Spark Connect, which reports none."""
    frame = getattr(rows, "_jdf", None)
    return None if frame is None else int(str(frame.queryExecution().optimizedPlan().stats().sizeInBytes()))
