"""Where the facts were read or measured first, by format."""

from __future__ import annotations

from collections.abc import Mapping

from merge_runner.formats import Format

SKIPPING: Mapping[Format, str] = {
    "delta": "delta v4.4.0: stats/DataFiltersBuilder.scala, stats/DataSkippingPredicateBuilder.scala",
    "iceberg": "iceberg: SparkV2Filters, InclusiveMetricsEvaluator; measured on Iceberg 1.12.0",
}
UNWRAP: Mapping[Format, str] = {
    "delta": "spark v4.1: UnwrapCastInBinaryComparison (casts leave the column); measured on Delta 4.4.0",
    "iceberg": "spark v4.1: UnwrapCastInBinaryComparison (casts leave the column); measured on Iceberg 1.12.0",
}
PARTITION_FILTERS: Mapping[Format, str] = {
    "delta": "delta v4.4.0: stats/DataSkippingReader.scala, partition filters run on metadata",
    "iceberg": SKIPPING["iceberg"],
}
PROJECTIONS: Mapping[Format, str] = {"iceberg": "iceberg: Projections.inclusive; measured on Iceberg 1.12.0"}
