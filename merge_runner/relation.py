"""The name of a table or view as a value, so that no code splits names out of strings; and how Spark quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def quote(name: str) -> str:
    """Return `name` as Spark reads it: plain where that is valid, else in backquotes (doubled inside)."""
    return name if _PLAIN.match(name) else "`" + name.replace("`", "``") + "`"


def string_literal(text: str) -> str:
    """`text` as a Spark string literal (backslash is Spark's escape in its default mode)."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def changes_of(model: str) -> Relation:
    """Return the temporary view that `changes('model')` reads: it has no schema, and belongs to the reading session."""
    return Relation(f"changes_of_{model}")


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view: catalog (None: the session's), schema (None: a temporary view), identifier.

    `sql`, where given, is used in the statement instead of the name (an inlined query, a path).
    """

    identifier: str
    schema: str | None = None
    catalog: str | None = None
    sql: str | None = None

    @property
    def name(self) -> str:
        """The dotted name as people write it, unquoted: what messages and artifacts show."""
        return ".".join(part for part in (self.catalog, self.schema, self.identifier) if part)

    @property
    def table(self) -> str:
        """dbt's name of the identifier."""
        return self.identifier

    @property
    def database(self) -> str | None:
        """dbt's name of the catalog."""
        return self.catalog

    def is_named_by(self, parts: Sequence[str], *, default: bool) -> bool:
        """Whether the unquoted parts of a name in a statement mean this table; catalog and schema may be left out
        where they are the session's (`default`)."""
        own = [part.lower() for part in (self.catalog, self.schema, self.identifier) if part]
        given = [part.lower() for part in parts]
        if given in (own, ["spark_catalog", *own]):
            return True
        return default and 0 < len(given) < len(own) and own[-len(given) :] == given

    def __str__(self) -> str:
        if self.sql is not None:
            return self.sql
        return ".".join(quote(part) for part in (self.catalog, self.schema, self.identifier) if part)
