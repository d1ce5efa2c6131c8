"""The facts of Delta (open source, 4.4.0; keys of other platforms where they have their own Delta)."""

from __future__ import annotations

import re
from types import MappingProxyType

from merge_runner.formats.capabilities import DAY, Capabilities, Marking, Retention, StatisticsProperties

_UNITS = {
    "week": 7 * DAY,
    "day": DAY,
    "hour": 3600.0,
    "minute": 60.0,
    "second": 1.0,
    "millisecond": 1e-3,
    "microsecond": 1e-6,
}
_PART = re.compile(rf"\s*(\d+)\s+({'|'.join(_UNITS)})s?\b", re.IGNORECASE)


def _interval(text: str) -> float | None:
    """Return the seconds of a Delta interval: `interval 3 days`, `1 week 12 hours`; Delta refuses months and years."""
    units = re.sub(r"\A\s*interval\b", "", text, flags=re.IGNORECASE)
    total, position = 0.0, 0
    while part := _PART.match(units, position):
        total += int(part[1]) * _UNITS[part[2].lower()]
        position = part.end()
    return total if position and not units[position:].strip() else None


DELTA = Capabilities(
    name="delta",
    label="Delta",
    marking=Marking("delta.enableDeletionVectors", marks="true", copies="false"),
    # DeltaConfigs.TOMBSTONE_RETENTION.
    retention=Retention("delta.deletedFileRetentionDuration", 7 * DAY, _interval),
    # The history's `userMetadata`.
    commit_metadata_conf="spark.databricks.delta.commitInfo.userMetadata",
    by_source_scan="Delta reads and rewrites every file of the target",
    schema_evolution_conf="spark.databricks.delta.schema.autoMerge.enabled",
    change_feed_property="delta.enableChangeDataFeed",
    # Off by default (DELTA_CHANGELOG_V2_ENABLED), and of a table with row tracking alone.
    changes_conf="spark.databricks.delta.changelogV2.enabled",
    statistics_properties=StatisticsProperties(
        columns="delta.dataskippingstatscolumns", count="delta.dataskippingnumindexedcols"
    ),
    # `fabric` includes Synapse.
    low_shuffle_confs=MappingProxyType(
        {
            "databricks": "spark.databricks.delta.merge.enableLowShuffle",
            "fabric": "spark.microsoft.delta.merge.lowShuffle.enabled",
        }
    ),
    # Databricks from runtime 14.2 on.
    row_level_concurrency=frozenset({"databricks"}),
    artifacts=("delta-spark", "delta-core"),
    main_class="org.apache.spark.sql.delta.DeltaLog",
    # Photon's dynamic file pruning (docs.databricks.com, Dynamic file pruning; not measured).
    may_skip_by_join=frozenset({"databricks"}),
    generated_columns=True,
    liquid_clustering=True,
    when_conditions_prune=True,
    conflicts_with_source_reads=True,
    leaves_subqueries_unread=True,
    keeps_batches=True,
    shallow_clone=True,
    counts_files_by_query=True,
    plans_false=True,
    writes_through_views=True,
    # `operationParameters` of a commit.
    logs_conditions=True,
    conflicts_by_partition=True,
    # DELTA_NON_PARTITION_COLUMN_REFERENCE, DELTA_ZORDERING_ON_PARTITION_COLUMN.
    compacts_by_partition=True,
)
