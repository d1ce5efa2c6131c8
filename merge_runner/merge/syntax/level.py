"""Walks one level of an expression along Spark's grammar and refuses what cannot be one.

It follows `booleanExpression` and `valueExpression` of SqlBaseParser.g4 (Spark 4.1) where that can be decided without
knowing functions. What is inside window definitions and queries is not walked: a doubt is no refusal.
"""

from __future__ import annotations

from merge_runner.merge.syntax.data_types import read_type
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.keywords import (
    FIRST_OR_LAST,
    LIKES,
    PATTERNS,
    PREDICATES,
    QUANTIFIERS,
    SPECIAL_FORMS,
    TRUTH,
)
from merge_runner.merge.syntax.operand import Operands, Remarks
from merge_runner.merge.syntax.query import is_query
from merge_runner.merge.syntax.sql import BINARY, COMPARISONS, Sql

_FAMILY = {"&": "&", "^": "^", "|": "|", "<<": "<<", ">>": "<<", ">>>": "<<", "||": "||", "+": "+", "-": "+"}
"""Operators of the levels between `*` and comparison; where two families meet, sqlglot may join them otherwise."""


class Level(Operands):
    """One level of an expression: operands with operators between, and suffixes after them."""

    def __init__(self, sql: Sql, start: int, stop: int, remarks: Remarks, *, aliased: bool = False) -> None:
        super().__init__(sql, start, stop, remarks)
        self.ands: list[int] = []
        self.has_or = False
        self.aliased = aliased
        """An alias may follow, as in the elements of `(a AS x, b)`."""
        self.between = False
        """BETWEEN waits for its AND."""
        self.compared = False
        """A comparison or predicate has been read since the last AND or OR."""
        self.families: set[str] = set()
        """The families of operators read since the last AND or OR, for those that sqlglot puts on one level."""

    def run(self) -> None:
        """Walk the level. Raises MergeSyntaxError where Spark's parser would stop, whatever its placeholders are."""
        if self.start == self.stop:
            raise MergeSyntaxError("an expression is missing", self.sql.span(self.start, self.stop))
        try:
            self._walk()
        except MergeSyntaxError:
            if not any(self.sql.is_filled(i) for i in self.sql.top(self.start, self.stop)):
                raise
            # `a = b {more}`: it may be anything, an OR too.
            self.remarks.doubts.add(self.sql.tokens[self.start].start)
            self.todo.clear()
            self.has_or = True

    def _walk(self) -> None:
        has_operand = False
        while self.i < self.stop:
            if has_operand:
                if self._alias():
                    return
                has_operand = self._operator()
            else:
                has_operand = self._operand()
        if not has_operand:
            last = self.sql.at(self.stop - 1)
            raise MergeSyntaxError(f'nothing follows "{self.sql.word(self.stop - 1)}"', last, "an operand is missing")
        if self.between:
            raise MergeSyntaxError(
                "BETWEEN wants two bounds", self.sql.span(self.start, self.stop), "x BETWEEN a AND b"
            )

    def _alias(self) -> bool:
        """Whether the rest of the level is an alias."""
        if not self.aliased or self.sql.kind(self.i) not in ("word", "name"):
            return False
        if self._peek() != "AS":
            return self.i + 1 == self.stop
        self.i += 1
        if self.sql.kind(self.i) in ("word", "name") and self._peek(1) != "(":
            self.i += 1
        elif self._peek() == "(" or self._peek(1) == "(":
            return True  # several names, or IDENTIFIER('name')
        if self.i < self.stop:
            raise self._unexpected()
        return True

    def _operator(self) -> bool:
        """Reads an operator (False: an operand must follow) or a suffix of the operand (True)."""
        sql, key, kind = self.sql, self._peek(), self.sql.kind(self.i)
        if key in ("AND", "OR"):
            return self._conjunction(key)
        if self.closed or kind in ("string", "number", "name"):
            raise self._unexpected()
        if key in (".", "["):
            self._access(key)
        elif key == "(" and (sql.kind(self.i - 1) in ("word", "name") or self._after_identifier()):
            self._call()
        elif key == "::":
            self.i = read_type(sql, self.i + 1, self.stop)
        elif key == ":":
            self._path()
        elif key == "->":
            return self._lambda()
        elif key in BINARY:
            self._binary(key)
            return False
        elif kind == "word":
            return self._word_operator(key)
        else:
            raise self._unexpected()
        return True

    def _access(self, key: str) -> None:
        """Reads `.field` or `[index]`."""
        sql = self.sql
        if key == ".":
            if sql.kind(self.i + 1) not in ("word", "name") and self._peek(1) != "*":
                self.i += 1
                raise self._unexpected()
            self.i += 1
            if self._peek() == "*":
                self._star()
            else:
                self.i += 1
            return
        close = sql.partner[self.i]
        if close == self.i + 1:
            raise MergeSyntaxError("the parentheses are empty", sql.span(self.i, close + 1))
        self.todo.append((self.i + 1, close, False))
        self.i = close + 1

    def _binary(self, key: str) -> None:
        if key in COMPARISONS:
            self._compare()
        elif key in _FAMILY:
            self.families.add(_FAMILY[key])
            if len(self.families - {"+"}) > 1 or self.families >= {"||", "+"}:
                self._doubt()
        self.boolean = False
        self.i += 1

    def _compare(self) -> None:
        """Spark has all comparisons on one level, above the predicates; sqlglot has three levels."""
        if self.compared:
            self._doubt()
        self.compared = True
        self.families.clear()

    def _doubt(self) -> None:
        self.remarks.doubts.add(self.sql.tokens[self.i].start)

    def _conjunction(self, key: str) -> bool:
        if key == "AND" and self.between:
            self.between = False
            self.boolean = False
        else:
            if key == "AND":
                self.ands.append(self.i)
            else:
                self.has_or = True
            self.boolean, self.closed, self.compared = True, False, False
            self.families.clear()
        self.i += 1
        return False

    def _path(self) -> None:
        """A path into a variant, `v:a.b[0]` or `v:['a']`."""
        if self.sql.kind(self.i + 1) in ("word", "name"):
            self.i += 2
        elif self._peek(1) == "[":
            self.i = self.sql.partner[self.i + 1] + 1
        else:
            raise self._unexpected()

    def _lambda(self) -> bool:
        before = self.i - 1
        plain = self.sql.kind(before) in ("word", "name") and self.sql.key(before - 1) != "."
        if not plain and self.sql.key(before) != ")":
            raise self._unexpected()
        if self.sql.key(self.start - 1) not in ("(", ","):
            self._doubt()  # outside of a function sqlglot takes the arrow for a path into JSON
        self.i += 1
        self.boolean = True
        return False

    def _after_identifier(self) -> bool:
        """Whether the operand is IDENTIFIER(…), which may be the name of a function."""
        sql = self.sql
        return sql.key(self.i - 1) == ")" and any(
            sql.word(i).upper() == "IDENTIFIER" and sql.partner[i + 1] == self.i - 1
            for i in range(self.start, self.i - 1)
            if sql.key(i + 1) == "("
        )

    def _call(self) -> None:
        sql, name, first, close = self.sql, self.sql.key(self.i - 1), self.i + 1, self.sql.partner[self.i]
        begins_condition = self.boolean and self.i - 1 == self.start
        self.i = close + 1
        cuts = [i for i in sql.top(first, close) if sql.key(i) == "AS"] if name in ("CAST", "TRY_CAST") else []
        if cuts:  # without AS it is a call of some function of that name
            self._cast(first, cuts[-1], close)
        elif name == "EXISTS" and is_query(sql, first, close):
            self.queries.append((first, close))
            self.closed = begins_condition
        elif name not in SPECIAL_FORMS and first < close:
            if name in FIRST_OR_LAST and sql.key(close - 1) == "NULLS" and close - first > 2:
                close -= 2  # IGNORE NULLS
            for start, stop in self._list(first, close):
                self._argument(start, stop)

    def _argument(self, start: int, stop: int) -> None:
        sql = self.sql
        if stop - start > 1 and sql.key(start) in ("DISTINCT", "ALL") and sql.kind(start + 1) != "op":
            start += 1
        elif stop - start > 2 and sql.key(start + 1) == "=>":
            start += 2
        if sql.key(start) != "TABLE":
            self.todo.append((start, stop, False))

    def _cast(self, start: int, cut: int, stop: int) -> None:
        sql = self.sql
        self.todo.append((start, cut, False))
        after = read_type(sql, cut + 1, stop)
        if sql.key(cut + 1) in ("TIMESTAMP", "TIME") and sql.key(after) == "WITH":
            raise MergeSyntaxError(
                "Spark has no type with a time zone",
                sql.span(cut + 1, stop),
                f"write {sql.word(cut + 1)}",
                kind="unsupported",
            )

    def _word_operator(self, key: str) -> bool:
        sql = self.sql
        if key == "NOT" and self._peek(1) in PREDICATES:
            self.i += 1
            key = self._peek()
        if key in PREDICATES or key == "IS":
            self._compare()
        if key == "IN":
            return self._in()
        if key in LIKES and self._peek(1) in QUANTIFIERS and self._peek(2) == "(":
            close = sql.partner[self.i + 2]
            self.todo += [(start, stop, False) for start, stop in self._list(self.i + 3, close)]
            self.i, self.closed = close + 1, True
            return True
        if key in LIKES or key in PATTERNS or key in ("DIV", "BETWEEN"):
            self.between = key == "BETWEEN"
            self.boolean = False
            self.i += 1
            return False
        if key == "IS":
            return self._is()
        if key == "ESCAPE" and sql.kind(self.i + 1) == "string":
            escape = sql.word(self.i + 1)[1:-1]
            if len(escape) != 1 and "\\" not in escape and escape not in ("''", '""'):
                raise MergeSyntaxError("ESCAPE wants one character", sql.at(self.i + 1))
            self.i, self.closed = self.i + 2, True
            return True
        if not self._suffix(key):
            raise self._unexpected()
        return True

    def _suffix(self, key: str) -> bool:
        """Reads COLLATE, or what may follow the parentheses of a function, without looking inside."""
        sql = self.sql
        if key == "COLLATE" and sql.kind(self.i + 1) in ("word", "name"):
            self.i += 2
        elif sql.key(self.i - 1) not in (")", "NULLS"):
            return False
        elif key in ("IGNORE", "RESPECT") and self._peek(1) == "NULLS":
            self.i += 2
        elif key in ("FILTER", "OVER") and self._peek(1) == "(":
            self.i = sql.partner[self.i + 1] + 1
        elif key == "OVER" and sql.kind(self.i + 1) in ("word", "name"):
            self.i += 2
        elif key == "WITHIN" and self._peek(1) == "GROUP" and self._peek(2) == "(":
            self.i = sql.partner[self.i + 2] + 1
        else:
            return False
        return True

    def _in(self) -> bool:
        sql, first = self.sql, self.i + 2
        if self._peek(1) != "(":
            raise MergeSyntaxError(
                "IN requires a list in parentheses",
                sql.span(self.i, min(first, self.stop)),
                "array_contains(array, x) for an array",
            )
        close = sql.partner[self.i + 1]
        if is_query(sql, first, close):
            self.queries.append((first, close))
        else:
            self.todo += [(start, stop, False) for start, stop in self._list(first, close)]
        self.i, self.closed = close + 1, True
        return True

    def _is(self) -> bool:
        after = 2 if self._peek(1) == "NOT" else 1
        if self._peek(after) in TRUTH:
            self.i, self.closed = self.i + after + 1, True
            return True
        if self._peek(after) == "DISTINCT" and self._peek(after + 1) == "FROM":
            self.i, self.boolean = self.i + after + 2, False
            return False
        raise MergeSyntaxError(
            f"IS {self.sql.word(self.i + after)} is not known".replace("  ", " "),
            self.sql.span(self.i, min(self.i + after + 1, self.stop)),
            "IS [NOT] takes NULL, TRUE, FALSE, UNKNOWN and DISTINCT FROM",
        )
