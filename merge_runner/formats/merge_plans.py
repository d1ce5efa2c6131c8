"""How the engines run a MERGE: which joins and phases, and what they write, by its clauses and table properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from merge_runner.formats import Format
from merge_runner.formats.registry import capabilities

Shape = Literal["insert", "matched", "upsert", "by-source", "by-source-insert"]
"""Which clauses there are: INSERT alone; MATCHED alone; both; BY SOURCE with or without MATCHED; and INSERT as well."""

Join = Literal["inner", "left outer", "right outer", "full outer", "left anti"]

_DELTA = "delta-io/delta v4.4.0, commands/merge/ClassicMergeExecutor.scala and InsertOnlyMergeExecutor.scala"
_ICEBERG = "apache/spark 4.1, catalyst/analysis/RewriteMergeIntoTable.scala"


@dataclass(frozen=True, slots=True)
class MergePlan:
    """How a format runs a MERGE of a shape. `marks`: the table marks its old rows (`Capabilities.marking`).

    `find` is the join that finds the touched files, None where there is no such pass; `write` is the join whose rows
    are written. Sides are the engine's: Delta has the source on the left, Iceberg the target. `words` is for users.
    tests/formats/test_merge_plans.py compares every row with the engine.
    """

    format: Format
    shape: Shape
    marks: bool
    find: Join | None
    write: Join
    words: str
    source: str


_APPENDS = "one left anti join finds the new rows; appends only, rewrites nothing"
_DELTA_FINDS = "an inner join finds the touched files, then "
_DELTA_ALL = "a right outer join reads every file of the target, then "
_COPIES = "rewrites them as a whole"
_COPIES_ALL = "rewrites all of them"
_VECTORS = "writes the changed rows alone, and one more pass marks the old ones in deletion vectors"
_KEYS = "a pass over the keys finds the files with matches, then "
_POSITIONS = "writes the changed rows alone, and delete files mark the old ones"

PLANS: tuple[MergePlan, ...] = (
    *(MergePlan("delta", "insert", marks, None, "left anti", _APPENDS, _DELTA) for marks in (False, True)),
    MergePlan("delta", "matched", False, "inner", "right outer", f"{_DELTA_FINDS}a right outer join {_COPIES}", _DELTA),
    MergePlan("delta", "matched", True, "inner", "inner", f"{_DELTA_FINDS}another {_VECTORS}", _DELTA),
    MergePlan("delta", "upsert", False, "inner", "full outer", f"{_DELTA_FINDS}a full outer join {_COPIES}", _DELTA),
    MergePlan("delta", "upsert", True, "inner", "left outer", f"{_DELTA_FINDS}a left outer join {_VECTORS}", _DELTA),
    *(
        MergePlan(
            "delta", shape, False, "right outer", "full outer", f"{_DELTA_ALL}a full outer join {_COPIES_ALL}", _DELTA
        )
        for shape in ("by-source", "by-source-insert")
    ),
    MergePlan("delta", "by-source", True, "right outer", "right outer", f"{_DELTA_ALL}another {_VECTORS}", _DELTA),
    MergePlan(
        *("delta", "by-source-insert", True, "right outer", "full outer"),
        f"{_DELTA_ALL}a full outer join {_VECTORS}",
        _DELTA,
    ),
    *(MergePlan("iceberg", "insert", marks, None, "left anti", _APPENDS, _ICEBERG) for marks in (False, True)),
    MergePlan("iceberg", "matched", False, None, "left outer", f"{_KEYS}a left outer join {_COPIES}", _ICEBERG),
    MergePlan("iceberg", "matched", True, None, "inner", f"one inner join {_POSITIONS}", _ICEBERG),
    MergePlan("iceberg", "upsert", False, None, "full outer", f"{_KEYS}a full outer join {_COPIES}", _ICEBERG),
    MergePlan("iceberg", "upsert", True, None, "right outer", f"one right outer join {_POSITIONS}", _ICEBERG),
    MergePlan(
        *("iceberg", "by-source", False, None, "left outer"),
        "one left outer join reads every file of the target and rewrites all of them",
        _ICEBERG,
    ),
    MergePlan(
        *("iceberg", "by-source-insert", False, None, "full outer"),
        "one full outer join reads every file of the target and rewrites all of them",
        _ICEBERG,
    ),
    MergePlan("iceberg", "by-source", True, None, "left outer", f"one left outer join {_POSITIONS}", _ICEBERG),
    MergePlan("iceberg", "by-source-insert", True, None, "full outer", f"one full outer join {_POSITIONS}", _ICEBERG),
)


def merge_plan(format: Format, shape: Shape, properties: Mapping[str, str]) -> MergePlan:
    """Return the plan of a MERGE of this shape into a table with these properties."""
    marking = marks(format, properties)
    return next(plan for plan in PLANS if (plan.format, plan.shape, plan.marks) == (format, shape, marking))


def marks(format: Format, properties: Mapping[str, str]) -> bool:
    """Return whether a MERGE into a table with these properties, whose names ignore case, marks its old rows."""
    marking = capabilities(format).marking
    name = marking.property.lower()
    return any(key.lower() == name and value.lower() == marking.marks for key, value in properties.items())


def duplicates_rows(format: Format | None, kinds: Iterable[str], properties: Mapping[str, str]) -> bool:
    """Return whether a MERGE with clauses of these kinds keeps a target row once for each source row that matches it.

    An Iceberg MERGE with WHEN NOT MATCHED BY SOURCE and without WHEN MATCHED, with copy-on-write: Spark joins all rows
    of the touched files, checks for ambiguous matches only where a clause is about matched rows, and copies each joined
    row. Measured on Spark 4.1.4 with Iceberg 1.12.0; merge-on-read writes nothing for such a row, and Delta refuses the
    statement (tests/oracle/test_engine_facts.py).
    """
    if format is None or not capabilities(format).duplicates_unmatched_rows:
        return False
    clause_kinds = set(kinds)
    marking = capabilities(format).marking
    # RowLevelOperationMode.fromName compares the value without case; names of Iceberg's properties have one.
    copies = properties.get(marking.property, marking.copies).lower() != marking.marks
    return copies and "not_matched_by_source" in clause_kinds and "matched" not in clause_kinds


_PHASES = (
    ("MERGE operation - materialize source", "source"),
    ("MERGE operation - scanning files for matches", "scan"),
    ("MERGE operation - Rewriting", "rewrite"),
    ("MERGE operation - writing", "rewrite"),
    ("Compute snapshot for version", "read log"),
)
"""Text in the description of a Delta job, and its phase (ClassicMergeExecutor, InsertOnlyMergeExecutor,
MergeIntoCommandBase and Snapshot of delta-spark 4.4.0). A commit itself runs no job."""


def phase(description: str) -> str | None:
    """Return the phase of a MERGE that a job belongs to, by how Delta describes it; None where it names none.

    An Iceberg MERGE is one plan, whose jobs have no names.
    """
    return next((name for text, name in _PHASES if text in description), None)
