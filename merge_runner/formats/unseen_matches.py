"""Where several source rows may match one target row and the engine neither refuses that nor does what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_MODE = "write.merge.mode"


def duplicates_rows(format: str | None, kinds: Iterable[str], properties: Mapping[str, str]) -> bool:
    """Whether a MERGE with clauses of these kinds keeps a target row once for each source row that matches it.

    An Iceberg MERGE with WHEN NOT MATCHED BY SOURCE and without WHEN MATCHED, where files are copied: Spark joins all
    rows of the touched files, looks for several matches only where a clause is about them, and copies each joined row.
    Measured on Spark 4.1.4 with Iceberg 1.12.0; merge-on-read writes nothing for such a row, and Delta refuses the
    statement (tests/oracle/test_engine_facts.py).
    """
    found = set(kinds)
    mode = properties.get(_MODE, "copy-on-write")
    unseen = "not_matched_by_source" in found and "matched" not in found
    return unseen and format == "iceberg" and mode != "merge-on-read"
