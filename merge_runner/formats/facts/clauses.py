"""In which places of a MERGE a condition on the target prunes, by the clauses that the MERGE has."""

from __future__ import annotations

from typing import Literal

from merge_runner.formats.facts import sources
from merge_runner.formats.facts.table import FactTable

Places = tuple[Literal["on", "when", "inferred"], ...]
"""Where a condition prunes the files of the target: `on`: in ON, by itself. `when`: in WHEN, where the clauses have
`{when}`. `inferred`: from `t.dt = s.dt` in ON and a source that is filtered to one literal `dt`; this counts only what
the main scan of the target is planned with, not a filter at run time."""

_INSERT = "when not matched then insert (id, k, dt) values (s.id, s.k, s.dt)"
_UPDATE = "when matched{when} then update set k = s.k"
_DELETE = "when matched{when} then delete"
_DELETE_FIRST = "when matched and s.k = 1{when} then delete"
_BY_SOURCE = "when not matched by source and t.id < -1{when} then delete"

CLAUSES: FactTable[str, Places] = FactTable(
    sources.MERGE_PLANNING,
    {
        "insert-only": (_INSERT, {"delta": ("on",), "iceberg": ("on", "inferred")}),
        "update": (_UPDATE, {"delta": ("on", "when"), "iceberg": ("on",)}),
        "delete": (_DELETE, {"delta": ("on", "when"), "iceberg": ("on",)}),
        "delete and update, both restricted": (
            f"{_DELETE_FIRST} {_UPDATE}",
            {"delta": ("on", "when"), "iceberg": ("on",)},
        ),
        "delete and update, one unrestricted": (f"{_DELETE_FIRST} when matched then update set k = s.k", ("on",)),
        "update, partition and data column": (
            "when matched and t.n = 5 and abs(t.id) = 100 then update set k = s.k",
            {"delta": ("on",)},
        ),
        "upsert": (f"{_UPDATE} {_INSERT}", ("on",)),
        "delete and insert": (f"{_DELETE} {_INSERT}", ("on",)),
        "update and by source": (f"{_UPDATE} {_BY_SOURCE}", ()),
        "upsert and by source": (f"{_UPDATE} {_INSERT} {_BY_SOURCE}", ()),
        "insert-only, merge-on-read": (f"small_mor: {_INSERT}", {"iceberg": ("on", "inferred")}),
        "update, merge-on-read": (f"small_mor: {_UPDATE}", {"iceberg": ("on",)}),
        "delete, merge-on-read": (f"small_mor: {_DELETE}", {"iceberg": ("on", "inferred")}),
        "delete and update, both restricted, merge-on-read": (
            f"small_mor: {_DELETE_FIRST} {_UPDATE}",
            {"iceberg": ("on",)},
        ),
        "delete and update, one unrestricted, merge-on-read": (
            f"small_mor: {_DELETE_FIRST} when matched then update set k = s.k",
            {"iceberg": ("on",)},
        ),
        "upsert, merge-on-read": (f"small_mor: {_UPDATE} {_INSERT}", {"iceberg": ("on",)}),
        "delete and insert, merge-on-read": (f"small_mor: {_DELETE} {_INSERT}", {"iceberg": ("on", "inferred")}),
        "update and by source, merge-on-read": (f"small_mor: {_UPDATE} {_BY_SOURCE}", {"iceberg": ()}),
        "upsert and by source, merge-on-read": (f"small_mor: {_UPDATE} {_INSERT} {_BY_SOURCE}", {"iceberg": ()}),
    },
    table="small",
)
"""Conditions in ON prune unless there is a BY SOURCE clause.

Delta: those in WHEN only where each clause is WHEN MATCHED and restricts the target. They are not split at AND there:
next to a condition that cannot be checked with statistics, one on a partition column does nothing. Nothing is inferred
from the source.

Iceberg: those in WHEN never do. From a filtered source Spark infers the filter of the target where no row of the target
is numbered: an insert-only MERGE, and merge-on-read a single unconditional WHEN MATCHED DELETE.
"""
