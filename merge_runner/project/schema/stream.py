"""What YAML says of a source that is read as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from merge_runner.project.schema.accepts import also, exclusive
from merge_runner.project.schema.quantities import Seconds
from merge_runner.project.syntax.annotations import CLOSED, Before, Limits, StrictBool

CONNECTORS = frozenset({"kafka"})
"""Formats whose jars are fetched where a stream of the project is read by them."""


@dataclass(frozen=True)
class Watermark:
    """The column that says when a row happened, and how late rows may be, in seconds."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    column: Annotated[str, Limits(min_length=1)]
    """The column with the event time. Example: `column: ordered_at`"""
    delay: Seconds = 0.0
    """How late rows may be. Example: `delay: 10 minutes`"""


def _or_plain(value: Any) -> Any:
    return {} if value is True else value


@dataclass(frozen=True)
class Stream:
    """A source whose new rows come in micro-batches.

    `format`, `path` and `options` are those of the table where nothing is said; `table` is one of a catalog instead of
    a path. `trigger` is the least number of seconds between two batches, None: none. `checkpoint` None: below the
    embedded warehouse. With `batch_columns` every row has `_batch_id` (bigint) and `_processed_at` (timestamp), the
    same in all rows of a batch. Targets know batches by project, stream, `generation` and number: a new checkpoint
    counts from 0 again and needs another generation.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED
    ACCEPTS: ClassVar[Mapping[str, Any]] = exclusive("path", "table")

    format: str | None = None
    """The format of the stream. `kafka` is the connector whose jars are fetched on demand (`deps --kafka` fetches them
    before a run). Default: the format of the table.
    Example: `format: kafka`"""
    path: str | None = None
    """The folder that is read. Excludes `table`. Default: that of the table. Example: `path: landing/orders`"""
    table: str | None = None
    """A table of a catalog that is read instead of a `path`. Example: `table: lake.shop.orders`"""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of Spark's streaming reader, in addition to those of the table.
    Example: `options: {subscribe: orders, startingOffsets: earliest}`"""
    checkpoint: str | None = None
    """The folder of the checkpoint. It has to last as long as the tables. Default:
    `<warehouse>/.checkpoints/<source>.<table>` in the embedded warehouse.
    Example: `checkpoint: checkpoints/orders`"""
    trigger: Seconds | None = None
    """The least time between two micro-batches. Default: the next starts as soon as there are new rows.
    Example: `trigger: 30s`"""
    watermark: Watermark | None = None
    """The event-time column and how late rows may be: Spark's event-time figures in the journal.
    Example: `watermark: {column: ordered_at, delay: 10 minutes}`"""
    batch_columns: StrictBool = False
    """Add the columns `_batch_id` (bigint) and `_processed_at` (timestamp) to every row, constant in a batch.
    Example: `batch_columns: true`"""
    generation: Annotated[int, Limits(ge=1, strict=True)] = 1
    """The generation of the checkpoint: tables identify batches by project, stream, generation and number. Increase it
    together with a new `checkpoint`, which counts from 0 again.
    Example: `generation: 2`"""

    def __post_init__(self) -> None:
        if self.path is not None and self.table is not None:
            raise ValueError('"path" and "table" exclude each other')


def connectors(streams: Iterable[Stream | None]) -> tuple[str, ...]:
    """The formats among the streams' for which Spark needs jars that no table format brings."""
    return tuple(sorted(CONNECTORS.intersection(stream.format or "" for stream in streams if stream is not None)))


OptionalStream = Annotated[Stream | None, Before(_or_plain), also({"const": True})]
"""`stream: true` says that there is nothing more to say."""
