"""What `storage_join` sets, so that a MERGE joins two Iceberg tables partition by partition, without a shuffle.

Each setting removes nodes from the plan. Measured one by one on Spark 4.1.4 and Iceberg 1.12.0, on tables partitioned
by `part` and `bucket(4, id)` and joined by both (tests/run/builds/shuffles.yml). Without GROUPING or BUCKETING both
are shuffled; without PUSH_VALUES only where one lacks partitions of the other; with ALL_KEYS as it is by default where
ON has more keys than there are partition columns. Without SORT_MERGE both are sorted; without DISTRIBUTION the rows are
shuffled before they are written, and without FANOUT, where it is set to false, sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from merge_runner.formats.presets import Preset

GROUPING = "spark.sql.iceberg.planning.preserve-data-grouping"
BUCKETING = "spark.sql.sources.v2.bucketing.enabled"
PUSH_VALUES = "spark.sql.sources.v2.bucketing.pushPartValues.enabled"
ALL_KEYS = "spark.sql.requireAllClusterKeysForCoPartition"
SORT_MERGE = "spark.sql.join.preferSortMergeJoin"
SUBSET = "spark.sql.sources.v2.bucketing.allowJoinKeysSubsetOfPartitionKeys.enabled"
COMPATIBLE = "spark.sql.sources.v2.bucketing.allowCompatibleTransforms.enabled"
ONE_SIDE = "spark.sql.sources.v2.bucketing.shuffle.enabled"
LOOSER = (SUBSET, COMPATIBLE, ONE_SIDE)
"""Not set by `storage_join`, off by default, and each useful in addition to its settings: with the first ON may leave
out partition columns, for fewer, larger groups; with the second `bucket(4, id)` joins `bucket(8, id)`; with the third a
source without such partitions is shuffled into those of the target, which is not shuffled."""

DISTRIBUTION = "write.merge.distribution-mode"
FANOUT = "write.spark.fanout.enabled"


@dataclass(frozen=True, slots=True)
class Setting:
    """A configuration key of the session. `default`: on Spark 4.1.4 and Iceberg 1.12.0; `effect`: as text."""

    key: str
    value: str
    default: str
    effect: str
    source: str


_SPARK = "apache/spark 4.1, SQLConf.scala and EnsureRequirements.scala"
_ICEBERG = "apache/iceberg 1.12.0, SparkSQLProperties.java and SparkPartitioningAwareScan.java"

SETTINGS: tuple[Setting, ...] = (
    Setting(GROUPING, "true", "false", "scans keep the files of one partition together, and report it", _ICEBERG),
    Setting(BUCKETING, "true", "true", "Spark joins by the partitions that scans report", _SPARK),
    Setting(PUSH_VALUES, "true", "true", "partitions that only one side has are no obstacle", _SPARK),
    Setting(ALL_KEYS, "false", "true", "ON may have more keys than the tables have partition columns", _SPARK),
    Setting(SORT_MERGE, "false", "true", "a hash join, which needs no sort, where one side is small enough", _SPARK),
)
"""The configuration of a storage-partitioned join, and of a join without sorts."""

_PROPERTIES: Mapping[str, str] = MappingProxyType({DISTRIBUTION: "none", FANOUT: "true"})
_OFF: Mapping[str, str] = MappingProxyType({DISTRIBUTION: "hash"})
"""The default of Iceberg for a partitioned table (SparkWriteConf, 1.12.0)."""


def storage_join(*, on: bool) -> Preset:
    """Return what enables or disables it."""
    return Preset(_PROPERTIES, {setting.key: setting.value for setting in SETTINGS}) if on else Preset(_OFF)
