"""A column of a table as `adapter.get_columns_in_relation` returns it, with dbt's names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from merge_runner.relation import quote
from merge_runner.template.outcome import RefusedError

_TEXTS = frozenset({"string", "char", "varchar"})
_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
_FLOATS = frozenset({"float", "double"})


@dataclass(frozen=True)
class RelationColumn:
    """A column: `column` and `name`, `data_type` and `dtype`, `quoted`, `is_string()` and the like."""

    name: str
    known_type: str | None = None
    """Its type as Spark writes it; None: it is not known."""

    def __str__(self) -> str:
        return f"{self.name} {self.known_type or ''}".rstrip()

    @property
    def column(self) -> str:
        """Its name, as dbt has it."""
        return self.name

    @property
    def quoted(self) -> str:
        """Its name in backquotes where it needs them."""
        return quote(self.name)

    @property
    def data_type(self) -> str:
        """Its type. Raises RefusedError where that is not known."""
        if self.known_type is None:
            message = f"the type of the column {self.name} is not known: declare it in YAML, with data_type"
            raise RefusedError("unknown-columns", message)
        return self.known_type

    dtype = data_type

    def is_string(self) -> bool:
        """Whether it is a text."""
        return self._kind in _TEXTS

    def is_integer(self) -> bool:
        """Whether it is a whole number."""
        return self._kind in _WHOLE

    def is_float(self) -> bool:
        """Whether it is a floating-point number."""
        return self._kind in _FLOATS

    def is_numeric(self) -> bool:
        """Whether it is a decimal."""
        return self._kind == "decimal"

    def is_number(self) -> bool:
        """Whether it is a number."""
        return self.is_integer() or self.is_float() or self.is_numeric()

    def string_size(self) -> int:
        """How long a text may be. Raises RefusedError where it is none."""
        if not self.is_string():
            raise RefusedError("jinja-runtime", f"the column {self.name} is no text")
        length = re.search(r"\((\d+)\)", self.data_type)
        return int(length[1]) if length else 2**31 - 1

    @property
    def _kind(self) -> str:
        return self.data_type.partition("(")[0].strip().lower()
