"""Reads a rendered text as one MERGE, along the grammar of Spark 4.3 (SqlBaseParser.g4, `MERGE INTO`)."""

from __future__ import annotations

from typing import Literal

from merge_runner.formats.grammar import CHANGES, MERGE_OPTIONS
from merge_runner.merge.clauses import NEGATIONS, before_filled, read_clauses
from merge_runner.merge.expression import Reader
from merge_runner.merge.relation_name import read_alias, read_name
from merge_runner.merge.statement import Conjunct, Cte, Expr, MergeStatement, Source, Target
from merge_runner.merge.syntax.error import ErrorKind, MergeSyntaxError
from merge_runner.merge.syntax.forms import FormUse, begins_options, changes_clauses, options_end
from merge_runner.merge.syntax.grammar import check, check_query, conjuncts
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.query import is_query
from merge_runner.merge.syntax.sql import Sql, tokenize
from merge_runner.text import Span

__all__ = ["MergeSyntaxError", "parse"]


def parse(text: str) -> MergeStatement:
    """The MERGE that `text` holds. Comments, blanks and closing semicolons around it are fine.

    What sqlglot cannot read stays opaque (`Expr.expression` is None); what Spark's parser refuses raises
    MergeSyntaxError, and so does a text without a MERGE or with several statements. Where it is not certain that Spark
    refuses, the text is taken. What only newer lines of Spark take is in `forms`. Measured on Spark 4.1.4, 4.2.1
    and 4.3.0.
    """
    sql = tokenize(text)
    return _Statement(sql, _one_statement(sql)).read()


def _one_statement(sql: Sql) -> int:
    """The index after the last token of the statement."""
    tokens = sql.tokens
    stop = len(tokens)
    while stop and tokens[stop - 1].key == ";":
        stop -= 1
    if stop == 0:
        raise MergeSyntaxError("the text holds no statement", Span(0, len(sql.text)), "write a MERGE INTO …")
    for i in range(stop):
        if tokens[i].key == ";":
            if i == 0:
                raise MergeSyntaxError("the text begins with a semicolon", sql.at(i), "remove it")
            raise MergeSyntaxError(
                "the text holds several statements", sql.at(i + 1), "one MERGE per text; use pre_hook and post_hook"
            )
    return stop


class _Statement:
    """Reads the parts in their order; `i` is the token that is next."""

    def __init__(self, sql: Sql, stop: int) -> None:
        self.sql = sql
        self.stop = stop
        self.i = 0
        self.remarks = Remarks()
        self.reader = Reader(sql, self.remarks)

    def read(self) -> MergeStatement:
        sql = self.sql
        recursive, ctes = self._ctes()
        schema_evolution = self._merge_words()
        target = self._target()
        if sql.key(self.i) != "USING":
            raise self._not_using()
        using = self.i
        self.i += 1
        source = self._source()
        if sql.key(self.i) != "ON" or self.i >= self.stop:
            raise _bare_query(sql, using + 1) if sql.key(using + 1) == "SELECT" else self._not_on()
        self.i += 1
        bounds = [i for i in sql.top(self.i, self.stop) if sql.tokens[i].key == "WHEN" and _begins_clause(sql, i)]
        end = bounds[0] if bounds else self.stop
        if end == self.i:
            raise MergeSyntaxError("ON has no condition", sql.at(self.i - 1), "write ON target.key = source.key")
        stop = end if bounds else before_filled(sql, self.i, end)
        more_clauses = before_filled(sql, self.i, end) < end
        on_span, on = sql.span(self.i, stop), self._conjuncts(self.i, stop)
        # What is filled in right behind a name may begin with a blank.
        more_clauses = more_clauses or (not bounds and sql.word(end - 1).endswith("}"))
        if not bounds and not more_clauses:
            raise MergeSyntaxError(
                "the MERGE has no WHEN clause", sql.span(self.stop, self.stop), "add WHEN MATCHED or WHEN NOT MATCHED"
            )
        clauses, more = read_clauses(sql, [*bounds, self.stop], self._expr) if bounds else ((), True)
        return MergeStatement(
            text=sql.text,
            span=sql.span(0, self.stop),
            target=target,
            source=source,
            on=on,
            on_span=on_span,
            clauses=clauses,
            schema_evolution=schema_evolution,
            ctes=ctes,
            recursive=recursive,
            more_clauses=more or more_clauses,
            forms=self._forms(),
        )

    def _forms(self) -> tuple[FormUse, ...]:
        clauses = changes_clauses(self.sql, 0, self.stop)
        changes = (FormUse(CHANGES, self.sql.span(start, stop)) for start, stop in clauses)
        return tuple(sorted((*changes, *self.remarks.forms), key=lambda use: use.span.start))

    def _expr(self, start: int, stop: int) -> Expr:
        check(self.sql, start, stop, self.remarks)
        span = self.sql.span(start, stop)
        return Expr(span, span.of(self.sql.text), self.reader.expression(start, stop))

    def _conjuncts(self, start: int, stop: int) -> tuple[Conjunct, ...]:
        sql = self.sql
        check(sql, start, stop, self.remarks)
        parts = []
        for first, last in conjuncts(sql, start, stop):
            span = sql.span(first, last)
            parts.append(Conjunct(span, span.of(sql.text), self.reader.expression(first, last)))
        return tuple(parts)

    def _query(self, start: int, stop: int) -> Expr:
        """The query of the tokens [start, stop), the inside of parentheses."""
        sql = self.sql
        if start < stop and sql.is_filled(start):
            span = sql.span(start, stop)
            return Expr(span, span.of(sql.text))
        if not is_query(sql, start, stop):
            raise MergeSyntaxError(
                "expected a query inside the parentheses",
                sql.span(start - 1, stop + 1),
                "write a table without parentheses, a join or function as (SELECT * FROM …)",
            )
        check_query(sql, start, stop, self.remarks)
        span = sql.span(start, stop)
        tree = self.reader.query(start, stop)
        return Expr(span, span.of(sql.text), tree, self.reader.stopped)

    def _ctes(self) -> tuple[bool, tuple[Cte, ...]]:
        sql = self.sql
        if sql.key(0) != "WITH":
            return False, ()
        # A CTE may be called RECURSIVE: then AS or a parenthesis follows.
        recursive = sql.key(1) == "RECURSIVE" and sql.key(2) != "(" and [sql.key(2), sql.key(3)] != ["AS", "("]
        self.i = 2 if recursive else 1
        ctes: list[Cte] = []
        while True:
            cte = self._cte()
            if any(cte.name == earlier.name for earlier in ctes):
                raise MergeSyntaxError(f'two CTEs are called "{cte.name}"', cte.span, "rename one of them")
            ctes.append(cte)
            if sql.key(self.i) != ",":
                return recursive, tuple(ctes)
            self.i += 1

    def _cte(self) -> Cte:
        sql, start = self.sql, self.i
        if sql.kind(start) not in ("word", "name"):
            raise MergeSyntaxError("the name of a CTE is missing", sql.at(start), "write WITH name AS (SELECT …)")
        name = read_name(sql, start)
        self.i = name.stop
        columns: tuple[str, ...] = ()
        if sql.key(self.i) == "(" and not is_query(sql, self.i + 1, sql.partner[self.i]):
            close = sql.partner[self.i]
            columns = tuple(
                read_name(sql, first).dotted for first, last in sql.split(self.i + 1, close) if first < last
            )
            self.i = close + 1
        if sql.word(self.i).upper() == "MAX" and sql.word(self.i + 1).upper() == "RECURSION":
            self.i += 4
        if sql.key(self.i) == "AS":
            self.i += 1
        if sql.key(self.i) != "(":
            materialized = "MATERIALIZED" in (sql.key(self.i), sql.key(self.i + 1))
            raise MergeSyntaxError(
                f'the CTE "{name.dotted}" has no query',
                sql.at(self.i),
                "write WITH name AS (SELECT …)",
                kind="unsupported" if materialized else "syntax",
            )
        close = sql.partner[self.i]
        query = self._query(self.i + 1, close)
        self.i = close + 1
        return Cte(name.dotted, columns, query, sql.span(start, self.i))

    def _merge_words(self) -> bool:
        sql = self.sql
        if sql.key(self.i) != "MERGE" or self.i >= self.stop:
            raise MergeSyntaxError(
                "the statement is no MERGE" if self.i == 0 else "the CTEs are followed by no MERGE",
                sql.at(self.i),
                "write MERGE INTO …",
            )
        self.i += 1
        evolution = [sql.key(self.i + ahead) for ahead in range(3)] == ["WITH", "SCHEMA", "EVOLUTION"]
        if evolution:
            self.i += 3
        if sql.key(self.i) != "INTO":
            hint = "a hint follows SELECT only" if sql.key(self.i) == "/*+" else "write MERGE INTO"
            raise MergeSyntaxError("MERGE without INTO", sql.at(self.i), hint)
        self.i += 1
        return evolution

    def _target(self) -> Target:
        sql, start = self.sql, self.i
        if sql.key(start) == "(":
            whole = sql.span(start, sql.partner[start] + 1)
            raise MergeSyntaxError("the target is no table", whole, "name a table", kind="unsupported")
        name = read_name(sql, start, "the target")
        if name.computed is not None:
            check(sql, *name.computed, self.remarks)
        relation = sql.span(start, name.stop)
        alias, self.i = None, name.stop
        if not begins_options(sql, name.stop):
            alias, self.i = read_alias(sql, name.stop, "USING")
        span = sql.span(start, self.i)
        if begins_options(sql, self.i):
            self._options()
        return Target(name.parts, alias, relation, span)

    def _options(self) -> None:
        """Read the options of a table, which begin at token `i`."""
        start, self.i = self.i, options_end(self.sql, self.i)
        self.remarks.forms.append(FormUse(MERGE_OPTIONS, self.sql.span(start, self.i)))

    def _source(self) -> Source:
        sql, start = self.sql, self.i
        if sql.key(start) == "(":
            close = sql.partner[start]
            query = self._query(start + 1, close)
            alias, self.i = read_alias(sql, close + 1, "ON")
            return Source("query", (), query, alias, sql.span(start, close + 1), sql.span(start, self.i))
        name = read_name(sql, start, "the source")
        if name.computed is not None:
            check(sql, *name.computed, self.remarks)
        if sql.key(name.stop) == "(":
            if sql.key(start) in ("VALUES", "LATERAL"):
                raise _bare_query(sql, start)
            raise MergeSyntaxError(
                "the source is a function",
                sql.span(start, sql.partner[name.stop] + 1),
                "write USING (SELECT * FROM the_function(…)) AS s",
                kind="unsupported",
            )
        kind: Literal["table", "query"] = "table"
        opaque: Expr | None = None
        self.i = name.stop
        if begins_options(sql, name.stop):
            self._options()
            whole = sql.span(start, self.i)
            kind, opaque = "query", Expr(whole, whole.of(sql.text))
        relation = sql.span(start, self.i)
        alias, self.i = read_alias(sql, self.i, "ON")
        return Source(kind, name.parts, opaque, alias, relation, sql.span(start, self.i))

    def _not_using(self) -> MergeSyntaxError:
        word = self.sql.word(self.i)
        if self.i >= self.stop:
            return MergeSyntaxError("the MERGE has no USING", self.sql.at(self.i), "write USING the_source ON …")
        return MergeSyntaxError(
            f'USING is missing in front of "{word}"', self.sql.at(self.i), "the target is a table name with an alias"
        )

    def _not_on(self) -> MergeSyntaxError:
        sql, i = self.sql, self.i
        if i >= self.stop or sql.key(i) == "WHEN":
            return MergeSyntaxError("the MERGE has no ON", sql.at(i), "write ON target.key = source.key")
        hint = "the source is a table name or a query in parentheses, with an alias"
        kind: ErrorKind = "unsupported"
        if sql.key(i) == "USING":
            hint = "MERGE joins by ON target.key = source.key only"
        elif sql.key(i) in ("JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", ","):
            hint = "put the join in parentheses: USING (SELECT … FROM a JOIN b ON …) AS s"
        elif sql.key(i) == "TABLESAMPLE":
            hint = "write USING (SELECT * FROM s TABLESAMPLE (…)) AS s"
        else:
            kind = "syntax"
        return MergeSyntaxError(f'ON is missing in front of "{sql.word(i)}"', sql.at(i), hint, kind=kind)


def _bare_query(sql: Sql, i: int) -> MergeSyntaxError:
    return MergeSyntaxError("the source query has no parentheses", sql.at(i), "write USING (SELECT …) AS s")


def _begins_clause(sql: Sql, i: int) -> bool:
    """Whether the word WHEN at token i begins a clause."""
    return sql.key(i + 1) == "MATCHED" or (sql.key(i + 1) in NEGATIONS and sql.key(i + 2) == "MATCHED")
