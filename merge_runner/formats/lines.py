"""The lines of Spark releases: what each runs on and with, and what a MERGE skips there.

Measured on 3.5.9, 4.0.5, 4.1.4 and 4.2.1 with these formats, and the grammar alone on 4.3.0, for which no format has a
build. The jars with their checksums are in `engine/spark/jars.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from merge_runner.formats import Format
from merge_runner.version import pyspark_version


@dataclass(frozen=True, slots=True)
class Line:
    """A minor version of Spark (`4.1`), and what belongs to it."""

    spark: str
    scala: str
    java: tuple[int, ...]
    """The versions of Java that it runs on. Java 25 does not start it: Hadoop 3.4.2 needs the Security Manager."""
    formats: Mapping[Format, str] = field(compare=False)
    """The versions of the table formats; one that has no build for the line is not there."""

    def __str__(self) -> str:
        return f"Spark {self.spark}"

    @property
    def extra(self) -> str:
        """The extra of merge-runner that installs its PySpark: `spark41`."""
        return f"spark{self.spark.replace('.', '')}"

    @property
    def javas(self) -> str:
        """The versions of Java, as messages name them: `Java 17 or 21`."""
        return f"Java {' or '.join(str(version) for version in self.java)}"


LINES: Mapping[str, Line] = MappingProxyType(
    {
        line.spark: line
        for line in (
            Line("3.5", scala="2.12", java=(11, 17), formats={"delta": "3.3.3", "iceberg": "1.12.0"}),
            Line("4.0", scala="2.13", java=(17, 21), formats={"delta": "4.4.0", "iceberg": "1.11.0"}),
            Line("4.1", scala="2.13", java=(17, 21), formats={"delta": "4.4.0", "iceberg": "1.12.0"}),
            Line("4.2", scala="2.13", java=(17, 21), formats={"delta": "4.4.0"}),
            Line("4.3", scala="2.13", java=(17,), formats={}),
        )
    }
)
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
