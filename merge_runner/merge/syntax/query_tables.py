"""Reads the tables of FROM: their names, aliases and joins, and the rows of VALUES."""

from __future__ import annotations

from dataclasses import dataclass, field

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.forms import FormUse, begins_changes, changes_end
from merge_runner.merge.syntax.keywords import AFTER_RELATION, JOINS, NO_ALIAS, OPERATORS, TYPED_LITERALS, words
from merge_runner.merge.syntax.query import is_query
from merge_runner.merge.syntax.sql import Sql

_BEFORE_ALIAS = words("FOR VERSION TIMESTAMP SYSTEM_VERSION SYSTEM_TIME WITH WATERMARK DELAY")
"""What may be between a table and its alias."""
_WANT_OPERAND = OPERATORS | words(
    "NOT CASE WHEN THEN ELSE SELECT FROM WHERE BY HAVING ON USING DISTINCT ALL JOIN LATERAL LIMIT OFFSET"
)
_OPERAND_STARTS = frozenset({"(", "-", "+", "~", "!", "*", ":", "?"})


@dataclass(frozen=True)
class Parts:
    """What a query holds: ranges of expressions, each with whether an alias may end it, of queries, and newer forms."""

    expressions: list[tuple[int, int, bool]] = field(default_factory=list)
    queries: list[tuple[int, int]] = field(default_factory=list)
    forms: list[FormUse] = field(default_factory=list)


class Tables:
    """Reads the tables of one query, and adds their conditions and subqueries to `parts`."""

    def __init__(self, sql: Sql, parts: Parts) -> None:
        self.sql = sql
        self.parts = parts

    def read(self, start: int, stop: int) -> None:
        """Read the tables of FROM, with their joins; those in parentheses too."""
        todo = [(start, stop)]
        while todo:
            first, last = todo.pop()
            self._read(first, last, todo)

    def _read(self, start: int, stop: int, todo: list[tuple[int, int]]) -> None:
        sql, top = self.sql, list(self.sql.top(start, stop))
        position, expects_table = start, True
        for at, i in enumerate(top):
            key = sql.key(i)
            if i < position:  # in the condition of a join, or in a table with its alias
                continue
            if not expects_table:
                expects_table = key in (",", "JOIN")
                if key == "ON":
                    position = next((j for j in top[at + 1 :] if self._ends_condition(j)), stop)
                    self.parts.expressions.append((i + 1, position, False))
                else:
                    self._check_join(i)
                continue
            expects_table = key == "LATERAL" and sql.key(i + 1) not in AFTER_RELATION
            if key == "VALUES" and i + 1 < stop and _begins_value(sql, i + 1):
                self.read_values(i + 1, stop)
                return
            if sql.kind(i) == "string":
                raise quoted_name(sql, i)
            if key == "(":
                inside = (i + 1, sql.partner[i])
                (self.parts.queries if is_query(sql, *inside) else todo).append(inside)
            elif sql.kind(i) in ("word", "name") and not expects_table:
                position = self._table(i, stop)
        if start < stop and sql.key(stop - 1) == "JOIN" and ends_operand(sql, stop - 2):
            raise MergeSyntaxError("JOIN is followed by no table", sql.at(stop - 1), "name a table")

    def _check_join(self, i: int) -> None:
        """Check token i, which follows a table."""
        sql, key, before = self.sql, self.sql.key(i), self.sql.key(i - 1)
        if key == "USING" and sql.key(i + 1) != "(":
            raise MergeSyntaxError("USING without parentheses", sql.at(i), "write USING (column)")
        if key in JOINS and sql.key(i + 1) not in JOINS | {"JOIN", "OUTER"}:
            raise MergeSyntaxError(f"{sql.word(i)} without JOIN", sql.at(i), "write JOIN after it")
        if sql.kind(i) == "string" and (before in (".", "AS") or self._is_alias(i)):
            raise quoted_name(sql, i)

    def _table(self, i: int, stop: int) -> int:
        """The index after the table or function that token i names, with its alias where that is certain."""
        sql = self.sql
        while sql.key(i + 1) == "." and sql.kind(i + 2) in ("word", "name"):
            i += 2
        i += 1
        if sql.key(i) == "(" and i < stop:
            i = sql.partner[i] + 1
        if begins_changes(sql, i):
            end = changes_end(sql, i, stop)
            if end is None:
                hint = "write CHANGES FROM VERSION 1 TO VERSION 2, or CHANGES FROM TIMESTAMP '2024-01-31'"
                raise MergeSyntaxError("the changes of a table begin at a literal", sql.span(i, i + 3), hint)
            i = end + (end < stop and sql.key(end) == "AS" and sql.kind(end + 1) in ("word", "name"))
        if i >= stop or sql.kind(i) not in ("word", "name") or sql.key(i) in AFTER_RELATION | _BEFORE_ALIAS:
            return i
        if sql.word(i).startswith("$"):
            return i  # what Spark or a tool puts in its place may be part of the name
        i += 1
        if i < stop and sql.key(i) == "(" and is_column_list(sql, i):
            i = sql.partner[i] + 1
        if i < stop and sql.key(i) not in AFTER_RELATION and sql.key(i) != ",":
            hint = "after a table and its alias there is a join, or the next clause"
            raise MergeSyntaxError(f'"{sql.word(i)}" is not allowed here', sql.at(i), hint)
        return i

    def _is_alias(self, i: int) -> bool:
        before = self.sql.key(i - 1)
        return before == ")" or (self.sql.kind(i - 1) in ("word", "name") and before not in TYPED_LITERALS | {"OF"})

    def _ends_condition(self, i: int) -> bool:
        sql, key = self.sql, self.sql.key(i)
        if key == ",":
            return True
        after = sql.key(i + 1)
        return ends_operand(sql, i - 1) and (
            key == "JOIN"
            or (key in JOINS and after in JOINS | {"JOIN", "OUTER"})
            or (key.endswith("PIVOT") and after != "")
        )

    def read_values(self, start: int, stop: int) -> None:
        """Read the rows of VALUES, up to the alias of the table."""
        sql, width = self.sql, 0
        for first, last in sql.split(start, stop):
            row, inside = self._row(first, last)
            if row is None:
                return
            self.parts.expressions.extend((*value, True) for value in inside)
            width = width or len(inside)
            if len(inside) != width or not inside:
                raise MergeSyntaxError(
                    f"the row has {len(inside)} values, the first one of VALUES {width}",
                    sql.span(first, row),
                    "give all rows one length",
                )
            if row < last:
                self._check_alias(row, last, width)
                return

    def _row(self, start: int, stop: int) -> tuple[int | None, list[tuple[int, int]]]:
        """The index after the row that begins at token `start`, and its values; None where that is not certain."""
        sql, outer = self.sql, start
        if sql.key(start) != "(":
            return (stop if stop - start == 1 else None), [(start, stop)]
        close = sql.partner[start]
        while sql.key(start + 1) == "(" and sql.partner[start + 1] == sql.partner[start] - 1:
            start += 1
        inside = sql.split(start + 1, sql.partner[start])
        if is_query(sql, start + 1, sql.partner[start]):
            inside = [(outer, close + 1)]
        if any(sql.is_filled(i) for i in range(start + 1, close)):
            return None, inside  # it may be several values
        has_certain_end = close + 1 == stop or sql.kind(close + 1) in ("word", "name")
        return (close + 1 if has_certain_end and sql.key(close + 1) not in OPERATORS - {"AS"} else None), inside

    def _check_alias(self, i: int, stop: int, width: int) -> None:
        """Check that `AS v(a, b)` names as many columns as the rows have values."""
        sql = self.sql
        i += sql.key(i) == "AS"
        if i + 1 < stop and sql.key(i + 1) == "(" and sql.key(i) not in NO_ALIAS and is_column_list(sql, i + 1):
            names = len(sql.split(i + 2, sql.partner[i + 1]))
            if names != width:
                raise MergeSyntaxError(
                    f"{names} names for the {width} values of a row",
                    sql.span(i, sql.partner[i + 1] + 1),
                    "give each value one name",
                )


def quoted_name(sql: Sql, i: int) -> MergeSyntaxError:
    """Return the error about the string at token i where a name must be."""
    word = sql.word(i)
    return MergeSyntaxError(f"{word} is a string", sql.at(i), f"quote a name with backquotes: `{word[1:-1]}`")


def is_column_list(sql: Sql, i: int) -> bool:
    """Return whether the names of columns in parentheses begin at token i, as after the alias of a table."""
    if sql.key(i) != "(":
        return False
    parts = sql.split(i + 1, sql.partner[i])
    return all(stop - start == 1 and sql.kind(start) in ("word", "name") for start, stop in parts)


def ends_operand(sql: Sql, i: int) -> bool:
    """Return whether token i may be the last one of an expression or of a table."""
    kind, key = sql.kind(i), sql.key(i)
    if kind == "op":
        if key == "*":
            return sql.key(i - 1) in ("SELECT", "DISTINCT", "ALL", ",", ".", "*/")
        return key in (")", "]", "?") or (key in (">", ">>", ">>>") and i in sql.partner)
    if key not in _WANT_OPERAND:
        return True
    return sql.key(i - 1) in ("SELECT", ",", "AS") or (sql.key(i - 1) == "DISTINCT" and sql.key(i - 2) == "SELECT")


def begins_operand(sql: Sql, i: int) -> bool:
    """Return whether an expression or a table may begin with token i."""
    return sql.kind(i) != "op" or sql.key(i) in _OPERAND_STARTS


def _begins_value(sql: Sql, i: int) -> bool:
    return sql.kind(i) in ("number", "string") or sql.key(i) == "("
