"""The table properties of Delta and Iceberg: which ones a format refuses, and which ones it takes and never reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from merge_runner.errors import nearest
from merge_runner.formats import Format


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a property. `refused`: CREATE TABLE or the first MERGE fails; `dead`: nothing reads it.

    `message` is one sentence without a full stop that names the property, `hint` says what to do.
    """

    kind: Literal["refused", "dead"]
    message: str
    hint: str | None = None
    unknown: bool = False
    """It is refused for its name."""


RESERVED: Mapping[str, str] = MappingProxyType(
    {
        "provider": 'the config key is "format"',
        "location": "the table lies in the warehouse, or where its catalog puts it",
        "owner": "Spark sets it to the user that runs",
        "external": "leave it out",
        "is_managed_location": "leave it out",
    }
)
"""Refused for every format, spelled exactly so (UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY, Spark 4.1.4)."""

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

_DEAD_PREFIXES = ("write.", "read.", "commit.", "history.")
"""The prefixes of Iceberg's own names: nothing reads another name that begins so."""

_YEARS = re.compile(r"\b(month|year)s?\b", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+\Z", re.ASCII)
_AT_LEAST = re.compile(r"int>=(-?\d+)\Z")


@cache
def known(name: Format) -> Mapping[str, str]:
    """Return all properties of a format by name, and what values they take.

    `boolean`, `interval` (of days and less), `int`, `int>=N`, `a|b`, `columns`, `feature` (supported, enabled), `text`
    (not looked at), `computed` (never set by hand), `reserved` (dropped silently). A name that ends in a dot is
    followed by a column.
    """
    text = files("merge_runner.formats").joinpath(f"{name}_properties.txt").read_text(encoding="utf-8")
    rows = (line.partition(" ") for line in text.splitlines() if not line.startswith("#"))
    return MappingProxyType({key: values for key, _, values in rows})


def fault(name: Format, key: str, value: str, columns: Collection[str] | None = None) -> Fault | None:
    """Return what is wrong with a property of a table of open-source Delta or Iceberg; None where nothing is.

    `columns` are the names of the table's columns, None where they are not all known.
    """
    if key in RESERVED:
        return Fault("refused", f'Spark reserves the property "{key}"', RESERVED[key])
    return _delta(key, value, columns) if name == "delta" else _iceberg(key, value, columns)


def _delta(key: str, value: str, columns: Collection[str] | None) -> Fault | None:
    folded = key.lower()
    if key == "clusteringColumns":
        return Fault("refused", f'Delta keeps "{key}" for itself', INSTEAD["delta.clustering.columns"])
    if not folded.startswith("delta."):
        # Other names are the author's own: "format-version" or "comment" may mean something to a reader.
        if not key.startswith(_DEAD_PREFIXES) or _takes(known("iceberg"), key) is None:
            return None
        return Fault("dead", f'"{key}" is a property of Iceberg: Delta does not read it', _DELTA_FOR.get(key))
    if folded.startswith("delta.constraints."):
        return None
    written = {name.lower(): name for name in known("delta")}
    if folded not in written:
        if hint := INSTEAD.get(folded):
            return Fault("refused", f'open-source Delta does not have the property "{key}"', hint, True)
        close = nearest(folded, written)
        return Fault(
            "refused",
            f'Delta has no property "{key}"',
            f'did you mean "{written[close]}"?' if close else "properties without the prefix delta. are free",
            True,
        )
    return _value(key, value, known("delta")[written[folded]], columns, "Delta")


_DELTA_FOR: Mapping[str, str] = MappingProxyType(
    {
        "write.merge.mode": "delta.enableDeletionVectors is Delta's merge-on-read",
        "write.target-file-size-bytes": "set the conf spark.databricks.delta.optimize.maxFileSize where OPTIMIZE runs",
        "write.merge.isolation-level": "Delta is always Serializable",
    }
)


def _iceberg(key: str, value: str, columns: Collection[str] | None) -> Fault | None:
    names = known("iceberg")
    takes = _takes(names, key)
    if takes == "reserved":
        return Fault("dead", f'Iceberg sets "{key}" itself and drops what is written', "leave it out")
    if takes is not None:
        prefix = next((name for name in names if name.endswith(".") and key.startswith(name)), "")
        return _value(key, key.removeprefix(prefix) if takes == "columns" else value, takes, columns, "Iceberg")
    folded = key.lower()
    if folded.startswith("delta."):
        hint = _ICEBERG_FOR.get(folded)
        return Fault("dead", f'"{key}" is a property of Delta: Iceberg does not read it', hint)
    if not folded.startswith(_DEAD_PREFIXES):
        return None
    close = folded if folded in names else nearest(folded, names)
    return Fault("dead", f'Iceberg does not read the property "{key}"', f'did you mean "{close}"?' if close else None)


_ICEBERG_FOR: Mapping[str, str] = MappingProxyType(
    {
        "delta.enabledeletionvectors": "write.merge.mode = merge-on-read with format-version = 3 has deletion vectors",
        "delta.autooptimize.optimizewrite": "write.distribution-mode says how rows are spread over files",
        "delta.dataskippingnumindexedcols": "write.metadata.metrics.max-inferred-column-defaults does it",
    }
)


def _takes(names: Mapping[str, str], key: str) -> str | None:
    found = names.get(key)
    if found is not None:
        return found
    return next((takes for name, takes in names.items() if name.endswith(".") and key.startswith(name)), None)


def _value(key: str, value: str, takes: str, columns: Collection[str] | None, system: str) -> Fault | None:
    if takes in ("text", "reserved"):
        return None
    if takes == "computed":
        return Fault("refused", f'{system} computes "{key}" itself', "leave it out")
    wanted = _wanted(value.strip(), takes, columns)
    if wanted is None:
        return None
    shown = f'"{key}" = {value!r}' if takes != "columns" else f'"{key}"'
    hint = "open-source Delta has no WriteSerializable: leave it out" if takes == "Serializable" else None
    return Fault("refused", f"{system} refuses {shown}: {wanted}", hint)


def _wanted(value: str, takes: str, columns: Collection[str] | None) -> str | None:
    """Return what the value must be, where it is something else."""
    if takes == "boolean":
        return None if value.lower() in ("true", "false") else "it must be true or false"
    if takes == "interval":
        bad = _NUMBER.match(value) or _YEARS.search(value)
        return "it must be an interval of weeks, days or less, such as 'interval 30 days'" if bad else None
    if takes == "feature":
        return None if value.lower() in ("supported", "enabled") else 'it must be "supported"'
    if takes == "columns":
        return _no_column(value, columns)
    if takes.startswith("int"):
        least = _AT_LEAST.match(takes)
        if not _NUMBER.match(value):
            return "it must be a whole number"
        return f"it must be at least {least[1]}" if least and int(value) < int(least[1]) else None
    allowed = takes.split("|")
    if value.lower() in (word.lower() for word in allowed):
        return None
    return f"it must be {' or '.join(allowed)}"


def _no_column(value: str, columns: Collection[str] | None) -> str | None:
    if columns is None or "`" in value:
        return None
    known_names = {name.casefold() for name in columns}
    for item in value.split(","):
        path = item.strip().casefold()
        # A field of a struct is named by its path; a column may have a dot in its own name.
        if path and path not in known_names and path.partition(".")[0] not in known_names:
            return f'the table has no column "{item.strip()}"'
    return None
