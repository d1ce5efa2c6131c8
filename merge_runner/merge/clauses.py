"""Reads the WHEN clauses of a MERGE: their kinds, conditions and actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from merge_runner.merge.relation_name import Name, read_name
from merge_runner.merge.statement import Action, Assignment, Clause, ClauseKind, Expr
from merge_runner.merge.syntax.error import ErrorKind, MergeSyntaxError
from merge_runner.merge.syntax.keywords import WANT_OPERAND
from merge_runner.merge.syntax.sql import Sql

ReadExpr = Callable[[int, int], Expr]
"""Checks and reads the expression between two token indices."""

_GOES_ON = WANT_OPERAND - {"THEN"} | {"SET", "INSERT", "VALUES", "ON", "WHEN", "MATCHED", "UPDATE"}
"""Words after which a placeholder is what they ask for."""

NEGATIONS = frozenset({"NOT", "!"})
_ORDER: tuple[ClauseKind, ...] = ("matched", "not_matched", "not_matched_by_source")
_WORDS = {
    "matched": "WHEN MATCHED",
    "not_matched": "WHEN NOT MATCHED",
    "not_matched_by_source": "WHEN NOT MATCHED BY SOURCE",
}
_ACTIONS: dict[ClauseKind, tuple[str, ...]] = {
    "matched": ("UPDATE", "DELETE"),
    "not_matched": ("INSERT",),
    "not_matched_by_source": ("UPDATE", "DELETE"),
}


def read_clauses(sql: Sql, bounds: Sequence[int], read_expr: ReadExpr) -> tuple[tuple[Clause, ...], bool]:
    """The clauses that begin at the token indices `bounds`; the last bound is the index after the last clause.

    With them, whether a placeholder may hold more of them: one after a clause, or in place of an action.

    Raises MergeSyntaxError for a clause that Spark refuses, for kinds out of order, and for an unconditional clause
    that is not the last of its kind.
    """
    clauses: list[Clause] = []
    more = False
    for start, stop in pairwise(bounds):
        last = before_filled(sql, start, stop)
        more |= last < stop
        if last < stop and sql.key(last - 1) == "THEN":
            continue
        clause = _Clause(sql, start, last, read_expr, partial=last < stop).read()
        if clauses:
            _check_order(sql, clauses[-1], clause, start)
        clauses.append(clause)
    return tuple(clauses), more


def before_filled(sql: Sql, start: int, stop: int) -> int:
    """The index after the last token of [start, stop) that is not a placeholder after something complete."""
    while stop - 1 > start and sql.is_filled(stop - 1):
        kind, key = sql.kind(stop - 2), sql.key(stop - 2)
        if (kind == "op" and key not in (")", "]", "*")) or key in _GOES_ON:
            break
        stop -= 1
    return stop


def _check_order(sql: Sql, before: Clause, clause: Clause, start: int) -> None:
    words = sql.span(start, start + (2 if clause.kind == "matched" else 3))
    if _ORDER.index(clause.kind) < _ORDER.index(before.kind):
        raise MergeSyntaxError(
            f"{_WORDS[clause.kind]} follows {_WORDS[before.kind]}",
            words,
            "Spark wants all WHEN MATCHED, then all WHEN NOT MATCHED, then all WHEN NOT MATCHED BY SOURCE",
        )
    if clause.kind == before.kind and before.condition is None:
        raise MergeSyntaxError(
            f"a {_WORDS[clause.kind]} without a condition precedes another one",
            before.span,
            "only the last clause of a kind may have no condition: add AND …, or move it to the end",
            kind="unreachable",
        )


class _Clause:
    """Reads one clause, the tokens [start, stop)."""

    def __init__(self, sql: Sql, start: int, stop: int, read_expr: ReadExpr, *, partial: bool) -> None:
        self.sql = sql
        self.start = start
        self.stop = stop
        self.i = start
        self.partial = partial
        self.read_expr = read_expr

    def read(self) -> Clause:
        kind = self._kind()
        condition = self._condition()
        action = self._action(kind)
        star = False
        assignments: tuple[Assignment, ...] = ()
        if action == "update":
            star, assignments = self._update(kind)
        elif action == "insert":
            star, assignments = self._insert()
        if self.i < self.stop:
            raise self._too_much()
        return Clause(kind, action, star, condition, assignments, self.sql.span(self.start, self.stop), self.partial)

    def _key(self, ahead: int = 0) -> str:
        """The key of a token; after the clause it is WHEN, a semicolon or empty, which nothing here looks for."""
        return self.sql.key(self.i + ahead)

    def _kind(self) -> ClauseKind:
        negated = self._key(1) in NEGATIONS
        self.i += 3 if negated else 2
        if self._key() != "BY":
            return "not_matched" if negated else "matched"
        side = self._key(1)
        if not negated or side not in ("SOURCE", "TARGET"):
            raise MergeSyntaxError(
                f"WHEN {'NOT ' if negated else ''}MATCHED BY {self.sql.word(self.i + 1)} is not known",
                self.sql.span(self.i, min(self.i + 2, self.stop)),
                "BY SOURCE and BY TARGET follow WHEN NOT MATCHED",
            )
        self.i += 2
        return "not_matched_by_source" if side == "SOURCE" else "not_matched"

    def _condition(self) -> Expr | None:
        sql = self.sql
        if self._key() == "THEN":
            self.i += 1
            return None
        thens = [i for i in sql.top(self.i, self.stop) if sql.tokens[i].key == "THEN"]
        if not thens:
            raise MergeSyntaxError(
                "the clause has no THEN", sql.span(self.start, self.i), "write WHEN … THEN UPDATE, INSERT or DELETE"
            )
        # A column may be called THEN, so the one in front of an action counts.
        then = next((i for i in thens if sql.key(i + 1) in ("UPDATE", "INSERT", "DELETE")), thens[-1])
        if sql.is_filled(self.i):
            span = sql.span(self.i, then)
            self.i = then + 1
            return Expr(span, span.of(sql.text))
        if self._key() != "AND":
            raise MergeSyntaxError(
                f'THEN or AND is missing in front of "{sql.word(self.i)}"',
                sql.at(self.i),
                "write WHEN … AND condition THEN",
            )
        if then == self.i + 1:
            raise MergeSyntaxError("AND without a condition", sql.at(self.i), "remove AND, or write the condition")
        condition = self.read_expr(self.i + 1, then)
        self.i = then + 1
        return condition

    def _action(self, kind: ClauseKind) -> Action:
        sql, key = self.sql, self._key()
        allowed = _ACTIONS[kind]
        if key in allowed:
            self.i += 1
            return "update" if key == "UPDATE" else "insert" if key == "INSERT" else "delete"
        hint = f"{_WORDS[kind]} takes {' or '.join(allowed)}"
        if key in ("UPDATE", "INSERT", "DELETE"):
            raise MergeSyntaxError(f"{key} is not allowed in {_WORDS[kind]}", sql.at(self.i), hint)
        if key == "DO":
            hint = "leave the clause out: rows without a clause stay as they are"
        if self.i >= self.stop:
            raise MergeSyntaxError("the clause has no action", sql.at(self.i - 1), hint)
        kind_of_error: ErrorKind = "unsupported" if key == "DO" else "syntax"
        raise MergeSyntaxError(f'"{sql.word(self.i)}" is no action', sql.at(self.i), hint, kind=kind_of_error)

    def _update(self, kind: ClauseKind) -> tuple[bool, tuple[Assignment, ...]]:
        sql = self.sql
        if sql.is_filled(self.i):
            self.i, self.partial = self.stop, True
            return False, ()
        if self._key() != "SET":
            hint = "write UPDATE SET *" if self._key() == "*" else "write UPDATE SET column = value"
            raise MergeSyntaxError("UPDATE without SET", sql.at(self.i - 1), hint)
        self.i += 1
        if self._key() == "*":
            if kind == "not_matched_by_source":
                raise MergeSyntaxError(
                    "WHEN NOT MATCHED BY SOURCE has no source row for SET *",
                    sql.at(self.i),
                    "write UPDATE SET column = value",
                )
            self.i += 1
            return True, ()
        if self.i == self.stop:
            raise MergeSyntaxError("UPDATE SET sets nothing", sql.at(self.i - 1), "write UPDATE SET column = value")
        parts = self._parts(self.i, self.stop)
        self.i = self.stop
        return False, tuple(self._assignment(start, stop) for start, stop in self._before_placeholders(parts))

    def _before_placeholders(self, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The parts of a list up to those that placeholders fill, any of which may be several."""
        certain = [(start, stop) for start, stop in parts if not (stop == start + 1 and self.sql.is_filled(start))]
        self.partial |= len(certain) < len(parts)
        return certain

    def _assignment(self, start: int, stop: int) -> Assignment:
        sql = self.sql
        if sql.key(start) == "(":
            raise MergeSyntaxError(
                "SET takes one column at a time",
                sql.span(start, sql.partner[start] + 1),
                "write a = 1, b = 2",
                kind="unsupported",
            )
        column = self._column(start)
        if sql.key(column.stop) not in ("=", "=="):
            raise self._no_value(column, start, stop)
        if column.stop + 1 == stop:
            raise MergeSyntaxError(
                f'"{column.dotted}" is set to nothing', sql.span(start, stop), "write column = value"
            )
        value = self.read_expr(column.stop + 1, stop)
        return Assignment(column.parts, value, sql.span(start, stop))

    def _no_value(self, column: Name, start: int, stop: int) -> MergeSyntaxError:
        sql, i = self.sql, column.stop
        if i >= stop:
            return MergeSyntaxError(
                f'"{column.dotted}" is set to nothing', sql.span(start, stop), "write column = value"
            )
        hint = "write column = value"
        if sql.key(i) == "[":
            hint = "set the whole array or map"
        return MergeSyntaxError(f'"{sql.word(i)}" is not allowed after the column "{column.dotted}"', sql.at(i), hint)

    def _insert(self) -> tuple[bool, tuple[Assignment, ...]]:
        sql = self.sql
        if self._key() == "*":
            self.i += 1
            return True, ()
        if sql.is_filled(self.i) and self.i + 1 == self.stop:
            self.i, self.partial = self.stop, True
            return False, ()
        if self._key() != "(":
            hint = "write INSERT (a, b) VALUES (s.a, s.b), or INSERT *"
            kind: ErrorKind = "unsupported" if self._key() in ("ROW", "DEFAULT") else "syntax"
            raise MergeSyntaxError("INSERT without its columns in parentheses", sql.at(self.i - 1), hint, kind=kind)
        close = sql.partner[self.i]
        column_ranges = self._list(close)
        columns = [(start, self._insert_column(start, stop)) for start, stop in column_ranges]
        self.i = close + 1
        if self.i == self.stop and self.partial:  # VALUES may be in the placeholder that follows
            return False, ()
        if self._key() == "VALUES" and self.i + 2 == self.stop and sql.is_filled(self.i + 1):
            self.i, self.partial = self.stop, True
            return False, ()
        if self._key() != "VALUES" or self._key(1) != "(":
            raise MergeSyntaxError(
                "INSERT without VALUES in parentheses",
                sql.span(self.i, min(self.i + 1, self.stop)),
                "write VALUES (s.a, s.b)",
            )
        self.i += 1
        close = sql.partner[self.i]
        parts = self._list(close)
        values = [self.read_expr(start, stop) for start, stop in parts]
        paired = min(self._leading(column_ranges), self._leading(parts))
        if paired < max(len(columns), len(values)) and self.partial:
            columns, values = columns[:paired], values[:paired]
        if len(values) != len(columns):
            raise MergeSyntaxError(
                f"INSERT names {len(columns)} columns and {len(values)} values",
                sql.span(self.i, close + 1),
                "give each column one value",
                kind="insert",
            )
        self.i = close + 1
        return False, tuple(
            Assignment(column.parts, value, sql.span(start, column.stop))
            for (start, column), value in zip(columns, values, strict=True)
        )

    def _leading(self, parts: list[tuple[int, int]]) -> int:
        """The number of parts in front of the first that a placeholder fills, which may be several."""
        for number, (start, stop) in enumerate(parts):
            if stop == start + 1 and self.sql.is_filled(start):
                self.partial = True
                return number
        return len(parts)

    def _insert_column(self, start: int, stop: int) -> Name:
        column = self._column(start)
        if column.stop < stop:
            raise MergeSyntaxError(
                f'"{self.sql.word(column.stop)}" is not allowed after a column',
                self.sql.at(column.stop),
                "list names only",
            )
        return column

    def _column(self, start: int) -> Name:
        return read_name(self.sql, start, "the column")

    def _list(self, close: int) -> list[tuple[int, int]]:
        parts = self._parts(self.i + 1, close)
        if not parts:
            raise MergeSyntaxError(
                "the list is empty", self.sql.span(self.i, close + 1), "INSERT (a, b) VALUES (s.a, s.b)"
            )
        return parts

    def _parts(self, start: int, stop: int) -> list[tuple[int, int]]:
        """What commas part in [start, stop); none for an empty range."""
        parts = self.sql.split(start, stop)
        for first, last in parts:
            if first == last:
                comma = last if last < stop else first - 1
                raise MergeSyntaxError("a comma too many", self.sql.at(comma), "remove it")
        return parts

    def _too_much(self) -> MergeSyntaxError:
        sql, key = self.sql, self._key()
        hint = None
        kind: ErrorKind = "unsupported" if key in ("EXCEPT", "RETURNING", "WHERE") else "syntax"
        if key == "EXCEPT":
            hint = "list the columns instead of * EXCEPT (…)"
        elif key == "RETURNING":
            hint = "Spark's MERGE returns no rows"
        elif key == "WHERE":
            hint = "put the condition after WHEN … AND"
        elif key == ",":
            hint = "INSERT takes one row of values"
        elif key == "WHEN":
            hint = "a clause begins with WHEN MATCHED or WHEN NOT MATCHED"
        return MergeSyntaxError(
            f'"{sql.word(self.i)}" is not allowed after the action', sql.at(self.i), hint, kind=kind
        )
