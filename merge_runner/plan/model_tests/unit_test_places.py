"""Where the rows of a unit test are written: in the YAML of the test, or in a file of `fixtures`."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.project.load.files import UnitTestEntry
from merge_runner.project.syntax.places import KeyPath
from merge_runner.testing.csv_rows import CsvError, read_csv, value_offset
from merge_runner.text import Place, SourceText


@dataclass(frozen=True)
class WrittenRows:
    """The places of rows that are the value `key` of `at`, a path below the test (`("given", 0)`, `("expect",)`).

    `fixture` is the file that has them instead; `csv` their text where they are CSV, None where they are not.
    """

    entry: UnitTestEntry
    at: KeyPath
    key: str = "rows"
    fixture: SourceText | None = None
    csv: str | None = None

    def cell(self, row: int, column: str) -> Place:
        """Return the place of a value; rows count from 1."""
        if self.csv is not None:
            return self._in_csv(row, column)
        return self.entry.value_place((*self._path, row - 1, self._spelled(row - 1, column)))

    def name(self, column: str) -> Place:
        """Return the place of the first mention of a column: of all the rows where they are a query."""
        if self.csv is not None:
            return self._in_csv(0, column)
        for number, row in enumerate(self._rows()):
            if any(name.lower() == column.lower() for name in row):
                return self.entry.key_place((*self._path, number, self._spelled(number, column)))
        return self.whole()

    def text(self, offset: int) -> Place:
        """Return the place of a character of the CSV or SQL that gives the rows."""
        return self.fixture.place(offset) if self.fixture is not None else self.entry.text_place(self._path, offset)

    def whole(self) -> Place:
        """Return the place of all the rows."""
        return self.fixture.place(0) if self.fixture is not None else self.entry.key_place(self._path)

    @property
    def _path(self) -> KeyPath:
        return (*self.at, self.key)

    def _in_csv(self, row: int, column: str) -> Place:
        text = self.csv or ""
        try:
            csv = read_csv(text)
        except CsvError as error:
            return self.text(error.offset)
        index = next((n for n, name in enumerate(csv.header) if name.lower() == column.lower()), 0)
        return self.text(value_offset(text, csv.starts[row], index))

    def _rows(self) -> tuple[dict[str, object], ...]:
        test = self.entry.test
        index = self.at[1] if len(self.at) > 1 else 0
        holder = test.given[int(index)] if self.at[0] == "given" else test.expect
        rows = getattr(holder, self.key)
        return () if rows is None or isinstance(rows, str) else tuple(map(dict, rows))

    def _spelled(self, number: int, column: str) -> str:
        """The column as a row spells it: names compare without case."""
        return next((name for name in self._rows()[number] if name.lower() == column.lower()), column)
