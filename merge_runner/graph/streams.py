"""Which nodes a stream feeds: those whose SQL reads its rows, and all their descendants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TypeGuard

from merge_runner.errors import Problems
from merge_runner.graph.graph import Graph, ModelNode, Node, SourceNode, nodes_of
from merge_runner.graph.order import relatives
from merge_runner.relation import Relation

_SCHEMA = "global_temp"
"""Where Spark keeps temporary views that all sessions of a driver see: each model runs in a separate session."""
_LASTING = {
    "view": "a view would be read when the batch has gone: make it ephemeral",
    "table": "a table is replaced as a whole, and would hold the last batch alone: write a MERGE",
}


def batch_view(source: str, table: str) -> Relation:
    """The temporary view that a micro-batch of a stream is read by."""
    return Relation(f"{source}__{table}", _SCHEMA)


def streams_read(nodes: Mapping[str, Node], unique_id: str) -> tuple[str, ...]:
    """Return the ids of the streams whose rows the SQL of a node reads, through ephemeral models.

    These may form a cycle: it is reported once all edges are known.
    """
    streams: dict[str, None] = {}
    visited = {unique_id}
    waiting = [unique_id]
    while waiting:
        for parent in nodes[waiting.pop()].depends_on:
            node = nodes.get(parent)
            if node is None or parent in visited:
                continue
            visited.add(parent)
            if is_stream(node):
                streams[parent] = None
            elif node.materialized == "ephemeral":
                waiting.append(parent)
    return tuple(streams)


def is_stream(node: Node) -> TypeGuard[SourceNode]:
    """Whether a node is a source that is read as a stream."""
    return isinstance(node, SourceNode) and node.config.stream is not None


def fed_by(graph: Graph, stream: str, selected: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of those of the chosen nodes that are descendants of a stream, in their order."""
    below = relatives(graph.dag.succ, [stream], inf) - {stream}
    return tuple(node for node in selected if node in below)


def check_streams(nodes: Mapping[str, Node], problems: Problems) -> None:
    """Adds what cannot work: models that keep what passes by, and models that read two streams."""
    if not any(map(is_stream, nodes_of(nodes, SourceNode))):
        return
    for node in nodes_of(nodes, ModelNode):
        if node.materialized == "ephemeral":
            continue
        streams = [nodes[stream] for stream in streams_read(nodes, node.unique_id)]
        if not streams:
            continue
        names = [stream.full_name for stream in streams]
        kind = node.materialized
        if kind in _LASTING:
            message = f"{node.name} is a {kind} and reads the stream {names[0]}"
            problems.add("stream-reader", message, node.place, _LASTING[kind])
        if node.config.batch_size is not None:
            message = f"{node.name} has `batch_size` and reads the stream {names[0]}, which has other batches"
            problems.add("stream-reader", message, node.place, "take `batch_size` out, or read a table")
        if len(names) > 1:
            message = f"{node.name} reads the streams {' and '.join(names)}: a batch holds the rows of one"
            hint = "merge each stream into a separate table, and read one of these tables"
            problems.add("stream-reader", message, node.place, hint)
