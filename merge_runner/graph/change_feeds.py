"""`changes('model')`: which model reads the changes of which table, and what that asks of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from merge_runner.errors import Problems
from merge_runner.formats.registry import capabilities
from merge_runner.graph.graph import ModelNode, Node, RefNode
from merge_runner.template.capture import Ref

_NO_TABLES = ("view", "ephemeral")


def with_feeds(
    nodes: Mapping[str, Node], calls: Mapping[str, Sequence[Ref]], refs: Mapping[str, str], problems: Problems
) -> dict[str, Node]:
    """The nodes, each reader with the node whose changes it reads, and each table that is read with its feed on.

    `calls` are the `changes(…)` of each node, `refs` the ids of what they name. What cannot be read is a problem at its
    call: the reader is a MERGE, since its commit keeps what was consumed; the other a Delta table of this project.
    """
    with_feed = dict(nodes)
    for unique_id, changes in calls.items():
        first = next(iter(changes), None)
        reader = nodes.get(unique_id)
        parent = nodes.get(refs.get(first.name, "")) if first is not None else None
        if first is None or reader is None or not isinstance(parent, RefNode):
            continue  # what does not exist is a problem already
        refused = _refused_reader(reader) or _refused_parent(parent) or _refused_pair(reader, parent)
        if refused is not None:
            problems.add("changes-refused", refused[0], first.place, refused[1])
            continue
        for call in changes:
            if call.name != first.name:
                message = f"{reader.name} reads the changes of {first.name} already, and a MERGE can keep one position"
                problems.add("changes-twice", message, call.place, "make a separate model for each, or use ref()")
        model = with_feed[unique_id]
        assert isinstance(model, ModelNode)  # others are refused
        with_feed[unique_id] = replace(model, changes_of=parent.unique_id)
        if (feed := _feed(parent)) is not None:
            for writer in _writers(with_feed, parent):
                with_feed[writer.unique_id] = _with_feed(writer, feed)
    return with_feed


def _refused_reader(node: Node) -> tuple[str, str] | None:
    """Why a node cannot read changes, and what to do."""
    if isinstance(node, ModelNode) and node.config.batch_size is not None:
        return (
            f"{node.name} has `batch_size`, and a change feed has no windows of time",
            "read the table by ref(), with a filter by `batch.start` and `batch.end`, or take `batch_size` out",
        )
    if node.materialized == "merge":
        return None
    kind = f"{node.materialized} model" if isinstance(node, ModelNode) else node.resource_type
    return (
        f"{node.name} is a {kind}, and only a MERGE can say in its own commit which changes it has consumed",
        "call changes() in a merge model, or read the table itself with ref()",
    )


def _refused_parent(node: RefNode) -> tuple[str, str] | None:
    """Why the changes of a node cannot be read, and what to do."""
    if node.materialized in _NO_TABLES:
        return (
            f"{node.name} is materialized as {node.materialized}: it has no commits to read changes from",
            "read it with ref()",
        )
    feed = _feed(node)
    if feed is None:
        return (
            f"{node.name} is a table of the format {node.config.format}: only Delta keeps the rows of a change",
            "read it with ref(), or make it a Delta table",
        )
    own = {key.casefold(): value for key, value in node.config.properties.items()}
    if own.get(feed.casefold(), "true").casefold() != "true":
        return f"{node.name} sets {feed} to {own[feed.casefold()]}", "take the property away: changes() sets it"
    return None


def _feed(node: RefNode) -> str | None:
    """The property by which the table of a node keeps the rows that its commits change; None where none does."""
    return capabilities(node.config.format).change_feed_property


def _refused_pair(reader: Node, parent: Node) -> tuple[str, str] | None:
    if reader.relation is None or parent.relation is None or _table(reader) != _table(parent):
        return None
    return (
        f"{reader.name} and {parent.name} write one table: its changes would be those of {reader.name} as well",
        "read the changes of another table",
    )


def _writers(nodes: Mapping[str, Node], parent: RefNode) -> list[RefNode]:
    """The nodes that write a table: whichever creates it has to switch its feed on."""
    tables = [node for node in nodes.values() if isinstance(node, RefNode) and node.materialized not in _NO_TABLES]
    return [
        node
        for node in tables
        if node.unique_id == parent.unique_id or (node.relation is not None and _table(node) == _table(parent))
    ]


def _with_feed(node: RefNode, feed: str) -> RefNode:
    properties = node.config.properties
    if any(key.casefold() == feed.casefold() for key in properties):
        return node
    return replace(node, config=replace(node.config, properties={feed: "true", **properties}))


def _table(node: Node) -> str:
    return node.relation.name.casefold() if node.relation is not None else ""
