"""What YAML and config promise of a node's columns: types, NOT NULL, generated columns, keys without duplicates."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from merge_runner.formats.types import DataType, parse_type
from merge_runner.project.load.files import DataTestEntry
from merge_runner.project.schema.properties import Column, Constraint, DataTest
from merge_runner.project_file import read_file
from merge_runner.pruning.layout.layout import Identity, TableColumn

_FILLED = re.compile(r"\s*(generated\s+(always|by\s+default)\s+as\s+identity\b|default\s+(?!null\s*\Z))", re.IGNORECASE)
_IDENTITY = re.compile(r"\s*generated\s+(always|by\s+default)\s+as\s+identity\b", re.IGNORECASE)
_GENERATED = re.compile(r"\s*generated\s+always\s+as\s*\((.*)\)\s*\Z", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class DeclaredSchema:
    """What is declared: columns in the order of the YAML, names (folded) that hold no NULL, keys.

    `not_null` are columns that take no NULL, `tested` those of which only a test says that they hold none.
    """

    columns: tuple[Column, ...]
    not_null: frozenset[str]
    tested: frozenset[str]
    unique: tuple[frozenset[str], ...]

    @property
    def typed(self) -> bool:
        """Whether there are columns, and all of them have types: a table is created of them alone then."""
        return bool(self.columns) and all(column.data_type for column in self.columns)

    def column(self, column: Column, otherwise: bool | None) -> TableColumn:
        """A declared column; `otherwise` says whether it takes NULL where nothing forbids it (None: unknown)."""
        nullable = self.nullable(column.name, otherwise)
        if not column.constraints:
            return TableColumn(column.name, type_of(column.data_type), nullable)
        custom = tuple(_custom(column))
        return TableColumn(
            column.name, type_of(column.data_type), nullable, _generated(column), is_filled(custom), identity(custom)
        )

    def nullable(self, name: str, otherwise: bool | None) -> bool | None:
        """Whether a column holds NULL."""
        return False if name.casefold() in self.not_null | self.tested else otherwise

    def over(self, columns: Iterable[TableColumn], otherwise: bool | None) -> tuple[TableColumn, ...]:
        """Other columns with what is declared on top; a declared column that is not among them comes last.

        `otherwise` None: whether a column takes NULL stays as it is.
        """
        own = {column.name.casefold(): column for column in self.columns}
        typed = []
        for column in columns:
            declaration = own.pop(column.name.casefold(), None)
            nullable = self.nullable(column.name, column.nullable if otherwise is None else otherwise)
            if declaration is None:
                typed.append(replace(column, nullable=nullable))
                continue
            data_type = type_of(declaration.data_type) or column.data_type
            custom = tuple(_custom(declaration))
            generated, filled = _generated(declaration) or column.generated, is_filled(custom) or column.filled
            how = identity(custom) or column.identity
            typed.append(TableColumn(declaration.name, data_type, nullable, generated, filled, how))
        return (*typed, *(self.column(column, otherwise) for column in own.values()))


def declared_schema(
    columns: Sequence[Column],
    constraints: Iterable[Constraint],
    tests: Iterable[DataTestEntry],
    unique_key: Sequence[str] = (),
) -> DeclaredSchema:
    """What is declared of one node. A test counts where it is an error for each row that fails it, of all rows."""
    not_null: set[str] = set()
    tested: set[str] = set()
    keys = [folded(unique_key)]
    promises = [(constraint.type, [column.name]) for column in columns for constraint in column.constraints]
    promises += [(constraint.type, list(constraint.columns)) for constraint in constraints]
    for kind, names in promises:
        if kind in ("not_null", "primary_key"):
            not_null |= folded(names)
        if kind in ("unique", "primary_key"):
            keys.append(folded(names))
    for entry in tests:
        if _holds_always(entry.test):
            name = entry.test.name.rpartition(".")[2]
            if name == "not_null" and entry.column is not None:
                tested.add(entry.column.casefold())
            elif name == "unique" and entry.column is not None:
                keys.append(folded([entry.column]))
            elif name == "unique_combination_of_columns":
                keys.append(_combination(entry.test))
    unique = tuple(dict.fromkeys(key for key in keys if key))
    return DeclaredSchema(tuple(columns), frozenset(not_null), frozenset(tested - not_null), unique)


def _combination(test: DataTest) -> frozenset[str]:
    names = test.arguments.get("combination_of_columns")
    whole = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    return folded(names) if whole and names is not None else frozenset()


def folded(names: Iterable[str]) -> frozenset[str]:
    """Names of columns as they compare: without case and backquotes."""
    return frozenset(name.strip().strip("`").replace("``", "`").casefold() for name in names if name.strip())


@lru_cache(maxsize=4096)
def type_of(text: str | None) -> DataType | None:
    """The type of a DDL text; the same few come a thousand times in a project."""
    return parse_type(text)


def generated_expression(text: str) -> str | None:
    """The expression of `generated always as (…)`; None for an identity, a default and anything else."""
    match = _GENERATED.match(text)
    return match[1].strip() if match else None


def _holds_always(test: DataTest) -> bool:
    whole = test.where is None and test.fail_calc is None
    return test.enabled and whole and test.severity == "error" and test.error_if is None


def _generated(column: Column) -> str | None:
    return next(
        (expression for text in _custom(column) if (expression := generated_expression(text)) is not None), None
    )


def is_filled(texts: Iterable[str]) -> bool:
    """Return whether one of these parts of a column's DDL gives it a value where INSERT leaves it out."""
    return any(_FILLED.match(text) for text in texts)


def identity(texts: Iterable[str]) -> Identity | None:
    """Return how one of these parts of a column's DDL generates an identity; None where none does."""
    match = next((match for text in texts if (match := _IDENTITY.match(text)) is not None), None)
    if match is None:
        return None
    return "always" if match[1].lower() == "always" else "by default"


def _custom(column: Column) -> Iterable[str]:
    return (constraint.expression or "" for constraint in column.constraints if constraint.type == "custom")


def seed_header(file: Path, delimiter: str) -> tuple[str, ...] | None:
    """Return the names as Spark reads them; None where only Spark can decide (none, empty or equal names)."""
    if len(delimiter) != 1:
        return None
    try:
        text = read_file(file, None).decode("utf-8-sig")
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    folded = {name.casefold() for name in names}
    return tuple(names) if names and "" not in folded and len(folded) == len(names) else None
