"""The structure of a table of facts: SQL, and for each format what the engine does with it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from merge_runner.formats import Format
from merge_runner.formats.lines import RECOMMENDED, Line

Prunes = Literal["yes", "no", "seldom"]
"""`seldom`: the engine can use it, but only where a file holds a single value, or nothing but NULL."""

_Key = TypeVar("_Key", bound=Hashable)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Varies(Generic[_Answer]):
    """An answer that is another one on some lines of Spark: `on` has those, by their minor versions."""

    usual: _Answer | Mapping[Format, _Answer]
    on: Mapping[str, _Answer | Mapping[Format, _Answer]]


@dataclass(frozen=True, slots=True)
class Fact(Generic[_Answer]):
    """One row for one format: `sql` over the columns of the probe table `table` (alias t) shows the answer.

    `sql` is a condition in ON, or the clauses of a MERGE; `source` is where the answer was read or measured first.
    """

    subject: str
    answer: _Answer
    sql: str
    table: str
    source: str


@dataclass(frozen=True, slots=True)
class FactTable(Generic[_Key, _Answer]):
    """Rows `{key: (sql, answer)}` with the same sources.

    `sources`: by format, where its answers were read or measured first. `rows`: the key is what static analysis looks
    up (a type, an operator, a transform…); the SQL shows the answer on a probe table, which is `table` unless the SQL
    begins with the name of another (`parts: t.n = 5`). The answer is one for all formats of `sources`, or one for each
    format that has the row; where lines of Spark differ, it is `Varies`.
    """

    sources: Mapping[Format, str]
    rows: Mapping[_Key, tuple[str, _Answer | Mapping[Format, _Answer] | Varies[_Answer]]]
    table: str = "data"

    def answer(self, key: _Key, table_format: Format, line: Line = RECOMMENDED) -> _Answer | None:
        """Return what the format does on a line of Spark; None where the table has no such row for it."""
        row = self.rows.get(key)
        if row is None:
            return None
        answer = row[1]
        if isinstance(answer, Varies):
            answer = answer.on.get(line.spark, answer.usual)
        if isinstance(answer, Mapping):
            return answer.get(table_format)
        return answer if table_format in self.sources else None

    def facts(self, table_format: Format, line: Line = RECOMMENDED) -> Iterator[Fact[_Answer]]:
        """Yield the rows that a format has, with the SQL that shows them and the answers on a line of Spark."""
        for key, (sql, _) in self.rows.items():
            answer = self.answer(key, table_format, line)
            if answer is not None:
                declaration, colon, query = sql.partition(": ")
                table, statement = (declaration, query) if colon else (self.table, sql)
                subject = ", ".join(key) if isinstance(key, tuple) else str(key)
                yield Fact(subject, answer, statement, table, self.sources[table_format])
