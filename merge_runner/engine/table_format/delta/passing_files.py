"""How many files of a version of a Delta table pass conditions about their partition values and statistics.

Delta writes the files of a table that has few (50 at most in 4.4.0) into the checksum of each commit. Spark evaluates
conditions over these as constants, without a job; the state of a version takes two, after a MERGE has replaced it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.jvm_util import active_session
from merge_runner.pruning.judge.file_condition import PARTITION, STATISTICS
from merge_runner.pruning.runtime_filter.bound_literal import text_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_AS_CONSTANTS = 200
"""Files that are written into a query."""
_COUNTED_HERE = 10_000
"""Answers about files that are fetched one by one."""
_NO_TEXT = "CAST(NULL AS STRING)"


def files_passing(session: SparkSession, state: Any, conditions: Sequence[str]) -> tuple[int, int]:
    """Return how many files a snapshot of Delta's has, and how many of them pass all conditions.

    The conditions are SQL over PARTITION and STATISTICS. Raises EngineError.
    """
    from pyspark.sql import DataFrame

    both = " AND ".join(f"({condition}\n)" for condition in conditions)
    with engine_errors(), active_session(session):
        files = _in_checksum(session, state)
        if files is None:
            files = DataFrame(state.allFiles().toDF(), session)
            count = state.numOfFilesIfKnown()
            if not count.isDefined() or int(count.get()) > _COUNTED_HERE:
                row = files.selectExpr("count(*)", f"count_if({both})").collect()[0]
                return int(row[0]), int(row[1])
        # Counted there they would be shuffled, by a second job that is planned by itself.
        verdicts = [bool(row[0]) for row in files.selectExpr(both).collect()]
    return len(verdicts), sum(verdicts)


def _in_checksum(session: SparkSession, state: Any) -> DataFrame | None:
    """The files that the checksum of the version names, as constants; None where it names none, or too many."""
    checksum = state.checksumOpt()
    all_files = checksum.get().allFiles() if checksum.isDefined() else None
    if all_files is None or not all_files.isDefined() or not 0 < all_files.get().size() <= _AS_CONSTANTS:
        return None
    actions = all_files.get()
    files = [json.loads(actions.apply(place).json())["add"] for place in range(actions.size())]
    rows = ",\n".join(f"({_partition(file['partitionValues'])}, {_text(file.get('stats'))})" for file in files)
    return session.sql(f"SELECT * FROM VALUES {rows} AS files({PARTITION}, {STATISTICS})")


def _partition(values: dict[str, str | None]) -> str:
    cells = ", ".join(f"{_text(name)}, {_text(value)}" for name, value in values.items())
    return f"CAST(map({cells}) AS MAP<STRING, STRING>)"


def _text(value: str | None) -> str:
    return text_literal(value) if value is not None else _NO_TEXT
