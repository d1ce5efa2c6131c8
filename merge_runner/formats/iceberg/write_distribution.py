"""How Iceberg distributes the rows that a MERGE writes (measured on 1.12.0, Spark 4.1.4)."""

from __future__ import annotations

from collections.abc import Mapping

from merge_runner.formats.write_distribution import WriteDistribution

CONF = "spark.sql.iceberg.distribution-mode"
"""Takes precedence over the properties of all Iceberg tables."""
_MERGE, _WRITE = "write.merge.distribution-mode", "write.distribution-mode"


def write_distribution(appends: bool, properties: Mapping[str, str], conf: Mapping[str, str]) -> WriteDistribution:
    """Return how a MERGE into a partitioned table distributes its rows. Names of properties are exact.

    The configuration key takes precedence over the properties; a MERGE that only inserts (`appends`) uses the table's
    own mode, every other one that of MERGE.
    """
    key = distribution_property(appends)
    setting = CONF if CONF in conf else key
    value = conf.get(CONF, properties.get(key, "hash")).lower()
    return WriteDistribution(value != "none", setting, value)


def distribution_property(appends: bool) -> str:
    """Return the property by which Iceberg distributes the rows of a MERGE."""
    return _WRITE if appends else _MERGE
