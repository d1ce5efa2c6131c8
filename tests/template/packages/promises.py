"""What each pattern of merge_patterns promises of its table, in plain Python: a function of all batches so far.

A batch is the rows of one run's source, and what its vars were. Nothing here knows SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Batch:
    """The source of one run, and its vars."""

    rows: Sequence[Row]
    vars: Mapping[str, Any] = field(default_factory=dict)


Promise = Callable[[Sequence[Batch]], list[Row]]
KEYS = ("history", "id")
COLUMNS = ("a", "b")
TIME = "seen_at"


def upsert(batches: Sequence[Batch]) -> list[Row]:
    """Each key that was ever in the source, with its values of the last batch that had it."""
    table = {_key(row): row for batch in batches for row in batch.rows}
    return list(table.values())


def scd1(batches: Sequence[Batch]) -> list[Row]:
    """Each key with the values of its largest time; of equal times those that came first count."""
    return _newest(batch.rows for batch in batches)


def late_facts(batches: Sequence[Batch]) -> list[Row]:
    """The same, of the rows whose id is in the window of their run."""
    return _newest(
        [row for row in batch.rows if batch.vars["first"] <= row["id"] < batch.vars["end"]] for batch in batches
    )


def _newest(batches: Iterable[Iterable[Row]]) -> list[Row]:
    table: dict[Key, Row] = {}
    for rows in batches:
        for row in sorted(rows, key=lambda row: (row[TIME], *_order(row)), reverse=True):
            known = table.get(_key(row))
            if known is None or row[TIME] > known[TIME]:
                table[_key(row)] = row
    return list(table.values())


def cdc(batches: Sequence[Batch]) -> list[Row]:
    """The event of each key with the largest position, whatever came when: whether it is a delete, and its values."""
    events = [row for batch in batches for row in batch.rows]
    last = {_key(row): row for row in sorted(events, key=lambda row: row["position"])}
    return [{**_without(row, "op"), "is_deleted": row["op"] == "D"} for row in last.values()]


def soft_delete(batches: Sequence[Batch]) -> list[Row]:
    """Each key with its newest values; while the newest is a delete, the values before it and the time of the delete."""
    table: dict[Key, Row] = {}
    for batch in batches:
        last = {
            _key(row): row
            for row in sorted(batch.rows, key=lambda row: (row[TIME], *_order(row), row["is_deleted"] is True))
        }
        for key, row in last.items():
            known, is_newer = table.get(key), key in table and row[TIME] > table[key][TIME]
            if row["is_deleted"] is True:
                if known is not None and known["deleted_at"] is None and row[TIME] >= known[TIME]:
                    table[key] = {**known, TIME: row[TIME], "deleted_at": row[TIME]}
            elif known is None or is_newer:
                table[key] = {**_without(row, "is_deleted"), "deleted_at": None}
    return list(table.values())


def insert_only(batches: Sequence[Batch]) -> list[Row]:
    """Each key as the first batch that had it has it first."""
    table: dict[Key, Row] = {}
    for batch in batches:
        for row in sorted(batch.rows, key=lambda row: (row[TIME], *_order(row))):
            table.setdefault(_key(row), row)
    return list(table.values())


def snapshot_partition(batches: Sequence[Batch]) -> list[Row]:
    """Each partition that a run was for has the rows that the source of the last such run had for it."""
    partitions: dict[Any, dict[Key, Row]] = {}
    for batch in batches:
        day = batch.vars["day"]
        rows = sorted((row for row in batch.rows if row["day"] == day), key=_order)
        partitions[day] = {_key(row): row for row in rows}
    return [row for rows in partitions.values() for row in rows.values()]


def accumulating_snapshot(batches: Sequence[Batch]) -> list[Row]:
    """Each key with the earliest time of each of its milestones, whatever came when."""
    table: dict[Key, Row] = {}
    for row in (row for batch in batches for row in batch.rows):
        known = table.setdefault(_key(row), dict(row))
        for name in COLUMNS:
            times = [each for each in (known[name], row[name]) if each is not None]
            known[name] = min(times, default=None)
    return list(table.values())


def scd2(batches: Sequence[Batch]) -> list[Row]:
    """Of each key its versions: every change that is newer than all before it and changes a value, up to the next."""
    versions: dict[Key, list[Row]] = {}
    for batch in batches:
        changes = {(row[TIME], _key(row)): row for row in sorted(batch.rows, key=_order)}
        for (time, key), row in sorted(changes.items(), key=lambda change: change[0]):
            known = versions.setdefault(key, [])
            values = {name: row[name] for name in (*KEYS, *COLUMNS)}
            if not known or (time > known[-1]["valid_from"] and _order(values) != _order(known[-1])):
                if known:
                    known[-1].update(valid_to=time, is_current=False)
                known.append({**values, "valid_from": time, "valid_to": None, "is_current": True})
    return [version for known in versions.values() for version in known]


def history_by_source(batches: Sequence[Batch]) -> list[Row]:
    """Of each key its versions: what the snapshots from `valid_from` on, and before `valid_to`, have of it."""
    closed: list[Row] = []
    current: dict[Key, Row] = {}
    for batch in batches:
        at, rows = batch.vars["as_of"], {_key(row): row for row in batch.rows}
        for key, version in list(current.items()):
            if key not in rows or _order(rows[key]) != _order(version):
                closed.append({**current.pop(key), "valid_to": at, "is_current": False})
        for key, row in rows.items():
            current.setdefault(key, {**row, "valid_from": at, "valid_to": None, "is_current": True})
    return [*closed, *current.values()]


def gdpr_delete(batches: Sequence[Batch]) -> list[Row]:
    """What was there at first, without the keys of any batch after it."""
    gone = {_key(row) for batch in batches[1:] for row in batch.rows}
    return [row for row in batches[0].rows if _key(row) not in gone]


def _key(row: Row) -> Key:
    return tuple(row[name] for name in KEYS)


def _order(row: Row) -> tuple[Any, ...]:
    """Its values, in an order in which nothing is less than anything."""
    return tuple((row[name] is not None, row[name]) for name in COLUMNS)


def _without(row: Row, name: str) -> Row:
    return {key: value for key, value in row.items() if key != name}
