"""What Spark's parser takes since a line of Spark, as data; `tests/merge/accept` has statements with each form."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.formats.lines import Line


@dataclass(frozen=True, slots=True)
class Form:
    """A form of SQL that the parsers of older lines refuse: `since` is the first line of Spark that takes it.

    `name` is how messages name it, `hint` what to write on an older line.
    """

    name: str
    since: str
    hint: str

    def parses_on(self, line: Line) -> bool:
        """Return whether the parser of a line takes it."""
        return _number(line.spark) >= _number(self.since)


def _number(spark: str) -> tuple[int, ...]:
    return tuple(int(part) for part in spark.split("."))


CHANGES = Form("CHANGES FROM", "4.2", "read the changes of a model of this project by changes('model')")
QUALIFY = Form("QUALIFY", "4.2", "number the rows in a subquery and filter around it")
MERGE_OPTIONS = Form("options of a table in MERGE", "4.3", "set table properties or Spark configuration instead")
FORMS = (CHANGES, QUALIFY, MERGE_OPTIONS)
"""Measured with the parsers of Spark 4.1.4, 4.2.1 and 4.3.0."""
