"""What `low_shuffle` sets, so that a MERGE leaves the rows beside the changed ones where they are.

Open-source Delta has no low-shuffle MERGE; with deletion vectors it writes the changed rows alone, and so does Iceberg
that merges on read. Other platforms' Delta has a conf for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from merge_runner.formats import Format
from merge_runner.formats.implied import Implied
from merge_runner.formats.merge_plans import MARKING

_CONFS: Mapping[str, str] = MappingProxyType(
    {
        "databricks": "spark.databricks.delta.merge.enableLowShuffle",
        "fabric": "spark.microsoft.delta.merge.lowShuffle.enabled",
    }
)
"""The conf of a platform whose Delta has one; `fabric` is Synapse too."""
_OFF: Mapping[Format, str] = MappingProxyType({"delta": "false", "iceberg": "copy-on-write"})


def low_shuffle(table_format: Format, platform: str, *, on: bool) -> Implied:
    """What switches it on or off on a platform (`oss`, `databricks`, `fabric`)."""
    if table_format == "delta" and platform in _CONFS:
        return Implied(conf={_CONFS[platform]: "true" if on else "false"})
    key, marks = MARKING[table_format]
    return Implied({key: marks if on else _OFF[table_format]})
