"""What is kept of nodes that have run, in `target/reuse.json`: from what, and what they left.

A record is true for good: with these inputs and this table, a run of this node changes nothing. So it does not matter
how old it is, who else has written the file, or whether it is there at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from merge_runner.atomic import write_atomic

FILE = "reuse.json"
_FORMAT = 1


@dataclass(frozen=True)
class Record:
    """A run of a node after which another one would do nothing.

    `inputs` are states by the name of what is stored; `target` and its `left` state are what the node wrote, None for a
    test. `version` is that of the table. `at` is when it ended (UTC, ISO 8601).
    """

    fingerprint: str
    inputs: Mapping[str, str]
    target: str | None
    left: str | None
    version: int | None
    invocation_id: str
    at: str


class Records:
    """The records of a project's nodes, by their ids."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _read(path)
        self._new: dict[str, Record] = {}

    def get(self, unique_id: str) -> Record | None:
        """Return the record of a node; None where there is none."""
        return self._new.get(unique_id) or self._known.get(unique_id)

    def keep(self, unique_id: str, record: Record) -> None:
        """Keep a record until `save`. Safe for many threads."""
        self._new[unique_id] = record

    def save(self) -> None:
        """Write what was kept into the file, next to what it has by now. Raises OSError."""
        if self._new:
            nodes = {**_read(self._path), **self._new}
            document = {"format": _FORMAT, "nodes": {name: asdict(record) for name, record in sorted(nodes.items())}}
            write_atomic(self._path, json.dumps(document, indent=1))


def _read(path: Path) -> dict[str, Record]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != _FORMAT:
            return {}
        return {str(name): _record(entry) for name, entry in document["nodes"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # what is not readable is as good as missing


def _record(entry: Mapping[str, object]) -> Record:
    record = Record(**entry)  # type: ignore[arg-type]
    texts = (record.fingerprint, record.invocation_id, record.at, *record.inputs, *record.inputs.values())
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(entry)
    return record
