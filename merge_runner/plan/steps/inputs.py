"""What a node reads, made known to the session before its statement runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from merge_runner.plan.steps.step import Step
from merge_runner.relation import Relation

if TYPE_CHECKING:
    from merge_runner.formats import Format
    from merge_runner.location import Location
    from merge_runner.text import Place


@dataclass(frozen=True)
class TableInput:
    """A table that another model built, or a source: one of a catalog, or, with a `place` in YAML, one in a folder.

    `location` None: a catalog has it, and it need not be attached. The format of a source that is not known is empty.
    """

    relation: Relation
    format: str
    location: Location | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ViewInput:
    """A view that another model built: `definition` is the file that keeps its query in the embedded warehouse."""

    relation: Relation
    definition: Location | None


@dataclass(frozen=True)
class FileInput:
    """A source that is files: it is attached as an external table. `columns` are name and declared type.

    `place` is that of the source in its YAML, and `checksum` says how a build sees that the files have changed. They
    are no part of what identifies the table.
    """

    relation: Relation
    path: str
    format: str
    options: Mapping[str, str]
    columns: tuple[tuple[str, str | None], ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)
    checksum: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True)
class StreamBatchInput:
    """The batch of a stream that is being worked on: a temporary view that all sessions see meanwhile."""

    relation: Relation
    stream: str


Input = TableInput | ViewInput | FileInput | StreamBatchInput


@dataclass(frozen=True)
class AttachInputs(Step):
    """Makes the inputs known to the session's catalog, parents of views first."""

    inputs: tuple[Input, ...]

    def __str__(self) -> str:
        return f"attach {', '.join(map(_input_words, self.inputs)) or 'nothing'}"


@dataclass(frozen=True)
class ShareInputs(Step):
    """Keeps inputs that other nodes read as well: the first reader computes them, the last one lets them go.

    What turns out to be small is not kept: to read it again is cheaper.
    `readers` are the unique ids of all of them, by input.
    """

    readers: Mapping[Relation, tuple[str, ...]]

    def __str__(self) -> str:
        words = (f"{relation.name} ({len(nodes)} readers)" for relation, nodes in self.readers.items())
        return f"compute once for all: {', '.join(words)}"


@dataclass(frozen=True)
class Feed:
    """The changes of `table` that a model has not consumed yet, as the temporary view `view` of its session.

    `reader` is the name under which the model's own table keeps what was consumed. `format` is that of `table`.
    """

    view: Relation
    table: Relation
    reader: str
    format: Format


@dataclass(frozen=True)
class OpenFeed(Step):
    """Makes the view of a feed, without rows as yet: what is analysed before the MERGE runs may name it."""

    feed: Feed

    def __str__(self) -> str:
        return f"define {self.feed.view.name}, the changes of {self.feed.table.name}"


def _input_words(item: Input) -> str:
    return f"the batch of {item.stream}" if isinstance(item, StreamBatchInput) else item.relation.name
