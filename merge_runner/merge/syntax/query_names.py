"""Which keywords of sqlglot are names where they appear in a query.

Spark reserves no word by default: all but a few (`keywords.NO_ALIAS`) name tables, aliases and columns. sqlglot takes
many of them for what they usually begin, so position decides where they do not. A keyword that is not found
here leaves the query opaque, and is never read as something else: `tests/merge/test_keywords.py` holds all of Spark's
keywords against what Spark's own parser makes of them.
"""

from __future__ import annotations

from merge_runner.merge.syntax.keywords import AFTER_RELATION, AMBIGUOUS_NAMES, NO_ALIAS, OPERATORS, words
from merge_runner.merge.syntax.sql import BINARY, Sql

_KEYWORDS = AMBIGUOUS_NAMES | {
    *("CUBE", "LIMIT", "OFFSET", "ROLLUP", "WINDOW"),
    *("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER"),
}
_ENDS = frozenset({"", ")", ","})
_BEGIN_CLAUSE = words("WHERE HAVING LIMIT OFFSET ON USING GROUP ORDER WINDOW AS")
"""An alias that is called so is followed by the end of its query, or nothing is certain."""
_BEFORE_OPERAND = (BINARY - {"*"}) | {"(", ",", "SELECT", "WHERE", "ON", "BY", "HAVING", "AND", "OR"}
_AFTER_OPERAND = (BINARY - {"+", "-", "*"}) | _ENDS | {"[", "::", "AS", "FROM", "ASC", "DESC", "AND", "OR", "IS"}
_WANT_OPERAND = OPERATORS | {"DISTINCT", "ALL", "NOT", "CASE", "WHEN", "THEN", "ELSE", "SELECT"}
_NO_COLUMN_ALIAS = OPERATORS - {"IN", "BETWEEN"} | {"AS"}


def names_in_query(sql: Sql, start: int, stop: int) -> set[int]:
    """Return the offsets of the keywords in the tokens [start, stop) of a query that are names there."""
    return _Names(sql, start, stop).read()


class _Names:
    """Walks a query once; `relation_ends` is the index of the token after the last name of a table."""

    def __init__(self, sql: Sql, start: int, stop: int) -> None:
        self.sql = sql
        self.start = start
        self.stop = stop
        self.names: set[int] = set()
        self.relation_ends = -1
        self.type_ends = -1
        """Where the parentheses of a CAST close: the word after its AS is a type."""

    def read(self) -> set[int]:
        sql, tokens, names = self.sql, self.sql.tokens, self.names
        before = ""
        """The key of the token before; empty for a name."""
        for i in range(self.start, self.stop):
            kind, key, at, end = tokens[i]
            if kind in ("word", "name"):
                if key in ("CAST", "TRY_CAST"):
                    self.type_ends = max(self.type_ends, sql.partner[i + 1] if sql.key(i + 1) == "(" else -1)
                # After a dot a word is a name, and has no key.
                is_keyword = (key or sql.text[at:end].upper()) in _KEYWORDS and sql.partner[i] < 0
                if self._is_relation(i, before):
                    if is_keyword and not self._begins_more(i):
                        names.add(at)
                    if not is_keyword or at in names:
                        self.relation_ends = i + 1
                elif is_keyword and self._is_name(i, before):
                    names.add(at)
                if at in names:
                    key = ""
            before = key
        return names

    def _is_relation(self, i: int, before: str) -> bool:
        """Whether it is the first part of the name of a table, or a further one."""
        if before == "FROM":
            return self.sql.key(i - 2) != "DISTINCT" or self.sql.key(i - 3) not in ("IS", "NOT")
        return before == "JOIN" or (before == "." and self.relation_ends == i - 1)

    def _is_name(self, i: int, before: str) -> bool:
        key, after = self.sql.key(i), self._after(i)
        if before == "." or after == ".":
            return True
        if after == "AS" and self.sql.key(i + 2) == "(" and before in ("WITH", "RECURSIVE", ","):
            return True
        if self.relation_ends == i:
            if key == "AS":  # `FROM s AS LEFT JOIN u`: no table has the alias LEFT
                return after in _ENDS or after in NO_ALIAS
            return after in _ENDS or (after in AFTER_RELATION and key not in NO_ALIAS and key not in _BEGIN_CLAUSE)
        if before == "AS":
            return i > self.type_ends
        if key == "DISTINCT" and before in ("SELECT", "BY"):
            return after in (",", ")")
        if before in _BEFORE_OPERAND:
            return after in _AFTER_OPERAND and key not in _WANT_OPERAND
        is_operand = before in ("", ")") or (before not in _WANT_OPERAND and self.sql.kind(i - 1) != "op")
        return i > self.start and is_operand and after == "FROM" and key not in _NO_COLUMN_ALIAS

    def _begins_more(self, i: int) -> bool:
        """Whether a keyword after FROM or JOIN begins something else than a name: VALUES (…), LATERAL f(x), NOT x."""
        after = self._after(i)
        if after in _ENDS or after == "." or (after in AFTER_RELATION and after != "LATERAL"):
            return False
        if after == "(" or self.sql.kind(i + 1) in ("string", "number"):
            return True
        return self.sql.key(i) in ("LATERAL", "VALUES", "SELECT", "NOT", "CASE")

    def _after(self, i: int) -> str:
        """The key of the token that follows; empty at the end only."""
        return (self.sql.key(i + 1) or "<name or value>") if i + 1 < self.stop else ""
