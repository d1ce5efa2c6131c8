"""Where the facts were read or measured first, by format."""

from __future__ import annotations

from collections.abc import Mapping

from merge_runner.formats import Format

_METADATA = "delta v4.4.0: stats/DataSkippingReader.scala, partition filters run on metadata"

MEASURED: Mapping[Format, str] = {
    "delta": "measured on Delta 4.4.0, Spark 4.1.4",
    "iceberg": "measured on Iceberg 1.12.0, Spark 4.1.4",
}
SKIPPING: Mapping[Format, str] = {
    "delta": "delta v4.4.0: stats/DataFiltersBuilder.scala, stats/DataSkippingPredicateBuilder.scala",
    "iceberg": "iceberg: SparkV2Filters, InclusiveMetricsEvaluator; measured on Iceberg 1.12.0",
}
UNWRAP: Mapping[Format, str] = {
    "delta": "spark v4.1: UnwrapCastInBinaryComparison (casts leave the column); measured on Delta 4.4.0",
    "iceberg": "spark v4.1: UnwrapCastInBinaryComparison (casts leave the column); measured on Iceberg 1.12.0",
}
PARTITION_FILTERS: Mapping[Format, str] = {"delta": _METADATA, "iceberg": SKIPPING["iceberg"]}
PARTITION_EXPRESSIONS: Mapping[Format, str] = {"delta": _METADATA, "iceberg": MEASURED["iceberg"]}
PROJECTIONS: Mapping[Format, str] = {"iceberg": "iceberg: Projections.inclusive; measured on Iceberg 1.12.0"}
CALLS: Mapping[Format, str] = {"iceberg": "iceberg: ReplaceStaticInvoke, SparkV2Filters; measured on Iceberg 1.12.0"}
METRICS: Mapping[Format, str] = {
    "iceberg": "iceberg: docs/configuration.md, write.metadata.metrics.*; measured on Iceberg 1.12.0"
}
MERGE_PLANNING: Mapping[Format, str] = {
    "delta": "delta v4.4.0: commands/merge/ClassicMergeExecutor.scala; measured",
    "iceberg": "spark v4.1: RewriteMergeIntoTable; measured on Iceberg 1.12.0",
}
