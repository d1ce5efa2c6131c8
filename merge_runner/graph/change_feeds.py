"""`changes('model')`: which model reads the changes of which table, and what that asks of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from merge_runner.errors import Problems
from merge_runner.formats.registry import capabilities, table_format_of
from merge_runner.graph.graph import Node
from merge_runner.template.captured import Ref

_NO_TABLES = ("view", "ephemeral")


def with_feeds(
    nodes: Mapping[str, Node], calls: Mapping[str, Sequence[Ref]], refs: Mapping[str, str], problems: Problems
) -> dict[str, Node]:
    """The nodes, each reader with the node whose changes it reads, and each table that is read with its feed on.

    `calls` are the `changes(…)` of each node, `refs` the ids of what they name. What cannot be read is a problem at its
    call: the reader is a MERGE, since its commit keeps what was consumed; the other a Delta table of this project.
    """
    found = dict(nodes)
    for unique_id, changes in calls.items():
        first = next(iter(changes), None)
        reader = nodes.get(unique_id)
        parent = nodes.get(refs.get(first.name, "")) if first is not None else None
        if first is None or reader is None or parent is None:
            continue  # what does not exist is a problem already
        refused = _refused_reader(reader) or _refused_parent(parent) or _refused_pair(reader, parent)
        if refused is not None:
            problems.add("changes-refused", refused[0], first.place, refused[1])
            continue
        for other in changes:
            if other.name != first.name:
                message = f"{reader.name} reads the changes of {first.name} already, and a MERGE can keep one position"
                problems.add("changes-twice", message, other.place, "make a separate model for each, or use ref()")
        found[unique_id] = replace(found[unique_id], changes_of=parent.unique_id)
        if (feed := _feed(parent)) is not None:
            for writer in _writers(nodes, parent):
                found[writer.unique_id] = _with_feed(found[writer.unique_id], feed)
    return found


def _refused_reader(node: Node) -> tuple[str, str] | None:
    """Why a node cannot read changes, and what to do."""
    if node.resource_type == "model" and node.config.get("materialized") == "merge":
        return None
    kind = node.resource_type if node.resource_type != "model" else f"{node.config.get('materialized')} model"
    return (
        f"{node.name} is a {kind}, and only a MERGE can say in its own commit which changes it has consumed",
        "call changes() in a merge model, or read the table itself with ref()",
    )


def _refused_parent(node: Node) -> tuple[str, str] | None:
    """Why the changes of a node cannot be read, and what to do."""
    kind = node.config.get("materialized")
    if kind in _NO_TABLES:
        return f"{node.name} is materialized as {kind}: it has no commits to read changes from", "read it with ref()"
    feed = _feed(node)
    if feed is None:
        return (
            f"{node.name} is a table of the format {node.config.get('format')}: only Delta keeps the rows of a change",
            "read it with ref(), or make it a Delta table",
        )
    own = {str(key).casefold(): str(value) for key, value in (node.config.get("properties") or {}).items()}
    if own.get(feed.casefold(), "true").casefold() != "true":
        return f"{node.name} sets {feed} to {own[feed.casefold()]}", "take the property away: changes() sets it"
    return None


def _feed(node: Node) -> str | None:
    """The property by which the table of a node keeps the rows that its commits change; None where none does."""
    format = table_format_of(node.config.get("format"))
    return capabilities(format).change_feed_property if format is not None else None


def _refused_pair(reader: Node, parent: Node) -> tuple[str, str] | None:
    if reader.relation is None or parent.relation is None or _table(reader) != _table(parent):
        return None
    return (
        f"{reader.name} and {parent.name} write one table: its changes would be those of {reader.name} as well",
        "read the changes of another table",
    )


def _writers(nodes: Mapping[str, Node], parent: Node) -> Iterator[Node]:
    """The nodes that write a table: whichever creates it has to switch its feed on."""
    for node in nodes.values():
        is_table = node.resource_type in ("model", "seed") and node.config.get("materialized") not in _NO_TABLES
        if node is parent or (is_table and node.relation is not None and _table(node) == _table(parent)):
            yield node


def _with_feed(node: Node, feed: str) -> Node:
    properties = node.config.get("properties") or {}
    if any(str(key).casefold() == feed.casefold() for key in properties):
        return node
    return replace(node, config={**node.config, "properties": {feed: "true", **properties}})


def _table(node: Node) -> str:
    return node.relation.name.casefold() if node.relation is not None else ""
