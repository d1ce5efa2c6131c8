"""The stamp that our writes carry in the table itself, by which their commits are found again.

Delta keeps it in the history's `userMetadata`, Iceberg (1.12.0, Spark 4.1) in the snapshot's summary; both take it from
confs of the writing session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from merge_runner.formats.registry import FORMATS, capabilities

_HASH = re.compile("[0-9a-f]{16}")
"""A hash of a text: any other value of a stamp is another writer's."""
FULL_REFRESH = "full_refresh"
"""The hook that takes the rows out of a branch before a full refresh (engine/tables/branch_catalog.py)."""


def stamp(invocation_id: str, node: str, text: str | None = None, batch: str | None = None) -> str:
    """The stamp of a node's statement; `text` is the hash of the text that makes the rows (graph/model_text.py).

    `batch` is the window of time that the statement is for; None: the node has no batches.
    """
    entry = {"invocation_id": invocation_id, "node": node, "text": text, "batch": batch}
    return json.dumps({"merge_runner": {key: value for key, value in entry.items() if value is not None}})


def stamp_confs(stamp: str) -> Mapping[str, str]:
    """Return the confs of a session whose commits, to tables of any format, shall carry the stamp."""
    return {capabilities(name).commit_metadata_conf: stamp for name in FORMATS}


def of_hook(stamp: str, hook: str) -> str:
    """The stamp of a hook (`pre_hook`, `post_hook`) of that node, whose commits are not the statement's."""
    return _with_entry(stamp, "hook", hook)


def of_maintenance(stamp: str, what: str) -> str:
    """The stamp of what changes no row of that node's table (`optimize`, `vacuum`), and is not the statement's."""
    return _with_entry(stamp, "maintenance", what)


@dataclass(frozen=True)
class Writer:
    """Who has written a commit: the id of the node, and which hook or maintenance (`of`); None: its own statement.

    `text` is the hash of the node's text; None: it is not known. `batch` is the window that it was written for.
    """

    node: str
    of: str | None
    invocation_id: str | None = None
    text: str | None = field(default=None, compare=False)
    batch: str | None = None


def written_by(stamp: str | None) -> Writer | None:
    """Return what a stamp says; None for no stamp and for other writers' texts."""
    try:
        entry = json.loads(stamp or "")["merge_runner"]
        node, text, of, invocation = entry["node"], entry.get("text"), entry.get("hook"), entry.get("invocation_id")
        batch = entry.get("batch")
        of = entry.get("maintenance") if of is None else of
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not isinstance(node, str) or not all(
        value is None or isinstance(value, str) for value in (of, invocation, batch)
    ):
        return None
    is_hash = isinstance(text, str) and _HASH.fullmatch(text) is not None
    return Writer(node, of, invocation, text if is_hash else None, batch)


def same_writer(stamp: str | None, other: str) -> bool:
    """Whether two stamps are of one writer: node, batch, hook or maintenance, and invocation.

    False for no stamp of ours.

    What else a stamp says does not count: one that is made again, to find a commit of an earlier attempt, may lack it.
    """
    writer = written_by(stamp)
    return writer is not None and writer == written_by(other)


def same_node(stamp: str | None, other: str) -> bool:
    """Whether the stamp of a commit is of the same node as another, of whatever invocation; False for no stamp."""
    writer, other_writer = written_by(stamp), written_by(other)
    return writer is not None and other_writer is not None and writer.node == other_writer.node


def is_of_a_statement(stamp: str | None) -> bool:
    """Whether a stamp is that of a node's own statement, whichever node's; False for other writers' texts."""
    writer = written_by(stamp)
    return writer is not None and writer.of is None


def _with_entry(stamp: str, key: str, value: str) -> str:
    document = json.loads(stamp)
    return json.dumps({"merge_runner": {**document["merge_runner"], key: value}})
