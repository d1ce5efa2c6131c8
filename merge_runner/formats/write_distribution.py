"""How the rows that a MERGE writes come to tasks: together by partition, or each task writes into every partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from merge_runner.formats import Format
from merge_runner.formats.merge_plans import Shape

_DELTA = "spark.databricks.delta.merge.repartitionBeforeWrite.enabled"
_OPTIMIZED = ("delta.autoOptimize.optimizeWrite", "spark.databricks.delta.optimizeWrite.enabled")
ICEBERG_CONF = "spark.sql.iceberg.distribution-mode"
"""Takes precedence over the properties of all Iceberg tables."""
_MERGE, _WRITE = "write.merge.distribution-mode", "write.distribution-mode"


@dataclass(frozen=True, slots=True)
class WriteDistribution:
    """What a format does with the rows of a MERGE before it writes them into a partitioned table.

    `gathered`: the rows of a partition come together. False: up to one file for each task and partition. `setting` and
    `value` decide it. tests/formats/test_write_distribution.py compares every case with the engine.
    """

    gathered: bool
    setting: str
    value: str

    @property
    def words(self) -> str:
        """The same as text, for users."""
        what = (
            "the rows of a partition are brought together before they are written"
            if self.gathered
            else "every task writes a file into each partition that it has rows of"
        )
        return f"{what} ({self.setting} = {self.value})"


def write_distribution(
    format: Format, shape: Shape, properties: Mapping[str, str], conf: Mapping[str, str]
) -> WriteDistribution:
    """Return how a MERGE of this shape into a partitioned table distributes its rows. Names of properties are exact.

    Measured on Delta 4.4.0 and Iceberg 1.12.0 (Spark 4.1.4): Iceberg's configuration key takes precedence over its
    properties; a MERGE that only inserts is an append and uses the table's own mode, every other one that of MERGE.
    """
    if format == "delta":
        table, session = _OPTIMIZED
        if (properties.get(table) or conf.get(session, "false")).lower() == "true":
            return WriteDistribution(True, table if table in properties else session, "true")
        value = conf.get(_DELTA, "true").lower()
        return WriteDistribution(value != "false", _DELTA, value)
    key = iceberg_key(shape)
    setting = ICEBERG_CONF if ICEBERG_CONF in conf else key
    value = conf.get(ICEBERG_CONF, properties.get(key, "hash")).lower()
    return WriteDistribution(value != "none", setting, value)


def iceberg_key(shape: Shape) -> str:
    """Return the property by which Iceberg distributes the rows of a MERGE of this shape."""
    return _WRITE if shape == "insert" else _MERGE
