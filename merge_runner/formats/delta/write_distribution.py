"""How Delta distributes the rows that a MERGE writes (measured on 4.4.0, Spark 4.1.4)."""

from __future__ import annotations

from collections.abc import Mapping

from merge_runner.formats.write_distribution import WriteDistribution

_REPARTITION = "spark.databricks.delta.merge.repartitionBeforeWrite.enabled"
_OPTIMIZED = ("delta.autoOptimize.optimizeWrite", "spark.databricks.delta.optimizeWrite.enabled")


def write_distribution(_appends: bool, properties: Mapping[str, str], conf: Mapping[str, str]) -> WriteDistribution:
    """Return how a MERGE into a partitioned table distributes its rows. Names of properties are exact."""
    table, session = _OPTIMIZED
    if (properties.get(table) or conf.get(session, "false")).lower() == "true":
        return WriteDistribution(True, table if table in properties else session, "true")
    value = conf.get(_REPARTITION, "true").lower()
    return WriteDistribution(value != "false", _REPARTITION, value)
