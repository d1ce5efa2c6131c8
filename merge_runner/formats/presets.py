"""What the config keys `low_shuffle` and `concurrent` set for a model: table properties and Spark configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from merge_runner.formats import Format
from merge_runner.formats.merge_plans import MARKING


@dataclass(frozen=True)
class Preset:
    """Table properties, and configuration of the session that runs the MERGE.

    What the author sets by name takes precedence.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)


_LOW_SHUFFLE_CONFS: Mapping[str, str] = MappingProxyType(
    {
        "databricks": "spark.databricks.delta.merge.enableLowShuffle",
        "fabric": "spark.microsoft.delta.merge.lowShuffle.enabled",
    }
)
"""The configuration key of a platform whose Delta has low-shuffle merge; `fabric` includes Synapse."""
_COPYING: Mapping[Format, str] = MappingProxyType({"delta": "false", "iceberg": "copy-on-write"})


def low_shuffle(table_format: Format, platform: str, *, on: bool) -> Preset:
    """Return what makes a MERGE write the changed rows alone (`low_shuffle`), or with `on=False` copy whole files.

    Open-source Delta has no low-shuffle merge, but with deletion vectors it does not copy unchanged rows; neither does
    Iceberg with merge-on-read. Other platforms (`databricks`, `fabric`) have a configuration key for it.
    """
    if table_format == "delta" and platform in _LOW_SHUFFLE_CONFS:
        return Preset(conf={_LOW_SHUFFLE_CONFS[platform]: "true" if on else "false"})
    key, marks = MARKING[table_format]
    return Preset({key: marks if on else _COPYING[table_format]})


def row_concurrency(table_format: Format, platform: str) -> Preset:
    """Return what keeps writers of different rows of one file from conflicting (`concurrent`), if there is anything.

    Databricks (runtime 14.2 and above) detects conflicts by row where a table has deletion vectors; open-source Delta,
    Fabric and Iceberg detect them by file, whatever is set.
    """
    if table_format != "delta" or platform != "databricks":
        return Preset()
    key, marks = MARKING[table_format]
    return Preset({key: marks})
