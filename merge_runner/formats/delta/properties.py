"""Which table properties Delta refuses, and which ones it takes and never reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from merge_runner.errors import nearest
from merge_runner.formats.lines import LINES, RECOMMENDED, Line
from merge_runner.formats.properties import (
    ICEBERG_PREFIXES,
    PropertyFault,
    accepted_values,
    known_properties,
    reserved,
    value_fault,
)

INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "delta.liquid.clustering": "write the columns into the config key cluster_by",
        "delta.clustering.columns": "write the columns into the config key cluster_by",
        "delta.clusteringcolumns": "write the columns into the config key cluster_by",
        "delta.enablerowlevelconcurrency": (
            "open-source Delta has no row-level concurrency: name the partitions in ON, so that writers do not meet"
        ),
        "delta.targetfilesize": "set the conf spark.databricks.delta.optimize.maxFileSize where OPTIMIZE runs",
        "delta.tunefilesizesforrewrites": (
            "set delta.enableDeletionVectors, so that a MERGE rewrites less, or delta.autoOptimize.optimizeWrite"
        ),
        "delta.autooptimize.autooptimizeshuffle": "the conf spark.sql.adaptive.enabled does it",
        "delta.parquet.compression.codec": "set the conf spark.sql.parquet.compression.codec",
        "delta.enablepredictiveoptimization": "it is Databricks' own: run `merge-runner optimize`",
        "delta.parquet.vorder.enabled": "V-Order is Fabric's own: the config key optimize can say zorder_by",
        "delta.enableoptimizedeletewrite": "set delta.autoOptimize.optimizeWrite",
    }
)
"""Names that look real but are not in open-source Delta 4.4.0, case folded, and what to do instead."""


def property_fault(key: str, value: str, columns: Collection[str] | None, line: Line) -> PropertyFault | None:
    """Return what is wrong with a property of a table of open-source Delta on a line of Spark; None where nothing is.

    `columns` are the names of the table's columns, None where they are not all known.
    """
    if (fault := reserved(key)) is not None:
        return fault
    folded = key.lower()
    if key == "clusteringColumns":
        return PropertyFault("refused", f'Delta keeps "{key}" for itself', INSTEAD["delta.clustering.columns"])
    if not folded.startswith("delta."):
        # Other names are the author's own: "format-version" or "comment" may mean something to a reader.
        if not key.startswith(ICEBERG_PREFIXES) or accepted_values(known_properties("iceberg"), key) is None:
            return None
        return PropertyFault("dead", f'"{key}" is a property of Iceberg: Delta does not read it', _FOR.get(key))
    if folded.startswith("delta.constraints."):
        return None
    names = known_properties("delta", line)
    spellings = {name.lower(): name for name in names}
    if folded not in spellings:
        if later := _later(folded):
            message = f'Delta {line.formats["delta"]} on {line} has no property "{key}"'
            return PropertyFault("refused", message, f"leave it out, or run on {later} or newer", True)
        if hint := INSTEAD.get(folded):
            return PropertyFault("refused", f'open-source Delta does not have the property "{key}"', hint, True)
        close = nearest(folded, spellings)
        return PropertyFault(
            "refused",
            f'Delta has no property "{key}"',
            f'did you mean "{spellings[close]}"?' if close else "properties without the prefix delta. are free",
            True,
        )
    return value_fault(key, value, names[spellings[folded]], columns, "Delta")


def _later(folded: str) -> Line | None:
    """Return the first line whose Delta has a property, by its name in lower case; None where no Delta has it."""
    if folded not in {name.lower() for name in known_properties("delta", RECOMMENDED)}:
        return None
    return next(line for line in LINES.values() if folded in {name.lower() for name in known_properties("delta", line)})


_FOR: Mapping[str, str] = MappingProxyType(
    {
        "write.merge.mode": "delta.enableDeletionVectors is Delta's merge-on-read",
        "write.target-file-size-bytes": "set the conf spark.databricks.delta.optimize.maxFileSize where OPTIMIZE runs",
        "write.merge.isolation-level": "Delta is always Serializable",
    }
)
