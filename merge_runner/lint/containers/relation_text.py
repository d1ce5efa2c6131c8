"""Tables and queries that code names, as FROM takes them, and the calls that name them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from merge_runner.lint.containers.pieced_text import Origin, PiecedText

_TABLE = re.compile(r"[\w.`]+(?:\$\{.*\}[\w.`]*)?|\$\{.*\}.*")


class Call(Protocol):
    """A call that is read as SQL."""

    @property
    def origin(self) -> Origin:
        """The range of the method's name."""

    def sql(self, text: str) -> PiecedText:
        """Return SQL that the call means."""


@dataclass(frozen=True)
class Relation:
    """A relation in SQL: the name of a table, or a query in parentheses; and the alias that the code gives it."""

    text: PiecedText
    alias: PiecedText | None = None

    @property
    def aliased(self) -> PiecedText:
        """The relation with its alias, as FROM takes it."""
        if self.alias is None:
            return self.text
        return self.text + PiecedText.from_origin(" as ", self.alias.origin(0)) + self.alias


def table_text(name: str, call: Call, text: PiecedText) -> PiecedText | None:
    """Return what `forName`, `forPath`, `table` or `sql` of a text reads, as FROM takes it; None: not known."""
    if name == "forPath":
        return call.sql("delta.`") + text.replace("`", call.sql("")) + call.sql("`")
    if name == "sql":
        return call.sql("(") + text.strip().rstrip(";").rstrip() + call.sql(")")
    return text if _TABLE.fullmatch(text.text) is not None else None
