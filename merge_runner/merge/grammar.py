"""Walks an expression along Spark's grammar: refuses what cannot be one, and finds the ANDs that join its conjuncts.

It follows `booleanExpression` and `valueExpression` of SqlBaseParser.g4 (Spark 4.1) as far as that can be said without
knowing functions. What is inside CASE, window definitions and queries is not walked: a doubt is no refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from merge_runner.merge.data_types import read_type
from merge_runner.merge.error import MergeSyntaxError
from merge_runner.merge.keywords import (
    LIKES,
    NAMES_TO_TELL,
    OPERATORS,
    PATTERNS,
    PREDICATES,
    QUANTIFIERS,
    SPECIAL_FORMS,
    TRUTH,
)
from merge_runner.merge.literals import check_number, check_typed, read_interval
from merge_runner.merge.query import check_query, is_query
from merge_runner.merge.sql import BINARY, COMPARISONS, Sql

_FAMILY = {"&": "&", "^": "^", "|": "|", "<<": "<<", ">>": "<<", ">>>": "<<", "||": "||", "+": "+", "-": "+"}
"""Operators of the levels between `*` and comparison; where two families meet, sqlglot may join them otherwise."""

INSTEAD = {
    "SIMILAR": "write RLIKE",
    "GLOB": "write LIKE or RLIKE",
    "ISNULL": "write IS NULL",
    "NOTNULL": "write IS NOT NULL",
    "AT": "write from_utc_timestamp(x, 'zone') or to_utc_timestamp(x, 'zone')",
    "OVERLAPS": "compare the bounds: a.start < b.end AND b.start < a.end",
    "RETURNING": "Spark's MERGE returns no rows",
    "WHERE": "put the condition behind WHEN … AND",
    "ORDER": "sort_array(collect_list(x)), or listagg(x) WITHIN GROUP (ORDER BY y)",
    "AS": "an expression has no alias here",
    "WHEN": "a clause is WHEN [NOT] MATCHED …; a CASE wants END",
    "~": "write RLIKE",
    "->": "write get_json_object(x, '$.k'), or x:k for a variant",
    ">": "write get_json_object(x, '$.k'), or x:k for a variant",
    "BEGIN": "a MERGE stands alone",
}
"""What to write instead of a word or operator that Spark does not have in this place."""


@dataclass(frozen=True)
class Remarks:
    """What a reader of the expressions has to know, as offsets in the text.

    `names` are keywords that are columns where they stand; `doubts` are operators whose precedence, and forms whose
    meaning, sqlglot takes in another way than Spark.
    """

    names: set[int] = field(default_factory=set)
    doubts: set[int] = field(default_factory=set)


def check(sql: Sql, start: int, stop: int, remarks: Remarks) -> None:
    """Walks the expression of the tokens [start, stop) and adds to `remarks`.

    Raises MergeSyntaxError where Spark's parser would stop.
    """
    todo = [(start, stop, False)]
    while todo:
        first, last, aliased = todo.pop()
        level = _Level(sql, first, last, remarks, aliased)
        level.run()
        todo += level.todo


def conjuncts(sql: Sql, start: int, stop: int) -> list[tuple[int, int]]:
    """The ranges that AND joins in the (checked) condition [start, stop).

    Brackets are opened unless they hold an OR at their top, a list or a query.
    """
    found: list[tuple[int, int]] = []
    todo = [(start, stop)]
    while todo:
        first, last = todo.pop()
        level = _Level(sql, first, last, Remarks())
        level.run()
        if level.has_or:
            found.append((first, last))
        elif level.ands:
            todo += reversed(list(zip([first, *(i + 1 for i in level.ands)], [*level.ands, last], strict=True)))
        elif _may_open(sql, first, last):
            todo.append((first + 1, last - 1))
        else:
            found.append((first, last))
    return found


def _may_open(sql: Sql, start: int, stop: int) -> bool:
    first, last = start + 1, stop - 1
    if sql.key(start) != "(" or sql.partner[start] != last or is_query(sql, first, last):
        return False
    if any(sql.key(i) == "," for i in sql.top(first, last)):
        return False
    level = _Level(sql, first, last, Remarks())
    level.run()
    return not level.has_or


class _Level:
    """One level of an expression; what is in brackets is put on `todo`, so that depth costs no recursion."""

    def __init__(self, sql: Sql, start: int, stop: int, remarks: Remarks, aliased: bool = False) -> None:
        self.sql = sql
        self.start = start
        self.i = start
        self.stop = stop
        self.remarks = remarks
        self.todo: list[tuple[int, int, bool]] = []
        """Ranges inside brackets that are expressions too, and whether an alias may end them."""
        self.ands: list[int] = []
        self.has_or = False
        self.aliased = aliased
        """An alias may follow, as in the elements of `(a AS x, b)`."""
        self.boolean = True
        """A condition may begin here, so that NOT is the operator."""
        self.closed = False
        """A predicate has ended: only AND and OR may follow."""
        self.between = False
        """BETWEEN waits for its AND."""
        self.compared = False
        """A comparison or predicate has been read since the last AND or OR."""
        self.families: set[str] = set()
        """The families of operators read since the last AND or OR, for those that sqlglot puts on one level."""

    def run(self) -> None:
        if self.start == self.stop:
            raise MergeSyntaxError("an expression is missing", self.sql.span(self.start, self.stop))
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

    def _peek(self, ahead: int = 0) -> str:
        i = self.i + ahead
        return self.sql.key(i) if i < self.stop else ""

    def _operand(self) -> bool:
        """Reads a prefix (False) or an operand (True)."""
        sql, key, kind = self.sql, self._peek(), self.sql.kind(self.i)
        if key in ("+", "-", "~"):
            self.boolean = False
            self.i += 1
            return False
        if self.boolean and (key == "!" or (key == "NOT" and not self._not_is_a_name())):
            self.i += 1
            return False
        if key == "CASE" and sql.partner[self.i] > 0:
            self.i = sql.partner[self.i] + 1
        elif key == "(":
            self._group()
        elif kind == "string":
            while self.i < self.stop and sql.kind(self.i) == "string":
                self.i += 1
        elif kind == "number":
            check_number(sql, self.i)
            self.i += 1
        elif key in ("?", "*"):
            self.i += 1
            if key == "*" and self._peek() == "EXCEPT" and self._peek(1) == "(":
                self.i = sql.partner[self.i + 1] + 1
        elif key == ":":
            self.i += 2
        elif kind == "word":
            self._word()
        elif kind == "name":
            self.i += 1
        else:
            raise self._unexpected()
        return True

    def _not_is_a_name(self) -> bool:
        key = self._peek(1)
        return self.i + 1 >= self.stop or key in BINARY - {"+", "-"} or key in (".", "IS", "[", "::")

    def _word(self) -> None:
        sql, i = self.sql, self.i
        if i + 1 < self.stop and sql.kind(i + 1) == "string":
            check_typed(sql, i)
            self.i += 2
            if sql.key(i) == "INTERVAL" and self.i < self.stop and sql.kind(self.i) == "word":
                self.i = max(read_interval(sql, i + 1, self.stop), self.i) if self._is_unit() else self.i
            return
        signed = sql.key(i + 1) in ("+", "-")
        value = i + 2 if signed else i + 1
        is_value = value < self.stop and sql.kind(value) in ("number", "string")
        if sql.key(i) == "INTERVAL" and is_value and (not signed or sql.kind(value + 1) == "word"):
            self.i = read_interval(sql, i + 1, self.stop)
            return
        if sql.key(i) in NAMES_TO_TELL:
            self.remarks.names.add(sql.tokens[i].start)
        self.i += 1

    def _is_unit(self) -> bool:
        return self._peek() not in OPERATORS and self._peek() not in ("NOT", "THEN", "WHEN", "ELSE", "END")

    def _group(self) -> None:
        sql, first, close = self.sql, self.i + 1, self.sql.partner[self.i]
        self.i = close + 1
        if is_query(sql, first, close):
            check_query(sql, first, close)
            return
        parts = self._list(first, close)
        if self._peek() == "->":
            if len(parts) < 2:
                raise MergeSyntaxError(
                    "a lambda of one argument has no brackets", sql.span(first - 1, close + 1), "write x -> …"
                )
            return
        self.todo += [(start, stop, len(parts) > 1) for start, stop in parts]

    def _list(self, start: int, stop: int) -> list[tuple[int, int]]:
        """The elements of a list in brackets, none of them empty."""
        parts = self.sql.split(start, stop)
        if not parts:
            raise MergeSyntaxError("the brackets are empty", self.sql.span(start - 1, stop + 1))
        for first, last in parts:
            if first == last:
                comma = last if self.sql.key(last) == "," else first - 1
                raise MergeSyntaxError("a comma too many", self.sql.at(comma), "remove it, or write what is missing")
        return parts

    def _alias(self) -> bool:
        """Whether the rest of the level is an alias."""
        if not self.aliased or self.sql.kind(self.i) not in ("word", "name"):
            return False
        return self._peek() == "AS" or self.i + 1 == self.stop

    def _operator(self) -> bool:
        """Reads an operator (False: an operand must follow) or a suffix of the operand (True)."""
        sql, key, kind = self.sql, self._peek(), self.sql.kind(self.i)
        if key in ("AND", "OR"):
            return self._conjunction(key)
        if self.closed or kind in ("string", "number", "name"):
            raise self._unexpected()
        if key == ".":
            if sql.kind(self.i + 1) not in ("word", "name") and self._peek(1) != "*":
                self.i += 1
                raise self._unexpected()
            self.i += 2
        elif key == "(" and (sql.kind(self.i - 1) in ("word", "name") or self._behind_identifier()):
            self._call()
        elif key == "[":
            close = sql.partner[self.i]
            if close == self.i + 1:
                raise MergeSyntaxError("the brackets are empty", sql.span(self.i, close + 1))
            self.todo.append((self.i + 1, close, False))
            self.i = close + 1
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

    def _behind_identifier(self) -> bool:
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
            check_query(sql, first, close)
            self.closed = begins_condition
        elif name not in SPECIAL_FORMS and first < close:
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
        behind = read_type(sql, cut + 1, stop)
        if sql.key(cut + 1) in ("TIMESTAMP", "TIME") and sql.key(behind) == "WITH":
            raise MergeSyntaxError(
                "Spark has no type with a time zone", sql.span(cut + 1, stop), f"write {sql.word(cut + 1)}"
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
        """Reads COLLATE, or what may follow the brackets of a function, without looking inside."""
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
                "IN wants a list in brackets",
                sql.span(self.i, min(first, self.stop)),
                "array_contains(array, x) for an array",
            )
        close = sql.partner[self.i + 1]
        if is_query(sql, first, close):
            check_query(sql, first, close)
        else:
            self.todo += [(start, stop, False) for start, stop in self._list(first, close)]
        self.i, self.closed = close + 1, True
        return True

    def _is(self) -> bool:
        behind = 2 if self._peek(1) == "NOT" else 1
        if self._peek(behind) in TRUTH:
            self.i, self.closed = self.i + behind + 1, True
            return True
        if self._peek(behind) == "DISTINCT" and self._peek(behind + 1) == "FROM":
            self.i, self.boolean = self.i + behind + 2, False
            return False
        raise MergeSyntaxError(
            f"IS {self.sql.word(self.i + behind)} is not known".replace("  ", " "),
            self.sql.span(self.i, min(self.i + behind + 1, self.stop)),
            "IS [NOT] takes NULL, TRUE, FALSE, UNKNOWN and DISTINCT FROM",
        )

    def _unexpected(self) -> MergeSyntaxError:
        sql, i = self.sql, self.i
        hint = INSTEAD.get(self._peek())
        if sql.key(i) == "/*+":
            return MergeSyntaxError("a hint stands behind SELECT only", sql.at(i), "remove the + or the hint")
        if sql.key(i) == "[":
            hint = "write array(…)"
        elif sql.key(i) == "::" or (sql.key(i) == "?" and sql.key(i + 1) == "::"):
            hint = "write try_cast(x AS type)"
        elif sql.kind(i) == "string" and i > self.start and sql.kind(i - 1) == "word":
            hint = "a name in double quotes is a string in Spark: use backquotes"
        elif self.closed:
            hint = "put the predicate in front of it in brackets"
        return MergeSyntaxError(f'"{_short(sql.word(i))}" cannot stand here', sql.at(i), hint)


def _short(word: str) -> str:
    return word if len(word) <= 30 else word[:29] + "…"
