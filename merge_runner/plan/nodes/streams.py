"""The streams of a project as they will be read, and which of the selected nodes each one feeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from merge_runner.errors import Problems
from merge_runner.formats import DEFAULT
from merge_runner.formats.registry import FORMATS, capabilities, table_format_of
from merge_runner.graph.graph import ModelNode, Node, SourceNode
from merge_runner.graph.naming import no_folder, table_location
from merge_runner.graph.streams import fed_by, is_stream, streams_read
from merge_runner.location import location
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.inputs import TableInput
from merge_runner.project.schema.stream import Stream, Watermark
from merge_runner.relation import Relation

_WITHOUT_PLACE = frozenset({"kafka", "rate", "rate-micro-batch"})
"""Formats whose options specify where to read."""
_WITH_COLUMNS = _WITHOUT_PLACE.union(FORMATS)
"""Formats that know their columns: Spark infers none of files that it reads as a stream."""
_CHECKPOINTS = ".checkpoints"


@dataclass(frozen=True)
class StreamInput:
    """A stream to read. `name` is `<source>.<table>`, `view` what its batches are read by.

    `path` or `table` is where its rows come from, neither where the format's `options` say it; `attach` is the table
    where the embedded warehouse holds it. `columns` are name and type, where the format knows none. `application` is
    what targets know its batches by. `direct` are the nodes that read it, `fed` those and all below them.
    """

    unique_id: str
    name: str
    view: Relation
    format: str
    checkpoint: str
    application: str
    path: str | None = None
    table: Relation | None = None
    attach: TableInput | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[tuple[str, str], ...] = ()
    trigger: float | None = None
    watermark: Watermark | None = None
    batch_columns: bool = False
    direct: tuple[str, ...] = ()
    fed: tuple[str, ...] = ()


def stream_inputs(prepared: Prepared, ids: Sequence[str]) -> tuple[StreamInput, ...]:
    """The streams that feed models among `ids`. Raises ProblemsError with what cannot be read."""
    graph = prepared.graph
    problems = Problems()
    models = [node for node in ids if _runs(graph.nodes[node])]
    readings = []
    for node in graph.nodes.values():
        if is_stream(node):
            fed = fed_by(graph, node.unique_id, models)
            if fed:
                direct = tuple(model for model in fed if node.unique_id in streams_read(graph.nodes, model))
                readings.append(_StreamReader(prepared, node, problems).read(direct, fed))
    problems.check()
    streams = [stream for stream in readings if stream is not None]
    _check_checkpoints(streams, prepared, problems)
    problems.check()
    return tuple(streams)


def streamed_table(node: SourceNode) -> Relation | None:
    """Return the table that a stream reads; None where a path or its options say what."""
    stream, table = node.config.stream, node.config
    if stream is not None and stream.table is not None:
        return Relation(*reversed(stream.table.split(".")))
    if stream is None or stream.path is not None or stream.format in _WITHOUT_PLACE:
        return None
    return Relation(table.identifier or table.name, table.schema or node.source_name, table.catalog)


def _runs(node: Node) -> bool:
    return isinstance(node, ModelNode) and node.materialized != "ephemeral"


class _StreamReader:
    """Reads one stream; a problem is reported at its table in YAML."""

    def __init__(self, prepared: Prepared, node: SourceNode, problems: Problems) -> None:
        self.prepared = prepared
        self.node = node
        self.problems = problems
        self.name = node.full_name

    def read(self, direct: tuple[str, ...], fed: tuple[str, ...]) -> StreamInput | None:
        stream = self.node.config.stream
        if stream is None or self.node.relation is None:
            raise LookupError(self.node.unique_id)
        before = len(self.problems)
        relation = streamed_table(self.node)
        format = stream.format or (DEFAULT if relation is not None else None)
        if format is None:
            self._problem("the stream has no format", "say format: delta, iceberg, kafka, csv, json, parquet, …")
        columns = self._columns(format or "")
        checkpoint = self._checkpoint(stream)
        if len(self.problems) > before or format is None or checkpoint is None:
            return None
        project = self.prepared.graph.project
        generation = f".{stream.generation}" if stream.generation > 1 else ""
        return StreamInput(
            self.node.unique_id,
            self.name,
            self.node.relation,
            format,
            checkpoint,
            f"{project}.{self.name}{generation}",
            path=self._full(stream.path) if relation is None else None,
            table=relation,
            attach=self._attach(relation, format),
            options=stream.options,
            columns=columns,
            trigger=stream.trigger,
            watermark=stream.watermark,
            batch_columns=stream.batch_columns,
            direct=direct,
            fed=fed,
        )

    def _attach(self, relation: Relation | None, format: str) -> TableInput | None:
        table_format = table_format_of(format)
        if relation is None or table_format is None or capabilities(table_format).needs_catalog:
            return None
        files = self.prepared.files
        return TableInput(relation, format, table_location(files.root, files.profile, relation, format))

    def _columns(self, format: str) -> tuple[tuple[str, str], ...]:
        columns = [(column.name, column.data_type) for column in self.node.config.columns]
        if not format or format in _WITH_COLUMNS:
            return ()
        typed = tuple((name, data_type) for name, data_type in columns if data_type is not None)
        if not typed or len(typed) < len(columns):
            self._problem(
                f"Spark infers no columns of {format} files that it reads as a stream",
                "declare all of them below `columns`, each with its data_type",
            )
        return typed

    def _checkpoint(self, stream: Stream) -> str | None:
        files = self.prepared.files
        if stream.checkpoint is not None:
            if ".." in PurePath(stream.checkpoint).parts:
                self._problem(
                    f"its checkpoint {stream.checkpoint} leads out of its folder",
                    "say the whole path, or one inside the project",
                )
            return self._full(stream.checkpoint)
        if no_folder(Relation(self.name)) is not None:
            self._problem("its name cannot be that of a folder", "say checkpoint: a folder for it")
            return None
        if files.profile.warehouse is not None:
            place = location(files.root.absolute(), files.profile.warehouse)
            return str(place / _CHECKPOINTS / self.name)
        self._problem(
            "the stream has no checkpoint",
            "say checkpoint: a folder that lasts as long as the tables do; only the embedded warehouse has a default",
        )
        return None

    def _full(self, path: str | None) -> str | None:
        if path is None or "://" in path:
            return path
        return str((self.prepared.files.root / path).absolute())

    def _problem(self, message: str, hint: str) -> None:
        self.problems.add("stream", f"source {self.name}: {message}", self.node.place, hint)


def _check_checkpoints(streams: Iterable[StreamInput], prepared: Prepared, problems: Problems) -> None:
    """Two streams with one checkpoint would take each other's place in it for their own."""
    first: dict[str, StreamInput] = {}
    for stream in streams:
        path = stream.checkpoint.rstrip("/")
        path = str(Path(path)) if "://" not in path else path
        other = first.setdefault(path, stream)
        if other is not stream:
            place = prepared.graph.nodes[stream.unique_id].place
            message = f"the streams {other.name} and {stream.name} have one checkpoint, {path}"
            problems.add("stream", message, place, "give each a separate folder")
