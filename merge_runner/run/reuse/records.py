"""What is kept of nodes that have run, in `target/reuse.json`: from what, and what they left.

A record is true for good: with these inputs and this table, a run of this node changes nothing. So it does not matter
how old it is, who else has written the file, or whether it is there at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
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


@dataclass(frozen=True)
class Kept:
    """What is known of nodes by their ids: the records, and why the last run of others left none."""

    records: Mapping[str, Record] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)


class Records:
    """The records of a project. Safe for many threads, each of which is about another node."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _read(path)
        self._new: dict[str, Record | str] = {}

    def get(self, unique_id: str) -> Record | None:
        """Return the record of a node; None where there is none."""
        return self._known.records.get(unique_id)

    def doubt(self, unique_id: str) -> str | None:
        """Return why the last run of a node left no record; None where it is not known."""
        return self._known.doubts.get(unique_id)

    def keep(self, unique_id: str, found: Record | str) -> None:
        """Keep the record of a node, or why there is none, until `save`."""
        self._new[unique_id] = found

    def save(self) -> None:
        """Write what was kept into the file, next to what it has by now. Raises OSError."""
        if not self._new:
            return
        known = _read(self._path)
        records = {name: each for name, each in known.records.items() if name not in self._new}
        doubts = {name: each for name, each in known.doubts.items() if name not in self._new}
        for name, found in self._new.items():
            if isinstance(found, Record):
                records[name] = found
            else:
                doubts[name] = found
        entries = {name: asdict(record) for name, record in sorted(records.items())}
        document = {"format": _FORMAT, "records": entries, "doubts": dict(sorted(doubts.items()))}
        write_atomic(self._path, json.dumps(document, indent=1))


def _read(path: Path) -> Kept:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != _FORMAT:
            return Kept()
        records = {str(name): _record(entry) for name, entry in document["records"].items()}
        return Kept(records, {str(name): str(text) for name, text in document["doubts"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Kept()  # what is not readable is as good as missing


def _record(entry: Mapping[str, object]) -> Record:
    record = Record(**entry)  # type: ignore[arg-type]
    texts = (record.fingerprint, record.invocation_id, record.at, *record.inputs, *record.inputs.values())
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(entry)
    return record
