"""Gives an expression or a query of the author's text to sqlglot, in a form that sqlglot reads as Spark does."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.forms import changes_clauses
from merge_runner.merge.syntax.keywords import COMPLEX_TYPES
from merge_runner.merge.syntax.lexer import lex
from merge_runner.merge.syntax.operand import Remarks
from merge_runner.merge.syntax.query_clauses import begins_qualify
from merge_runner.merge.syntax.query_names import names_in_query
from merge_runner.merge.syntax.sql import Sql
from merge_runner.text import Span

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.parser import Parser
    from sqlglot.tokenizer_core import Token, TokenType
    from sqlglot.tokens import Tokenizer

_MAX_DEPTH = 100
"""Nested parentheses and CASEs. sqlglot recurses for each (RecursionError from 300 on); Spark stops at 300 to 500."""

_MAX_PREFIXES = 50
_MAX_POSTFIXES = 200
"""Fields, elements and casts after each other: each is a level of the tree, and the name of each has all before it."""
_MAX_TYPES = 30
"""Complex types in each other: sqlglot's time grows with the square of their number."""
_DEEPER = frozenset({"(", "[", "CASE"})
_HIGHER = frozenset({")", "]", "END"})
_PREFIXES = frozenset({"NOT", "!", "-", "+", "~"})
_POSTFIXES = frozenset({".", "::", "[", "]"})
_MISREAD = frozenset({"VALUES", "STREAM", "IDENTIFIER"})
"""Words that `is_misread` looks at."""
_SAME_LENGTH = {"!<": ">=", "!>": "<="}
_QUERY_OPENERS = frozenset({"(", "ALL", "UNION", "EXCEPT", "INTERSECT", "MINUS", "DISTINCT"})
_QUOTE_PAIR = re.compile(r"\\.|''|\"\"", re.DOTALL)
_MENDED = re.compile(r"trunc|identifier", re.IGNORECASE)
"""What a text has in it of which sqlglot makes a node that `_as_spark_means` mends."""
_LITERAL = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"")


class Reader:
    """Reads ranges of one text. sqlglot is imported when the first one is read."""

    def __init__(self, sql: Sql, remarks: Remarks) -> None:
        self._sql = sql
        self._remarks = remarks
        self.stopped: Span | None = None
        """The token at which the last range could not be read; None where that is not known, or it was read."""

    def expression(self, start: int, stop: int) -> exp.Expr | None:
        """The tree of the expression of the tokens [start, stop), or None where it is opaque."""
        from sqlglot import exp

        if not self._is_readable(start, stop):
            return None
        text, names = reading(self._sql, start, stop), self._names(start, stop)
        filled = self._filled(start, stop)
        try:
            if filled or not may_share(text):
                tree = _parse(text, names, exp.Condition, self._qualify(start, stop))
                return _as_spark_means(tree, text, filled)
            return _condition(text, names)
        except _UnreadError:
            return None

    def query(self, start: int, stop: int) -> exp.Expr | None:
        """The tree of the query of the tokens [start, stop), or None where it is opaque."""
        from sqlglot import exp

        if not self._is_readable(start, stop):
            return None
        text = reading(self._sql, start, stop)
        try:
            names = self._names(start, stop, names_in_query(self._sql, start, stop))
            tree = _parse(text, names, qualify=self._qualify(start, stop))
        except _UnreadError as error:
            self.stopped = _stopped(error.cause, text, self._sql.tokens[start].start)
            return None
        tree = _as_spark_means(tree, text, self._filled(start, stop))
        changes = changes_clauses(self._sql, start, stop)
        if not isinstance(tree, exp.Query | exp.Values) or (changes and not self._mark_changes(tree, changes, start)):
            return None
        return tree

    def _mark_changes(self, tree: exp.Expr, changes: Sequence[tuple[int, int]], start: int) -> bool:
        """Set `changes` in the tables of a tree whose changes are read; return whether each clause has its table.

        sqlglot was given blanks for the clauses, which begin and end at the tokens `changes`.
        """
        from sqlglot import exp

        offset, tokens = self._sql.tokens[start].start, self._sql.tokens
        clauses: dict[int | None, tuple[int, int]] = {
            tokens[first - 1].end - 1 - offset: (first, last) for first, last in changes
        }
        for table in tree.find_all(exp.Table):
            end = table.this.meta.get("end") if isinstance(table.this, exp.Identifier) else None
            if (clause := clauses.pop(end, None)) is not None:
                words = self._sql.span(*clause).of(self._sql.text)
                table.set("changes", exp.Changes(information=exp.Var(this=words)))
        return not clauses

    def _is_readable(self, start: int, stop: int) -> bool:
        at = self._opaque_at(start, stop)
        self.stopped = None if at is None else self._sql.at(at)
        return at is None

    def _names(self, start: int, stop: int, more: Set[int] = frozenset()) -> frozenset[int]:
        """The keywords that are names in [start, stop), by their offsets from its beginning."""
        offset, end = self._sql.tokens[start].start, self._sql.tokens[stop - 1].end
        return frozenset(at - offset for at in (*self._remarks.names, *more) if offset <= at < end)

    def _qualify(self, start: int, stop: int) -> frozenset[int]:
        """The offsets of the words QUALIFY that begin a clause."""
        sql, offset = self._sql, self._sql.tokens[start].start
        return frozenset(sql.tokens[i].start - offset for i in range(start, stop) if begins_qualify(sql, i, stop))

    def _filled(self, start: int, stop: int) -> dict[int, str]:
        """The names with placeholders in them, by their offsets in what sqlglot was given."""
        sql, offset = self._sql, self._sql.tokens[start].start
        if "${" not in sql.text:
            return {}
        filled = (i for i in range(start, stop) if sql.kind(i) == "name" and "${" in sql.word(i))
        return {sql.tokens[i].start - offset: sql.word(i) for i in filled}

    def _opaque_at(self, start: int, stop: int) -> int | None:
        """The index of the first token that sqlglot would take for something else than Spark does."""
        sql, tokens, last = self._sql, self._sql.tokens, len(self._sql.tokens) - 1
        doubts = self._remarks.doubts
        depth = prefixes = postfixes = 0
        before = ""
        types: list[int] = []
        for i in range(start, stop):
            kind, key, at, _ = tokens[i]
            if at in doubts:
                return i
            after = tokens[i + 1].key if i < last else ""
            if key in _DEEPER:
                depth += 1
            elif key in _HIGHER:
                depth -= 1
            prefixes = prefixes + 1 if key in _PREFIXES else 0
            postfixes = postfixes + (key in _POSTFIXES) if _POSTFIXES & {key, before} else 0
            before = key
            if after == "<" and key in COMPLEX_TYPES:
                types = [end for end in types if end > i] + [sql.partner[i + 1]]
            if depth > _MAX_DEPTH or prefixes > _MAX_PREFIXES or postfixes > _MAX_POSTFIXES or len(types) > _MAX_TYPES:
                return i
            looked_at = after == "(" if kind == "name" else kind == "string" or key in _MISREAD
            if looked_at and is_misread(sql, i, stop):
                return i
            if kind == "name":
                if sql.text.startswith("$", at) and sql.is_filled(i) and not _is_named(sql, i, start):
                    return i
            elif key == "|>":
                return i  # sqlglot makes up CTEs, and knows only some of the steps
            elif key == "," and i + 1 < stop and after in ("FROM", "WHERE"):
                return i + 1  # Spark reads `select a, from u` as a column called FROM
        return None


_MAY_HOLD_QUERY = re.compile(r"\b(?:select|from|values|table|with)\b", re.IGNORECASE)
_LONGEST_SHARED = 500


def may_share(text: str) -> bool:
    """Return whether the tree of an expression may be used for each expression with this text.

    The trees of queries are looked up by their identity: each needs one.
    """
    return len(text) <= _LONGEST_SHARED and _MAY_HOLD_QUERY.search(text) is None


class _UnreadError(Exception):
    """sqlglot cannot read a text."""

    def __init__(self, cause: Exception | None = None) -> None:
        super().__init__()
        self.cause = cause


@lru_cache(maxsize=4096)
def _condition(text: str, names: frozenset[int]) -> exp.Expr:
    """The tree of an expression: the same few are in many statements. No caller may change the trees."""
    from sqlglot import exp

    return _as_spark_means(_parse(text, names, exp.Condition), text, {})


class _Sqlglot(threading.local):
    """A tokenizer and a parser for each thread: they have a state, and are reused."""

    @cached_property
    def tokenizer_and_parser(self) -> tuple[Tokenizer, Parser]:
        from merge_runner.merge.dialect import SparkMerge

        dialect = SparkMerge()
        return dialect.tokenizer(), dialect.parser()


_SQLGLOT = _Sqlglot()


def _parse(text: str, names: Set[int], into: type[exp.Expr] | None = None, qualify: Set[int] = frozenset()) -> exp.Expr:
    """The tree that sqlglot makes of a text (see `reading`).

    `names` are the offsets of keywords that are names, `qualify` those of the word where it begins a clause.

    Raises _UnreadError.
    """
    from merge_runner.merge.dialect import quiet

    tokenizer, parser = _SQLGLOT.tokenizer_and_parser
    try:
        tokens = tokenizer.tokenize(text)
        _name_keywords(tokens, names, qualify)
        with quiet():
            trees = parser.parse(tokens, text) if into is None else parser.parse_into(into, tokens, text)
    except Exception as error:  # sqlglot raises AttributeError, RecursionError and others on text it does not know
        raise _UnreadError(error) from None
    if len(trees) != 1 or trees[0] is None:
        raise _UnreadError
    return trees[0]


def _name_keywords(tokens: list[Token], names: Set[int], qualify: Set[int]) -> None:
    """Set for sqlglot's parser which of its keywords are names here, and where QUALIFY is none."""
    dot, negation, select, identifier, variable, clause = _token_types()
    before = None
    for token in tokens:
        kind = token.token_type
        after_dot = before is dot and (kind is negation or kind is select)
        if after_dot or token.start in names:
            # Two words begin an expression whatever the token's type, unless they are in backquotes.
            token.token_type = kind = identifier if token.text.upper() in ("ANY", "CASE") else variable
        elif token.start in qualify:
            token.token_type = kind = clause
        before = kind


@cache
def _token_types() -> tuple[TokenType, ...]:
    # Python 3.11 calls a function for each member of an enumeration that is read.
    from sqlglot.tokenizer_core import TokenType

    return TokenType.DOT, TokenType.NOT, TokenType.SELECT, TokenType.IDENTIFIER, TokenType.VAR, TokenType.QUALIFY


def _stopped(error: Exception | None, text: str, offset: int) -> Span | None:
    """The token of the text that a ParseError of sqlglot is about, counted from `offset`."""
    details = next(iter(getattr(error, "errors", ())), None)
    if not isinstance(details, dict) or not details.get("highlight"):
        return None
    token, before = details["highlight"], "".join(text.splitlines(keepends=True)[: details["line"] - 1])
    start = len(before) + details["col"] - len(token)
    return Span(offset + start, offset + start + len(token)) if text.startswith(token, max(start, 0)) else None


def reading(sql: Sql, start: int, stop: int) -> str:
    """What sqlglot is given for the tokens [start, stop): of the same length, so that its offsets hold.

    Comments become blanks (Spark's end elsewhere), and so does `CHANGES FROM …`; `''` in a string becomes `\\'`, `!<`
    becomes `>=`, and `TABLE u` as a query becomes `FROM  u`.
    """
    parts: list[str] = []
    at = sql.tokens[start].start
    left_out = {i for first, last in changes_clauses(sql, start, stop) for i in range(first, last)}
    for i in range(start, stop):
        if i in left_out:
            continue  # the gap in front of the next token covers it
        token = sql.tokens[i]
        if token.start > at:
            gap = sql.text[at : token.start]
            parts.append(gap if gap.isspace() else " " * len(gap))
        word = sql.text[token.start : token.end]
        if token.kind == "string" and word[0] in "'\"":
            quote = word[0]
            word = quote + _QUOTE_PAIR.sub(_escape(quote), word[1:-1]) + quote
        elif token.kind == "name" and word[0] != "`" and "${" in word:
            word = "`" + word.replace("`", "")[1:-1].ljust(len(word) - 2)[: len(word) - 2] + "`"
        elif token.key == "TABLE" and _is_query_table(sql, i, start):
            word = "FROM "
        parts.append(_SAME_LENGTH.get(token.key, word))
        at = token.end
    return "".join(parts)


def _escape(quote: str) -> Callable[[re.Match[str]], str]:
    return lambda pair: "\\" + quote if pair[0] == quote * 2 else pair[0]


def _is_query_table(sql: Sql, i: int, start: int) -> bool:
    """Whether the word TABLE begins a query; after the parenthesis of a function it is an argument."""
    if sql.kind(i + 1) not in ("word", "name"):
        return False
    if i == start:
        return True
    if sql.key(i - 1) == "(":
        return i - 2 < start or sql.key(i - 2) in _QUERY_OPENERS | {"AS", "FROM", "IN", "EXISTS", ","}
    return sql.key(i - 1) in _QUERY_OPENERS


def _is_named(sql: Sql, i: int, start: int) -> bool:
    """Whether a placeholder is part of a name, the name of a table, or the number of an interval."""
    before = sql.key(i - 1) if i > start else ""
    if before in (".", "FROM", "JOIN", "INTERVAL") or sql.key(i + 1) == ".":
        return sql.key(i + 1) != "("
    return before in ("+", "-") and sql.key(i - 2) == "INTERVAL"


def _as_spark_means(tree: exp.Expr, text: str, filled: Mapping[int, str]) -> exp.Expr:
    """Mends what sqlglot's closed parser makes of Iceberg's `truncate(4, x)` and of `IDENTIFIER('a.b')`.

    `text` is what it was made of. `filled` are names with placeholders, which sqlglot was given in another form, by
    their offsets.
    """
    from sqlglot import exp

    for identifier in tree.find_all(exp.Identifier) if filled else ():
        if (word := filled.get(identifier.meta.get("start", -1))) is not None:
            identifier.set("this", word)
    for interval in tree.find_all(exp.Interval) if filled else ():
        if isinstance(interval.this, exp.Column):
            interval.this.replace(exp.Placeholder(this=interval.this.name))
    for node in list(tree.find_all(exp.Trunc, exp.Anonymous)) if _MENDED.search(text) else ():
        mended: exp.Expr
        if isinstance(node, exp.Trunc):
            mended = exp.Anonymous(this="truncate", expressions=[node.this, node.args.get("decimals")])
        elif node.name.upper() == "IDENTIFIER" and len(node.expressions) == 1 and node.expressions[0].is_string:
            parts = name_parts(node.expressions[0].name)
            if not parts or len(parts) > 3:
                continue
            names = [exp.to_identifier(part, quoted=True) for part in parts]
            if isinstance(node.parent, exp.Table):
                for place, name in zip(("this", "db", "catalog"), reversed(names), strict=False):
                    node.parent.set(place, name)
                continue
            mended = exp.Column(**dict(zip(("this", "table", "db"), reversed(names), strict=False)))
        else:
            continue
        if node is tree:
            return mended
        node.replace(mended)
    return tree


def name_parts(dotted: str) -> tuple[str, ...]:
    """The unquoted parts of a name as `IDENTIFIER('a.`b`')` has it in its string; empty when it is no name."""
    try:
        tokens = lex(dotted)
    except MergeSyntaxError:
        return ()
    words = [token for token in tokens if token.kind in ("word", "name")]
    if len(tokens) != 2 * len(words) - 1 or any(token.key != "." for token in tokens[1::2]):
        return ()
    return tuple(unquote(dotted[token.start : token.end]) for token in words)


def unquote(word: str) -> str:
    """A name without its backquotes."""
    return word[1:-1].replace("``", "`") if word.startswith("`") else word


def literal(word: str) -> str | None:
    """The value of a string literal that needs no unescaping; None for others."""
    return word[1:-1] if _LITERAL.fullmatch(word) else None


def is_misread(sql: Sql, i: int, stop: int) -> bool:
    """Return whether sqlglot 30.30 silently reads the text from token i on otherwise than Spark.

    Token i is a word, name or string of an expression that ends before token `stop`.
    """
    if i + 1 >= stop:
        return False
    kind, key = sql.kind(i), sql.key(i)
    if kind == "string":  # `r'it''s'` is two strings, of which sqlglot makes one
        return sql.kind(i + 1) == "string" and "r" in (sql.word(i)[0].lower(), sql.word(i + 1)[0].lower())
    if key == "VALUES":  # rows without parentheses: the alias would go into the last value
        return sql.kind(i + 1) in ("number", "string")
    if key == "STREAM":  # sqlglot takes it for the name of a table, or for Databricks' prefix of one
        return sql.kind(i + 1) in ("word", "name") and sql.key(i - 1) in ("FROM", "JOIN", ",")
    if sql.key(i + 1) == "(" and sql.word(i).upper() == "IDENTIFIER":
        return _is_computed_part(sql, i, stop)
    return False


def _is_computed_part(sql: Sql, i: int, stop: int) -> bool:
    """IDENTIFIER(…) as one part of a name, or as the name of a function."""
    close = sql.partner[i + 1]
    return sql.kind(i) == "name" or (close + 1 < stop and sql.key(close + 1) in (".", "("))
