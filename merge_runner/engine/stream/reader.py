"""Reads a stream in micro-batches: each is kept while it is worked on, and seen by all sessions of the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import EngineError, engine_error, engine_errors, from_engine
from merge_runner.engine.stream.callback_port import open_callback_port
from merge_runner.plan.nodes.streams import StreamInput
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Work = Callable[[int, int], None]
"""What is done with a batch, by its id and number of rows. What it raises ends the stream; the batch comes again."""


@dataclass(frozen=True)
class RunningStream:
    """A stream that is being read."""

    query: StreamingQuery
    failures: Sequence[EngineError] = ()
    """The error of a batch's rows: Spark reports it as a failure of Python."""

    @property
    def active(self) -> bool:
        """Whether it goes on."""
        return bool(self.query.isActive)

    def progress(self, after: int) -> list[Mapping[str, Any]]:
        """Return Spark's progress of the batches above `after` that have ended, as its listeners receive it."""
        with suppress(Exception):  # the driver may be gone, which the batches report
            return [dict(progress) for progress in self.query.recentProgress if progress["batchId"] > after]
        return []

    def error(self) -> EngineError | None:
        """What ended it; None where it has come to its end, or goes on."""
        if self.failures:
            return self.failures[0]
        try:
            failure = self.query.exception()
        except Exception as error:
            return engine_error(error)
        return engine_error(failure) if failure is not None else None

    def stop(self) -> None:
        """End it between two batches. Raises nothing: a driver that is lost no longer reads either."""
        with suppress(Exception):
            self.query.stop()


def read_stream(session: SparkSession, stream: StreamInput, available_now: bool, work: Work) -> RunningStream:
    """Start to read a stream in a separate session: until it is stopped, or all present input has been read.

    Raises EngineError.
    """

    def each(rows: DataFrame, batch_id: int) -> None:
        if stream.batch_columns:
            rows = _with_batch(rows, batch_id)
        try:
            with _cache_rows(rows, stream.view.identifier) as count:
                work(batch_id, count)
        except Exception as error:
            if from_engine(error):
                failures.append(engine_error(error))
            raise

    failures: list[EngineError] = []
    with engine_errors(or_bugs=True):
        trigger: dict[str, Any] = {"processingTime": f"{stream.trigger or 0} seconds"}
        if available_now:
            trigger = {"availableNow": True}
        open_callback_port(session.sparkContext._gateway)
        writer = _rows(session, stream).writeStream.queryName(stream.name).trigger(**trigger).foreachBatch(each)
        return RunningStream(writer.option("checkpointLocation", stream.checkpoint).start(), failures)


def _rows(session: SparkSession, stream: StreamInput) -> DataFrame:
    reader = session.readStream.format(stream.format).options(**dict(stream.options))
    if stream.columns:
        reader = reader.schema(", ".join(f"{quote(name)} {data_type}" for name, data_type in stream.columns))
    rows = reader.table(str(stream.table)) if stream.table is not None else reader.load(stream.path)
    if stream.watermark is not None:
        rows = rows.withWatermark(stream.watermark.column, f"{stream.watermark.delay} seconds")
    return rows


def _with_batch(rows: DataFrame, batch_id: int) -> DataFrame:
    """The rows with the id of their batch, and the time at which it is worked on."""
    now = datetime.now(timezone.utc).isoformat(timespec="microseconds")
    return rows.selectExpr("*", f"{batch_id}L AS _batch_id", f"timestamp'{now}' AS _processed_at")


@contextmanager
def _cache_rows(rows: DataFrame, view: str) -> Iterator[int]:
    """Cache the rows of a batch under the name of a view; yield their number. They are unpersisted in any case."""
    cached = rows.persist()
    try:
        count = cached.count()
        cached.createOrReplaceGlobalTempView(view)
        yield count
    finally:
        with suppress(Exception):  # a driver that is lost keeps nothing
            rows.sparkSession.catalog.dropGlobalTempView(view)
        with suppress(Exception):
            cached.unpersist()
