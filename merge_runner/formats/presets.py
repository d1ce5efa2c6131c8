"""What the config keys `low_shuffle` and `concurrent` set for a model: table properties and Spark configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merge_runner.formats import Format
from merge_runner.formats.registry import capabilities


@dataclass(frozen=True)
class Preset:
    """Table properties, and configuration of the session that runs the MERGE.

    What the author sets by name takes precedence.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)


def low_shuffle(table_format: Format, platform: str, *, on: bool) -> Preset:
    """Return what makes a MERGE write the changed rows alone (`low_shuffle`), or with `on=False` copy whole files.

    Open-source Delta has no low-shuffle merge, but with deletion vectors it does not copy unchanged rows; neither does
    Iceberg with merge-on-read. Other platforms (`databricks`, `fabric`) have a configuration key for it.
    """
    format = capabilities(table_format)
    if platform in format.low_shuffle_confs:
        return Preset(conf={format.low_shuffle_confs[platform]: "true" if on else "false"})
    marking = format.marking
    return Preset({marking.property: marking.marks if on else marking.copies})


def row_concurrency(table_format: Format, platform: str) -> Preset:
    """Return what keeps writers of different rows of one file from conflicting (`concurrent`), if there is anything.

    Databricks (runtime 14.2 and above) detects conflicts by row where a table has deletion vectors; open-source Delta,
    Fabric and Iceberg detect them by file, whatever is set.
    """
    format = capabilities(table_format)
    marking = format.marking
    return Preset({marking.property: marking.marks} if platform in format.row_level_concurrency else {})
