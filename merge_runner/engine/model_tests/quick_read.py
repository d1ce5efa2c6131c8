"""Reading small tables faster, and what may be concluded from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import temporary_confs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_T = TypeVar("_T")


def first_found(session: SparkSession, confs: Mapping[str, str], find: Callable[[], _T | None]) -> _T | None:
    """Return what `find`, which queries tables, finds wrong; None: nothing.

    `confs` are the `quick_read_confs` of their format. Where it finds nothing with them, that result is final. Where it
    finds something, or the tables cannot be read so, it runs again without them, which decides. Raises what `find`
    raises there.
    """
    if not confs:
        return find()
    try:
        with temporary_confs(session, confs):
            problem = find()
    except EngineError:
        return find()
    return None if problem is None else find()
