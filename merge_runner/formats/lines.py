"""The lines of Spark releases: what a MERGE skips depends on the one that plans it.

Measured on 3.5.9 (Delta 3.3.3, Iceberg 1.12.0), 4.0.5 (Delta 4.4.0, Iceberg 1.11.0), 4.1.4 (Delta 4.4.0, Iceberg
1.12.0) and 4.2.1 (Delta 4.4.0; Iceberg has no build for it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from merge_runner.version import pyspark_version


@dataclass(frozen=True, slots=True)
class Line:
    """A minor version of Spark: `4.1`."""

    spark: str

    def __str__(self) -> str:
        return f"Spark {self.spark}"


LINES: Mapping[str, Line] = MappingProxyType({spark: Line(spark) for spark in ("3.5", "4.0", "4.1", "4.2")})
"""The lines by minor version, the oldest first."""

RECOMMENDED = LINES["4.1"]
"""The line that is meant where nothing says otherwise."""


def line_of(version: str | None) -> Line | None:
    """Return the line of a release of Spark (`4.1.4`, `3.5.1-amzn-2`); None for one that is none of ours."""
    return LINES.get(".".join((version or "").split(".")[:2]))


@cache
def installed_line() -> Line:
    """Return the line of the installed PySpark; the recommended one without PySpark, or where it is none of ours."""
    return line_of(pyspark_version()) or RECOMMENDED
