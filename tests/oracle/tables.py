"""What engines do otherwise than the oracle, as facts; and the rows of many tables, read at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from tests.oracle.expression import Row
from tests.oracle.generate import COLUMNS
from tests.oracle.merge import Merge, MultipleMatchesError, Outcome, merged, several_matches

Mode = Literal["delta", "copy-on-write", "merge-on-read"]
"""How a MERGE is run: by Delta, or by Spark on Iceberg in one of two ways."""

REFUSED = "several source rows match|MULTIPLE_SOURCE_ROW_MATCHING|MERGE_CARDINALITY_VIOLATION"
"""What a build says of a MERGE that several rows of the source match with one of the target."""
UNREAD = "Delta cannot read [^ ]+, the table that the MERGE writes, in a subquery of USING"
"""What Delta 4.4.0 refuses of sources that read the target, depending on what else is in USING."""
INTERNAL = r"\[INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND\]|Unexpected row: did not match any merge clause"
"""What Spark 4.1 raises for some MERGEs into Iceberg tables whose condition of WHEN is false by its constants; and Delta
4.4.0 into tables with deletion vectors, where ON holds for a source row next to NULLs in all columns of the target (a NULL
key and `<=>`) and no clause inserts it."""

_NULL_IN_FOLDERS = ("", "__HIVE_DEFAULT_PARTITION__")


def outcome_on(
    mode: Mode, partition: Sequence[str], merge: Merge, target: Sequence[Row], source: Sequence[Row]
) -> Outcome:
    """What the engine is to do, its own ways included. Raises MultipleMatchesError."""
    outcome = None
    if several_matches(merge, target, source):
        outcome = _of_several(mode, merge, target, source)
    outcome = outcome or merged(merge, target, source, COLUMNS)
    outcome.rows = [stored(row, mode, partition) for row in outcome.rows]
    outcome.changes = [(kind, stored(row, mode, partition)) for kind, row in outcome.changes]
    return outcome


def _of_several(mode: Mode, merge: Merge, target: Sequence[Row], source: Sequence[Row]) -> Outcome | None:
    """What engines do otherwise where several rows of the source match one of the target (test_engine_facts.py)."""
    if not merge.of("matched") and merge.of("not matched by source"):
        if mode != "merge-on-read":
            raise MultipleMatchesError  # by Delta, and by merge-runner where Iceberg would keep a row for each match
        return merged(merge, target, source, COLUMNS)
    return None


def stored(row: Row, mode: Mode, partition: Sequence[str]) -> Row:
    """The row as a table keeps it: some partition values are NULL in Delta 4.4.0, which names folders after values."""
    lost = {name: None for name in partition if mode == "delta" and row[name] in _NULL_IN_FOLDERS}
    return {**row, **lost}


def counted(rows: Iterable[Sequence[object]]) -> Counter[tuple[object, ...]]:
    """Rows without an order."""
    return Counter(tuple(row) for row in rows)


def listed(rows: Iterable[Row]) -> Counter[tuple[object, ...]]:
    """Rows of the oracle, as rows of an engine are counted."""
    return counted([row[name] for name in COLUMNS] for row in rows)


def read(session, tables: Mapping[str, str]) -> dict[str, Counter[tuple[object, ...]]]:
    """The rows of tables by name; `tables` gives what to read each from, as it stands behind FROM."""
    columns = ", ".join(COLUMNS)
    text = "\nunion all ".join(f"select '{name}' as of_table, {columns} from {given}" for name, given in tables.items())
    found: dict[str, list[Sequence[object]]] = {name: [] for name in tables}
    for name, *row in session.sql(text).collect():
        found[name].append(row)
    return {name: counted(rows) for name, rows in found.items()}
