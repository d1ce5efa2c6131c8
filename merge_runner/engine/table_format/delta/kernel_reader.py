"""Reading a Delta table through Delta's Kernel, and what may be concluded from it.

To find the files of a table, Delta's usual reader runs three queries over its log, which take 0.6 s of a table of ten
rows; the Kernel reads the log by itself, and the whole query takes 0.1 s. Delta 4.4.0 has it for tests and some streams
(`spark.databricks.delta.v2.enableMode`, DeltaSQLConf.scala), so that nothing is called wrong by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.session_conf import temporary_confs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BY_KERNEL: Mapping[str, str] = {"spark.databricks.delta.v2.enableMode": "STRICT"}
"""Confs of a session that reads Delta tables so. It cannot read their change feeds."""
_T = TypeVar("_T")


def first_by_kernel(session: SparkSession, find: Callable[[], _T | None]) -> _T | None:
    """Return what `find`, which queries Delta tables, finds wrong; None: nothing.

    Where it finds nothing through the Kernel, that result is final. Where it finds something, or the Kernel cannot read
    the tables, it runs again through Delta's usual reader, which decides. Raises what `find` raises there.
    """
    try:
        with temporary_confs(session, BY_KERNEL):
            found = find()
    except EngineError:
        return find()
    return None if found is None else find()
