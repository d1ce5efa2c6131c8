"""What `concurrent` sets, so that writers of different rows of one file do not conflict."""

from __future__ import annotations

from merge_runner.formats import Format
from merge_runner.formats.implied import Implied
from merge_runner.formats.merge_plans import MARKING


def row_concurrency(table_format: Format, platform: str) -> Implied:
    """What switches it on where a platform (`oss`, `databricks`, `fabric`) has it.

    Databricks (runtime 14.2 and above) tells conflicts by rows where a table has deletion vectors; open-source Delta
    and Iceberg tell them by files, whatever is set.
    """
    if table_format != "delta" or platform != "databricks":
        return Implied()
    key, marks = MARKING[table_format]
    return Implied({key: marks})
