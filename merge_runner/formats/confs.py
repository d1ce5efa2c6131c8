"""The configuration keys that Spark 4.1, open-source Delta and Iceberg define, and those of other platforms only."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from merge_runner.errors import nearest
from merge_runner.formats.properties import known_properties

Status = Literal["known", "static", "launch", "removed", "unknown", "foreign"]
"""`static`, `launch`: known, but a running session refuses to set it; `removed`: an older Spark had it; `foreign`:
outside the prefixes whose keys are all known here."""

_PREFIXES = ("spark.sql.", "spark.databricks.", "spark.microsoft.")
_OPEN = (
    "spark.sql.catalog.",  # a catalog reads its own options
    "spark.sql.streaming.stateStore.rocksdb.",  # RocksDBConf reads the map of confs, and registers no entry
)
DEFAULTS = "spark.databricks.delta.properties.defaults."
"""The prefix of Delta table properties that new tables get (DeltaConfigs.mergeGlobalConfigs)."""

INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "spark.microsoft.delta.merge.lowShuffle.enabled": "set the table property delta.enableDeletionVectors",
        "spark.databricks.delta.merge.enableLowShuffle": "set the table property delta.enableDeletionVectors",
        "spark.databricks.delta.merge.lowShuffle.enabled": "set the table property delta.enableDeletionVectors",
        "spark.databricks.delta.merge.maxInsertCount": (
            "spark.databricks.delta.merge.repartitionBeforeWrite.enabled keeps inserts in few files"
        ),
        "spark.microsoft.delta.optimizeWrite.enabled": "use spark.databricks.delta.optimizeWrite.enabled",
        "spark.microsoft.delta.optimizeWrite.binSize": "use spark.databricks.delta.optimizeWrite.binSize",
        "spark.databricks.delta.rowLevelConcurrencyPreview": (
            "open-source Delta has no row-level concurrency: name the partitions in ON, so that writers do not meet"
        ),
        "spark.databricks.optimizer.dynamicFilePruning": (
            "open-source Delta prunes no files by a join: the config key bounds does it"
        ),
        "spark.databricks.optimizer.dynamicPartitionPruning": (
            "use spark.sql.optimizer.dynamicPartitionPruning.enabled; a MERGE on Delta needs the config key bounds"
        ),
        "spark.databricks.adaptive.autoOptimizeShuffle.enabled": "use spark.sql.adaptive.coalescePartitions.enabled",
        "spark.databricks.io.cache.enabled": "the disk cache is Databricks' own: leave it out",
        "spark.databricks.photon.enabled": "Photon is Databricks' own: leave it out",
        "spark.sql.parquet.vorder.enabled": "V-Order is Fabric's own: the config key optimize can say zorder_by",
        "spark.sql.parquet.vorder.default": "V-Order is Fabric's own: the config key optimize can say zorder_by",
    }
)
"""Keys of other platforms that open source does not read, and what does the same there."""


@cache
def known_confs() -> Mapping[str, str]:
    """Return every key that this Spark, Delta and Iceberg define, with its mark: `static`, `launch`, `removed` or none.

    A key that ends in a dot is a prefix.
    """
    text = files("merge_runner.formats").joinpath("confs.txt").read_text(encoding="utf-8")
    rows = (line.partition(" ") for line in text.splitlines() if not line.startswith("#"))
    return MappingProxyType({key: mark for key, _, mark in rows})


def status(key: str) -> Status:
    """Return how this Spark treats a key. Keys are case-sensitive, names of default properties are not."""
    if key.startswith(DEFAULTS):
        names = {name.lower() for name in known_properties("delta")}
        return "known" if f"delta.{key.removeprefix(DEFAULTS)}".lower() in names else "unknown"
    mark = known_confs().get(key)
    if mark is not None:
        return _STATUS[mark]
    if not key.startswith(_PREFIXES) or key.startswith(_OPEN):
        return "foreign"
    return "known" if any(prefix.endswith(".") and key.startswith(prefix) for prefix in known_confs()) else "unknown"


_STATUS: Mapping[str, Status] = {"": "known", "static": "static", "launch": "launch", "removed": "removed"}


def replacement_for(key: str) -> str | None:
    """Return what to set instead of a key that nothing reads: its replacement, or the known key that is closest."""
    if key in INSTEAD:
        return INSTEAD[key]
    folded = key.lower()
    same = next((conf for conf in known_confs() if conf.lower() == folded), None)
    if same is None and key.startswith(DEFAULTS):
        properties = {name.removeprefix("delta."): name for name in known_properties("delta")}
        close = nearest(key.removeprefix(DEFAULTS), properties)
        same = DEFAULTS + close if close else None
    elif same is None:
        same = nearest(
            key, [conf for conf, mark in known_confs().items() if mark != "removed" and not conf.endswith(".")]
        )
    return f'did you mean "{same}"?' if same else None
