"""Cuts a query into its clauses along Spark's grammar, and refuses an order or form of clauses that cannot be one.

Spark reserves no word, so a clause counts only where an operand ends before its first word and another begins after it.
Where the clauses cannot be distinguished with certainty (a query that begins with FROM, pipes, TRANSFORM), the query is
taken as it is.
"""

from __future__ import annotations

from typing import NamedTuple

from merge_runner.formats.grammar import QUALIFY
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.forms import FormUse
from merge_runner.merge.syntax.keywords import AFTER_RELATION, OPERATORS, SET_OPERATORS, TYPED_LITERALS, words
from merge_runner.merge.syntax.query import is_query
from merge_runner.merge.syntax.query_tables import (
    Parts,
    Tables,
    begins_operand,
    ends_operand,
    is_column_list,
    quoted_name,
)
from merge_runner.merge.syntax.sql import BINARY, Sql

_CLAUSES = ("SELECT", "FROM", "LATERAL", "WHERE", "GROUP", "HAVING", "QUALIFY")
_RANKS = {
    key: rank for rank, key in enumerate((*_CLAUSES, "ORDER", "CLUSTER", "DISTRIBUTE", "SORT", "LIMIT", "OFFSET"))
}
"""The order of the clauses; WINDOW may be before and after ORDER BY."""
_WITH_BY = words("GROUP ORDER CLUSTER DISTRIBUTE SORT")
_BEFORE_SET = words("ORDER CLUSTER DISTRIBUTE SORT LIMIT OFFSET")
"""Clauses that only the query as a whole has, after its last branch."""
_AFTER_ALIAS = AFTER_RELATION | {"FROM", "TABLESAMPLE"}
_BRANCHES = words("SELECT VALUES TABLE FROM MAP REDUCE")


class Clause(NamedTuple):
    """The clause that begins with token `at`; [start, stop) is what it holds."""

    key: str
    at: int
    start: int
    stop: int


def query_parts(sql: Sql, start: int, stop: int) -> Parts:
    """Return the expressions and queries in the clauses of the query of the tokens [start, stop).

    Raises MergeSyntaxError for clauses that Spark's parser refuses, whatever its placeholders are.
    """
    try:
        return _Query(sql, start, stop).read()
    except MergeSyntaxError as error:
        if error.kind == "unsupported" or not any(sql.is_filled(i) for i in sql.top(start, stop)):
            raise
        return Parts()


class _Query:
    def __init__(self, sql: Sql, start: int, stop: int) -> None:
        self.sql = sql
        self.start = start
        self.stop = stop
        self.parts = Parts()

    def read(self) -> Parts:
        sql, start = self.sql, self._past_ctes()
        top = list(sql.top(start, self.stop))
        if start == self.stop or any(sql.key(i) == "|>" for i in top):
            return self.parts
        cuts = [i for i in top if i > start and self._joins_queries(i)]
        firsts = [start, *(cut + 1 for cut in cuts)]
        for first, last in zip(firsts, [*cuts, self.stop], strict=True):
            after_all = first + (first > start and sql.key(first) in ("ALL", "DISTINCT"))
            clauses = self._branch(after_all, last)
            late = next((clause for clause in clauses if clause.key in _BEFORE_SET), None)
            if late is not None and last < self.stop:
                words_of_it = sql.span(late.at, late.start)
                raise MergeSyntaxError(
                    f"{_name(late)} is not allowed before {sql.word(last).upper()}",
                    words_of_it,
                    f"put the query before {sql.word(last).upper()} in parentheses",
                )
        return self.parts

    def _past_ctes(self) -> int:
        """The index of the first token after the CTEs; `stop` where they cannot be read."""
        sql, i = self.sql, self.start
        if sql.key(i) != "WITH":
            return i
        i += 2 if sql.key(i + 1) == "RECURSIVE" and sql.key(i + 2) not in ("(", "AS") else 1
        while True:
            if sql.kind(i) == "string":
                raise quoted_name(sql, i)
            name, i = i, i + 1
            if sql.kind(name) not in ("word", "name"):
                return self.stop
            if sql.key(i) == "(" and not is_query(sql, i + 1, sql.partner[i]):
                i = sql.partner[i] + 1
            if [sql.word(i).upper(), sql.word(i + 1).upper()] == ["MAX", "RECURSION"]:
                i += 4
            has_as = sql.key(i) == "AS"
            i += has_as
            if i >= self.stop or sql.key(i) != "(":
                if has_as and i < self.stop:
                    raise MergeSyntaxError(
                        f'the CTE "{sql.word(name)}" has no query', sql.at(i), "write WITH name AS (SELECT …)"
                    )
                return self.stop
            self.parts.queries.append((i + 1, sql.partner[i]))
            i = sql.partner[i] + 1
            if sql.key(i) != "," or i >= self.stop:
                break
            i += 1
            if sql.key(i) == "SELECT" and sql.key(i + 1) not in ("AS", "("):
                raise MergeSyntaxError("a comma too many", sql.at(i - 1), "remove it")
        if i >= self.stop:
            raise MergeSyntaxError("the CTEs are followed by no query", sql.at(self.start), "write WITH … SELECT …")
        return i

    def _joins_queries(self, i: int) -> bool:
        """Whether token i is UNION or the like with a query on both sides."""
        sql, after = self.sql, i + 1
        if sql.key(i) not in SET_OPERATORS or not ends_operand(sql, i - 1):
            return False
        after += sql.key(after) in ("ALL", "DISTINCT")
        if sql.key(after) == "(":
            return is_query(sql, after, self.stop) or is_query(sql, after + 1, sql.partner[after])
        return sql.key(after) in _BRANCHES and is_query(sql, after, self.stop)

    def _branch(self, start: int, stop: int) -> list[Clause]:
        sql = self.sql
        if sql.key(start) == "(":
            self.parts.queries.append((start + 1, sql.partner[start]))
        elif sql.key(start) == "VALUES" and sql.key(start + 1) != "AS":
            Tables(sql, self.parts).read_values(start + 1, stop)
        if sql.key(start) != "SELECT" or any(sql.key(i) == "TRANSFORM" for i in range(start, start + 2)):
            return []
        clauses = self._clauses(start, stop)
        before = Clause("SELECT", start, start, start)
        for clause in clauses:
            if clause.key in _RANKS:
                if _RANKS[clause.key] < _RANKS[before.key] or (
                    clause.key == before.key and clause.key not in ("SELECT", "LATERAL")
                ):
                    raise MergeSyntaxError(
                        f"{_name(clause)} is not allowed after {_name(before)}",
                        sql.span(clause.at, clause.start),
                        "the order is SELECT, FROM, WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY, LIMIT, OFFSET",
                    )
                before = clause
            self._clause(clause)
        return clauses

    def _clauses(self, start: int, stop: int) -> list[Clause]:
        sql, starts = self.sql, [(start, "SELECT", start + 1)]
        for i in sql.top(start + 1, stop):
            if sql.key(i) == "FROM" and len(starts) == 1 and self._is_doubtful(i):
                return []
            if sql.kind(i) == "word" and (after := self._begins_clause(i, stop, starts[-1][1])) is not None:
                starts.append((i, sql.key(i), after))
        ends = [*(at for at, _, _ in starts[1:]), stop]
        return [Clause(key, at, first, end) for (at, key, first), end in zip(starts, ends, strict=True)]

    def _is_doubtful(self, i: int) -> bool:
        """Whether FROM at token i may be a column: `SELECT id BY FROM u` has an alias, `SELECT id AND from u` none."""
        sql, before = self.sql, self.sql.key(i - 1)
        if sql.kind(i - 1) != "word" or ends_operand(sql, i - 1):
            return False
        return before != "DISTINCT" or sql.key(i - 2) not in ("IS", "NOT")

    def _begins_clause(self, i: int, stop: int, inside: str) -> int | None:
        """The index after the words of a clause that begin at token i; None where it begins none."""
        sql, key = self.sql, self.sql.key(i)
        if not ends_operand(sql, i - 1):
            return None
        if key in _WITH_BY:
            return i + 2 if sql.key(i + 1) == "BY" and i + 1 < stop else None
        if i + 1 >= stop or not begins_operand(sql, i + 1):
            return None
        after = sql.key(i + 1)
        if key == "LATERAL":
            return i + 2 if after == "VIEW" else None
        if key == "WINDOW":
            return i + 1 if sql.key(i + 2) == "AS" else None
        if key == "FROM":
            return i + 1 if inside == "SELECT" else None
        if after in _AFTER_ALIAS and not _is_column(sql, i + 1):
            return None  # an alias that is called so
        if key in ("WHERE", "HAVING", "LIMIT", "OFFSET"):
            return i + 1
        return i + 1 if begins_qualify(sql, i, stop) else None

    def _clause(self, clause: Clause) -> None:
        sql, key, start, stop = self.sql, clause.key, clause.start, clause.stop
        if key == "SELECT":
            self._select_list(start, stop)
        elif key == "FROM":
            Tables(sql, self.parts).read(start, stop)
        elif key in ("WHERE", "HAVING", "QUALIFY"):
            self.parts.expressions.append((start, stop, False))
            if key == "QUALIFY":
                self.parts.forms.append(FormUse(QUALIFY, sql.at(clause.at)))
        elif key == "GROUP":
            for first, last in sql.split(start, stop) or [(start, stop)]:
                if first == last:
                    raise MergeSyntaxError("GROUP BY has an empty item", sql.span(clause.at, stop), "name a column")
        elif key in _WITH_BY:
            for first, last in sql.split(start, stop):
                self.parts.expressions.append((first, self._without_direction(first, last), False))

    def _without_direction(self, start: int, stop: int) -> int:
        sql = self.sql
        if stop - start > 2 and sql.key(stop - 2) == "NULLS" and sql.key(stop - 1) in ("FIRST", "LAST"):
            stop -= 2
        return stop - 1 if stop - start > 1 and sql.key(stop - 1) in ("ASC", "DESC") else stop

    def _select_list(self, start: int, stop: int) -> None:
        sql = self.sql
        while sql.key(start) == "/*+":
            start = next((i + 1 for i in range(start, stop) if sql.key(i) == "*/"), stop)
        if sql.key(start) in ("DISTINCT", "ALL") and start + 1 < stop and begins_operand(sql, start + 1):
            start += sql.key(start + 1) != "AS"
            if sql.key(start) == "ON" and sql.key(start + 1) == "(":
                raise MergeSyntaxError(
                    "Spark SQL has no DISTINCT ON",
                    sql.span(start - 1, sql.partner[start + 1] + 1),
                    "number the rows in a subquery and filter around it",
                    kind="unsupported",
                )
        for first, last in sql.split(start, stop):
            error = self._quoted_alias(first, last)
            if error is not None:
                raise error
            if sql.key(last - 1) != ")" or sql.key(sql.partner.index(last - 1, first) - 1) != ")":
                self.parts.expressions.append((first, last, True))  # others: `stack(…) (a, b)`

    def _quoted_alias(self, start: int, stop: int) -> MergeSyntaxError | None:
        """The error about a string that is to be the alias of the expression [start, stop)."""
        sql, last = self.sql, stop - 1
        if last <= start or sql.kind(last) != "string" or sql.kind(last - 1) == "string":
            return None
        before = sql.key(last - 1)
        if before == "AS" or (ends_operand(sql, last - 1) and before not in TYPED_LITERALS | {"ESCAPE"}):
            return quoted_name(sql, last)
        return None


def begins_qualify(sql: Sql, i: int, stop: int) -> bool:
    """Return whether the clause QUALIFY begins at token i, and no name."""
    if sql.key(i) != "QUALIFY" or i == 0 or i + 1 >= stop or sql.key(i - 1) == "AS":
        return False
    if sql.key(i - 1) == ")" and _is_of_view(sql, sql.partner.index(i - 1) - 1):
        return False  # the alias of LATERAL VIEW f(x)
    is_alias = sql.key(i + 1) in _AFTER_ALIAS and not _is_column(sql, i + 1)
    return ends_operand(sql, i - 1) and begins_operand(sql, i + 1) and not is_alias and not is_column_list(sql, i + 1)


def _is_of_view(sql: Sql, i: int) -> bool:
    """Return whether the name of a function that ends with token i is that of LATERAL VIEW."""
    while i > 1 and sql.key(i - 1) == ".":
        i -= 2
    return i > 1 and sql.key(i - 1) in ("VIEW", "OUTER")


def _is_column(sql: Sql, i: int) -> bool:
    """Whether the keyword at token i is a column, or a function such as LEFT."""
    key, after = sql.key(i), sql.key(i + 1)
    return after in BINARY | OPERATORS | {".", "["} or (after == "(" and key in ("LEFT", "RIGHT"))


def _name(clause: Clause) -> str:
    return clause.key + (" BY" if clause.key in _WITH_BY else "")
