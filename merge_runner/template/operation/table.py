"""What a template may ask of the engine while it is rendered: a query's rows, as the tables that dbt has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from merge_runner.relation import Relation

if TYPE_CHECKING:
    from merge_runner.template.rendered_text import Log


class Operation(Protocol):
    """The run of a macro that may execute statements."""

    def run(self, statement: str) -> Table:
        """Execute a statement and return its rows. Raises RefusedError where the engine refuses it."""

    def exists(self, relation: Relation) -> bool:
        """Return whether there is a table or view of this name. Raises RefusedError where nothing answers."""

    def log(self, log: Log) -> None:
        """Take what the macro logs, as soon as it does."""


@dataclass(frozen=True)
class Row:
    """A row: `row[0]`, `row['id']` or `row.id`; a loop over it yields its values. Of equal names the first counts."""

    _names: tuple[str, ...]
    _values: tuple[Any, ...]

    def __getitem__(self, key: int | str) -> Any:
        if isinstance(key, int):
            return self._values[key]
        if key not in self._names:
            raise KeyError(key)
        return self._values[self._names.index(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        return str(self.dict())

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._names)

    def values(self) -> list[Any]:
        """Return the values in the order of the columns."""
        return list(self._values)

    def dict(self) -> dict[str, Any]:
        """Return the values by column."""
        return {name: self[name] for name in self._names}


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, and its values in the order of the rows."""

    name: str
    _values: Sequence[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        return str(self.values())

    def values(self) -> list[Any]:
        """Return the values."""
        return list(self._values)


class Columns(list[Column]):
    """The columns of a table by position, or by name."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return {column.name: column for column in reversed(self)}[key]
        return super().__getitem__(key)

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self]

    def items(self) -> list[tuple[str, Column]]:
        """Return each column with its name."""
        return [(column.name, column) for column in self]


@dataclass(frozen=True)
class Table:
    """The rows of a statement; a loop over it yields them."""

    column_names: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
        """Return the table of these columns, whose rows are values in their order."""
        return cls(tuple(names), tuple(Row(tuple(names), tuple(row)) for row in rows))

    @property
    def columns(self) -> Columns:
        """The columns, each with its values."""
        return Columns(Column(name, [row[at] for row in self.rows]) for at, name in enumerate(self.column_names))

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows))
