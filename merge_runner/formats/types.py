"""Spark's data types as values, read from their DDL text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from merge_runner.errors import nearest

_ALIASES = {
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "real": "float",
    "dec": "decimal",
    "numeric": "decimal",
    "timestamp_ltz": "timestamp",
    "character": "char",
}
_PLAIN = frozenset(
    [
        "boolean",
        "tinyint",
        "smallint",
        "int",
        "bigint",
        "float",
        "double",
        "string",
        "binary",
        "date",
        "timestamp",
        "timestamp_ntz",
        "variant",
        "void",
        "time",
    ]
)
TYPE_NAMES = frozenset([*_PLAIN, *_ALIASES, "decimal", "varchar", "char", "interval", "array", "map", "struct"])
"""The words that the name of a type begins with."""
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z_][A-Za-z0-9_]*|\d+|[<>(),:]|'(?:[^'\\]|\\.|'')*')", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ONE_WORD = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\([\d\s,]*\))?\s*\Z")
"""One word, perhaps with numbers. What is in other types (array, struct) or follows them is left to Spark."""
_LATER = frozenset({"geography", "geometry"})
"""Types of later releases of Spark and of platforms, which `parse_type` does not read."""

INTEGERS = ("tinyint", "smallint", "int", "bigint")
"""From the narrowest to the widest."""


@dataclass(frozen=True)
class DataType:
    """A type. `name` is Spark's short name (`int`, `bigint`, `decimal`, `string`, `struct`, `interval`…).

    `precision` and `scale` are those of a decimal, `length` that of `varchar` and `char`, `fields` those of a struct
    with their names; of an array or a map they are the elements, without names.
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    length: int | None = None
    fields: tuple[tuple[str, DataType], ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether its values are character strings."""
        return self.name in ("string", "varchar", "char")

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers."""
        return self.name in INTEGERS or self.name in ("float", "double", "decimal")

    @property
    def leaves(self) -> int:
        """How many leaf columns it counts for: a struct those of its fields, any other type one."""
        return sum(field.leaves for _, field in self.fields) if self.name == "struct" else 1

    def has_field(self, name: str) -> bool:
        """Whether `column.name` is a value of it: of a struct, of the structs in an array, of the key of a map."""
        if self.name == "array":
            return any(inner.has_field(name) for _, inner in self.fields)
        named = any(field.casefold() == name.casefold() for field, _ in self.fields)
        return self.name == "map" or (self.name == "struct" and named)

    def holds(self, name: str) -> bool:
        """Return whether it is of a type by name, or has a value of it in it, however deep."""
        return self.name == name or any(inner.holds(name) for _, inner in self.fields)

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.length is not None:
            return f"{self.name}({self.length})"
        if self.name == "struct":
            return f"struct<{','.join(f'{_quote(name)}:{field}' for name, field in self.fields)}>"
        if self.fields:
            return f"{self.name}<{','.join(str(field) for _, field in self.fields)}>"
        return self.name


def _quote(name: str) -> str:
    return name if _WORD.fullmatch(name) else "`" + name.replace("`", "``") + "`"


@lru_cache(maxsize=4096)
def parse_type(text: str | None) -> DataType | None:
    """The type of a DDL text (`decimal(10, 2)`, `struct<a: int>`); None where it is none that Spark 4.1 knows."""
    if not text:
        return None
    tokens: list[str] = []
    at = 0
    ddl = text.rstrip()
    while at < len(ddl):
        match = _TOKEN.match(ddl, at)
        if match is None:
            return None
        tokens.append(match[1])
        at = match.end()
    reader = _Reader(tokens)
    try:
        data_type = reader.read()
    except (IndexError, ValueError, RecursionError):
        return None
    return data_type if reader.i == len(tokens) else None


@lru_cache(maxsize=4096)
def unknown_type(text: str) -> tuple[str, str] | None:
    """Return what is wrong with a declared type and what to do; None where Spark may take it."""
    word = _ONE_WORD.match(text)
    if word is None or word[1].lower() in TYPE_NAMES | _LATER or parse_type(text) is not None:
        return None
    close = nearest(word[1], TYPE_NAMES)
    hint = f'did you mean "{close}"?' if close else "write a type of Spark SQL: string, bigint, decimal(10, 2), date, …"
    return f'Spark has no type "{word[1]}"', hint


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.i = 0

    def read(self) -> DataType:
        word = self._next().lower()
        name = _ALIASES.get(word, word)
        if name == "decimal":
            numbers = self._numbers()
            return DataType(name, numbers[0] if numbers else 10, numbers[1] if len(numbers) > 1 else 0)
        if name in ("varchar", "char"):
            return DataType(name, length=self._numbers()[0])
        if name == "interval":
            while self.i < len(self.tokens) and self.tokens[self.i].isalpha():
                self.i += 1
            return DataType(name)
        if name in ("array", "map", "struct"):
            fields = self._fields(named=name == "struct")
            if len(fields) != {"array": 1, "map": 2}.get(name, len(fields)):
                raise ValueError(word)
            return DataType(name, fields=fields)
        if name == "string" and self._peek().lower() == "collate":
            self.i += 2
        elif name == "time":
            self._numbers()
        elif name not in _PLAIN:
            raise ValueError(word)
        return DataType(name)

    def _fields(self, *, named: bool) -> tuple[tuple[str, DataType], ...]:
        self._expect("<")
        fields: list[tuple[str, DataType]] = []
        while self._peek() != ">":
            name = ""
            if named:
                name = self._name()
                if self._peek() == ":":
                    self.i += 1
            fields.append((name, self.read()))
            if self._peek().lower() == "not":
                self.i += 2
            if self._peek().lower() == "comment":
                self.i += 2
            if self._peek() == ",":
                self.i += 1
        self._expect(">")
        return tuple(fields)

    def _name(self) -> str:
        token = self._next()
        return token[1:-1].replace("``", "`") if token.startswith("`") else token

    def _numbers(self) -> list[int]:
        if self._peek() != "(":
            return []
        close = self.tokens.index(")", self.i)
        numbers = [int(token) for token in self.tokens[self.i + 1 : close] if token != ","]
        self.i = close + 1
        return numbers

    def _peek(self) -> str:
        return self.tokens[self.i] if self.i < len(self.tokens) else ""

    def _next(self) -> str:
        self.i += 1
        return self.tokens[self.i - 1]

    def _expect(self, token: str) -> None:
        if self._next() != token:
            raise ValueError(token)
