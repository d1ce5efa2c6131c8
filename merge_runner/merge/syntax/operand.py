"""Reads the operands of an expression: literals, names, parentheses, CASE, and the prefixes in front of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.forms import FormUse
from merge_runner.merge.syntax.keywords import AMBIGUOUS_NAMES, OPERATORS
from merge_runner.merge.syntax.literals import check_number, check_typed, read_interval
from merge_runner.merge.syntax.query import is_query
from merge_runner.merge.syntax.sql import BINARY, COMPARISONS, Sql

_AFTER_NAME = BINARY - {"+", "-"} | {".", "[", "::", "->"}
"""Where one of these follows, the word NOT is a column."""


@dataclass(frozen=True)
class Remarks:
    """What a reader of the expressions has to know, as offsets in the text.

    `names` are keywords that are columns where they appear; `doubts` are operators whose precedence, and forms whose
    meaning, sqlglot takes in another way than Spark. `forms` are what only newer lines of Spark take.
    """

    names: set[int] = field(default_factory=set)
    doubts: set[int] = field(default_factory=set)
    forms: list[FormUse] = field(default_factory=list)


class Operands:
    """Where the reading of one level of an expression is, and how it reads an operand.

    What is in parentheses is put on `todo`, so that depth costs no recursion.
    """

    def __init__(self, sql: Sql, start: int, stop: int, remarks: Remarks) -> None:
        self.sql = sql
        self.start = start
        self.i = start
        self.stop = stop
        self.remarks = remarks
        self.todo: list[tuple[int, int, bool]] = []
        """Ranges inside parentheses that are expressions too, and whether an alias may end them."""
        self.queries: list[tuple[int, int]] = []
        """Ranges inside parentheses that are queries."""
        self.boolean = True
        """A condition may begin here, so that NOT is the operator."""
        self.closed = False
        """A predicate has ended: only AND and OR may follow."""

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
            self._case()
        elif key == "(":
            self._group()
        elif kind == "string":
            while self.i < self.stop and sql.kind(self.i) == "string":
                self.i += 1
        elif kind == "number":
            check_number(sql, self.i)
            self.i += 1
        elif kind == "word":
            self._word()
        elif kind == "name" or key == "?":
            self.i += 1
        elif key == ":" and sql.kind(self.i + 1) in ("word", "name"):
            self.i += 2
        elif key == "*":
            self._star()
        else:
            raise self._unexpected()
        return True

    def _star(self) -> None:
        self.i += 1
        if self._peek() == "EXCEPT" and self._peek(1) == "(":
            self.i = self.sql.partner[self.i + 1] + 1

    def _case(self) -> None:
        """A CASE with the usual order of its words is walked; with columns called WHEN or END it is passed over."""
        sql, end = self.sql, self.sql.partner[self.i]
        cuts = [i for i in sql.top(self.i + 1, end) if sql.key(i) in ("WHEN", "THEN", "ELSE")]
        words = [sql.key(i) for i in cuts]
        if "THEN" not in words and "END" not in sql.word(self.i + 1).upper():
            raise MergeSyntaxError("the CASE has no THEN", sql.at(self.i), "write CASE WHEN condition THEN value END")
        branches = [words[i : i + 2] for i in range(0, len(words), 2)]
        if branches and branches[-1] == ["ELSE"]:
            branches.pop()
        parts = list(zip([self.i + 1, *(cut + 1 for cut in cuts)], [*cuts, end], strict=True))
        if not parts[0][0] < parts[0][1]:
            del parts[0]  # no value after CASE
        if branches and all(branch == ["WHEN", "THEN"] for branch in branches) and all(a < b for a, b in parts):
            self.todo += [(start, stop, False) for start, stop in parts]
        self.i = end + 1

    def _not_is_a_name(self) -> bool:
        key = self._peek(1)
        if key in ("AND", "OR", "IS"):  # unless these are columns themselves
            return self.i + 2 < self.stop and self._peek(2) not in COMPARISONS | OPERATORS
        return self.i + 1 >= self.stop or key in _AFTER_NAME

    def _word(self) -> None:
        sql, i = self.sql, self.i
        if i + 1 < self.stop and sql.kind(i + 1) == "string":
            self.i += 2
            if sql.key(i) == "INTERVAL" and self.i < self.stop and sql.kind(self.i) == "word" and self._is_unit():
                self.i = read_interval(sql, i + 1, self.stop)
            else:
                check_typed(sql, i)
            return
        signed = sql.key(i + 1) in ("+", "-")
        value = i + 2 if signed else i + 1
        is_value = value < self.stop and (sql.kind(value) in ("number", "string") or sql.is_filled(value))
        if sql.key(i) == "INTERVAL" and is_value and (not signed or sql.kind(value + 1) == "word"):
            self.i = read_interval(sql, i + 1, self.stop)
            return
        if sql.key(i) in AMBIGUOUS_NAMES:
            self.remarks.names.add(sql.tokens[i].start)
        self.i += 1

    def _is_unit(self) -> bool:
        return self._peek() not in OPERATORS and self._peek() not in ("NOT", "THEN", "WHEN", "ELSE", "END")

    def _group(self) -> None:
        sql, first, close = self.sql, self.i + 1, self.sql.partner[self.i]
        self.i = close + 1
        if is_query(sql, first, close):
            self.queries.append((first, close))
            return
        parts = self._list(first, close)
        if self._peek() == "->":
            if len(parts) < 2:
                raise MergeSyntaxError(
                    "a lambda of one argument has no parentheses", sql.span(first - 1, close + 1), "write x -> …"
                )
            return
        self.todo += [(start, stop, len(parts) > 1) for start, stop in parts]

    def _list(self, start: int, stop: int) -> list[tuple[int, int]]:
        """The elements of a list in parentheses, none of them empty."""
        parts = self.sql.split(start, stop)
        if not parts:
            span = self.sql.span(start - 1, stop + 1)
            if self.sql.key(start - 2) == "IN":
                raise MergeSyntaxError("the list of IN is empty", span, "leave the condition out where it may be empty")
            raise MergeSyntaxError("the parentheses are empty", span)
        for first, last in parts:
            if first == last:
                comma = last if self.sql.key(last) == "," else first - 1
                raise MergeSyntaxError("a comma too many", self.sql.at(comma), "remove it, or write what is missing")
        return parts

    def _unexpected(self) -> MergeSyntaxError:
        return unexpected(self.sql, self.i, self.start, after_predicate=self.closed)


_INSTEAD = {
    "SIMILAR": "write RLIKE",
    "GLOB": "write LIKE or RLIKE",
    "ISNULL": "write IS NULL",
    "NOTNULL": "write IS NOT NULL",
    "AT": "write from_utc_timestamp(x, 'zone') or to_utc_timestamp(x, 'zone')",
    "OVERLAPS": "compare the bounds: a.start < b.end AND b.start < a.end",
    "RETURNING": "Spark's MERGE returns no rows",
    "WHERE": "put the condition after WHEN … AND",
    "ORDER": "sort_array(collect_list(x)), or listagg(x) WITHIN GROUP (ORDER BY y)",
    "~": "write RLIKE",
    "->": "write get_json_object(x, '$.k'), or x:k for a variant",
}
"""What to write instead of a word or operator of another system."""

_MISPLACED = {
    "AS": "an expression has no alias here",
    "WHEN": "a clause is WHEN [NOT] MATCHED …; a CASE wants END",
    ">": "write get_json_object(x, '$.k'), or x:k for a variant",
    "BEGIN": "a MERGE is a statement by itself",
}
"""What to do about a word or operator that Spark has in other places."""


def unexpected(sql: Sql, i: int, start: int, *, after_predicate: bool) -> MergeSyntaxError:
    """The error for token i of an expression that begins at token `start`."""
    if sql.key(i) == "/*+":
        return MergeSyntaxError("a hint follows SELECT only", sql.at(i), "remove the + or the hint")
    key = sql.key(i)
    hint = _INSTEAD.get(key)
    foreign = hint is not None or (key == ">" and sql.key(i - 1) == "->")
    hint = hint or _MISPLACED.get(key)
    if key == "[":
        hint, foreign = "write array(…)", True
    elif key == "?" and sql.key(i + 1) == "::":
        hint, foreign = "write try_cast(x AS type)", True
    elif sql.kind(i) == "string" and i > start and sql.key(i - 1) == ".":
        hint = f"quote a name with backquotes: `{sql.word(i)[1:-1]}`"
    elif after_predicate:
        hint = "put the predicate before it in parentheses"
    return MergeSyntaxError(
        f'"{_short(sql.word(i))}" is not allowed here', sql.at(i), hint, kind="unsupported" if foreign else "syntax"
    )


def _short(word: str) -> str:
    return word if len(word) <= 30 else word[:29] + "…"
