"""What is kept of nodes that have run, in `target/reuse.json`: from what, and what they left.

A record without a doubt says: with these inputs and this table, a run of this node changes nothing. It is not believed
for more than MOST_DAYS days: should it be wrong after all, for a reason that is not known yet, the node runs again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from merge_runner.atomic import write_atomic
from merge_runner.project_file import Boundary, read_json

FILE = "reuse.json"
_FORMAT = 5
_SKEW_MINUTES = 60
"""How far ahead the clock of the machine may be on which a record was written."""
MOST_DAYS = 7
"""The age from which on a record is not believed."""


@dataclass(frozen=True)
class Record:
    """A run of a node. Without a `doubt` another one with the same inputs would do nothing.

    `inputs` are states by the name of what is stored; `target` and its `left` state are what the node wrote, None for a
    test. `version` is that of the table. `at` is when it ended (UTC, ISO 8601).
    """

    fingerprint: Mapping[str, str]
    inputs: Mapping[str, str]
    target: str | None
    left: str | None
    version: int | None
    invocation_id: str
    at: str
    doubt: str | None = None

    def is_old(self) -> bool:
        """Return whether it is not believed any more, or from the future."""
        age = datetime.now(timezone.utc) - datetime.fromisoformat(self.at)
        return not timedelta(minutes=-_SKEW_MINUTES) <= age < timedelta(days=MOST_DAYS)


class Records:
    """The records of a project. Safe for many threads, each of which is about another node."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._earlier = _read_records(path)
        self._new: dict[str, Record | None] = {}

    def get(self, unique_id: str) -> Record | None:
        """Return the record of a node; None where there is none."""
        return self._earlier.get(unique_id)

    def keep(self, unique_id: str, record: Record) -> None:
        """Keep the record of a node until `save`."""
        self._new[unique_id] = record

    def drop(self, unique_id: str) -> None:
        """Forget a node with the next `save`."""
        self._new[unique_id] = None

    def save(self) -> None:
        """Write what was kept into the file, next to what it has by now. Raises OSError."""
        if not self._new:
            return
        records = {**_read_records(self._path), **self._new}
        entries = {name: asdict(record) for name, record in sorted(records.items()) if record is not None}
        write_atomic(self._path, json.dumps({"format": _FORMAT, "records": entries}, indent=1))


def _read_records(path: Path) -> Mapping[str, Record]:
    try:
        document = read_json(path, Boundary(path.parent))
        if document["format"] != _FORMAT:
            return {}
        return {str(name): _record(entry) for name, entry in document["records"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return {}  # what is not readable is as good as missing


def _record(entry: Mapping[str, object]) -> Record:
    record = Record(**entry)  # type: ignore[arg-type]
    if type(record.version) not in (int, type(None)):
        raise TypeError(entry)
    own = (record.invocation_id, record.at, record.doubt or "", record.target or "", record.left or "")
    texts = (*own, *record.inputs, *record.fingerprint)
    if not all(isinstance(text, str) for text in (*texts, *record.inputs.values(), *record.fingerprint.values())):
        raise TypeError(entry)
    if datetime.fromisoformat(record.at).tzinfo is None:
        raise ValueError(entry)
    return record
