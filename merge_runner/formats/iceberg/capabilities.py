"""The facts of Iceberg (1.12.0, on Spark 4.1)."""

from __future__ import annotations

from merge_runner.formats.capabilities import DAY, Capabilities, Marking, Retention

SUMMARY_KEY = "merge-runner"
"""The property of a snapshot's summary that carries the stamp of our writes."""


def _milliseconds(text: str) -> float | None:
    return int(text) / 1000 if text.strip().isascii() and text.strip().isdigit() else None


ICEBERG = Capabilities(
    name="iceberg",
    label="Iceberg",
    marking=Marking("write.merge.mode", marks="merge-on-read", copies="copy-on-write"),
    # TableProperties.MAX_SNAPSHOT_AGE_MS.
    retention=Retention("history.expire.max-snapshot-age-ms", 5 * DAY, _milliseconds),
    commit_metadata_conf=f"spark.sql.iceberg.snapshot-property.{SUMMARY_KEY}",
    by_source_scan="Iceberg pushes nothing to the scan: every file is read, and every concurrent commit conflicts",
    # Spark plans an append then (AppendData), whose commit validates nothing.
    appends_conflict=False,
    catalog_class="org.apache.iceberg.spark.SparkCatalog",
    # A longer list counts as one that may match every file: IN_PREDICATE_LIMIT of InclusiveMetricsEvaluator.
    most_listed=200,
    artifacts=("iceberg-spark-runtime",),
    least_java=17,  # the class files of 1.11.0 and 1.12.0, also of the build for Spark 3.5
    main_class="org.apache.iceberg.spark.SparkCatalog",
    has_branches=True,
    replaced_keeps_properties=True,
    partition_transforms=True,
    sort_order=True,
    storage_partitioned_join=True,
    infers_through_join=True,
    duplicates_unmatched_rows=True,
    evolution_widens=True,
    evolves_while_analysed=True,
)
