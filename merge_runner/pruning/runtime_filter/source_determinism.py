"""How the rows of USING come about: what must be known before their values are asked for apart from the MERGE.

Everything is said on the safe side: what cannot be read is more than a scan, and may read the clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.formats.functions import AGGREGATES, CLOCK, GENERATORS, NON_DETERMINISTIC, SCALAR, WINDOW_ONLY
from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import Expr, MergeStatement
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.keywords import words
from merge_runner.merge.syntax.lexer import lex
from merge_runner.pruning.query.source import Lookup
from merge_runner.sql.ctes import Ctes, named_tables, names_cte, source_queries, statement_ctes
from merge_runner.sql.names import fold
from merge_runner.text import Span

if TYPE_CHECKING:
    from merge_runner.formats import Format
    from merge_runner.pruning.runtime_filter.target_reads import Mark

_CLOCK_WORDS = CLOCK | frozenset({"current_date", "curdate", "today", "tomorrow", "yesterday"})
"""By which a text reads the clock, those of Spark's typed literals (`date'today'`) included."""
_ANY_CLOCK_WORD = re.compile("|".join(sorted(_CLOCK_WORDS)))

_OF_THE_USER = frozenset({"current_user", "session_user", "user"})
_MAX_VIEWS = 20
_MORE_THAN_A_SCAN = ("joins", "laterals", "group", "having", "windows", "qualify", "distinct", "limit", "offset")
_ORDERED = ("order", "sort", "cluster", "distribute", "sample", "pivots", "match", "connect", "with_", "changes")


@dataclass(frozen=True)
class Scan:
    """A table that is read row by row. `span` is that of its name in the statement; `aliased`: it has an alias.

    `format` None: its rows are those of one version as it is.
    """

    parts: tuple[str, ...]
    span: Span
    aliased: bool
    format: Format | None


@dataclass(frozen=True)
class SourceReading:
    """`scan` is the one table with versions whose filtered rows the source is; None where it is more than that.

    `reads_clock`: it may read the clock. `tables` are the names of all tables that it reads, through views;
    `unknown` are those of which it is not known whether they are views. `readable` False: there may be more of them.
    """

    scan: Scan | None
    reads_clock: bool
    tables: tuple[tuple[str, ...], ...]
    unknown: tuple[tuple[str, ...], ...]
    readable: bool
    unread: str | None = None
    """What cannot be read, in a few words, where `readable` is False."""
    at: Span | None = None
    """The token of the statement at which reading stops, where that is known."""
    varying: str | None = None
    """What may give other rows each time that the same tables are read, in a few words; None: nothing is known to."""


def source_reading(statement: MergeStatement, lookup: Lookup, marks: Sequence[Mark] = ()) -> SourceReading:
    """How the source of a statement is read; the values of `marks` are constants for it."""
    reader = _Reader(lookup, frozenset(id(mark.nodes[1]) for mark in marks))
    source, ctes = statement.source, statement_ctes(statement)
    for query, visible in source_queries(statement):
        reader.query(query, statement.text, visible)
    if source.query is None and not source.parts:
        reader.cannot_read("its source has a name that is known at run time only", source.relation)
    elif source.query is None and not names_cte(source.parts, ctes):
        reader.table(source.parts)
    return SourceReading(
        None if statement.ctes else _scan(statement, lookup, frozenset(id(mark.nodes[0]) for mark in marks)),
        reader.reads_clock or not reader.readable,
        tuple(dict.fromkeys(reader.tables)),
        tuple(dict.fromkeys(reader.unknown)),
        reader.readable,
        reader.unread,
        reader.at,
        reader.varying,
    )


def query_reading(text: str) -> SourceReading:
    """How a query comes about, of whose tables nothing is known."""
    reader = _Reader(lambda _parts: None, frozenset())
    reader.query(read_query(text), text, {})
    reads_clock = reader.reads_clock or not reader.readable
    tables = tuple(reader.tables)
    return SourceReading(None, reads_clock, tables, (), reader.readable, reader.unread, varying=reader.varying)


def rest_reads_clock(statement: MergeStatement) -> bool:
    """Return whether ON or a clause may read the clock."""
    return any(map(reads_clock, statement.expressions))


def varying_part(statement: MergeStatement) -> str | None:
    """Return what of ON or a clause may give something else for the same rows, in a few words; None: nothing does."""
    if statement.more_clauses or any(clause.partial for clause in statement.clauses):
        return "clauses are filled in at run time"
    if rest_reads_clock(statement):
        return "ON or a clause may read the clock"
    for piece in statement.expressions:
        tree = piece.expression
        if tree is None:
            return f"`{piece.text[:40]}` cannot be read"
        if (name := varying(tree)) is not None:
            return f"a condition or value has {name}, which may give another value each time"
        if tree.find(exp.Query) is not None:
            return "a condition or value reads a table"
    return None


def reads_clock(piece: Expr) -> bool:
    """Return whether an expression or query may read the clock: it names it, or calls an unknown function."""
    return _reads_clock(piece, () if piece.expression is None else piece.expression.walk())


def _reads_clock(piece: Expr, nodes: Iterable[exp.Expr]) -> bool:
    if piece.expression is None or any(map(_is_unknown_function, nodes)):
        return True
    if _ANY_CLOCK_WORD.search(piece.text.casefold()) is None:
        return False  # what was read has been cut into tokens before: it can be
    return bool(_CLOCK_WORDS.intersection(_words(piece.text)))


class _Reader:
    """Collects what queries read, through the views that they name."""

    def __init__(self, lookup: Lookup, left_out: frozenset[int]) -> None:
        self.lookup = lookup
        self.left_out = left_out
        """The ids of the nodes of tables that do not count."""
        self.reads_clock = False
        self.readable = True
        self.unread: str | None = None
        self.at: Span | None = None
        self.varying: str | None = None
        self.tables: list[tuple[str, ...]] = []
        self.unknown: list[tuple[str, ...]] = []
        self.seen: set[tuple[str, ...]] = set()

    def cannot_read(self, problem: str, at: Span | None = None) -> None:
        """Note that something cannot be read: the first one counts. `at` is a span of the statement."""
        if self.readable:
            self.readable, self.unread, self.at = False, problem, at

    def query(self, query: Expr, text: str, visible: Ctes, view: str | None = None) -> None:
        """Read a query of the statement's text, or that of a view; `visible` are the CTEs that it sees."""
        nodes = [] if query.expression is None else list(query.expression.walk())
        self.reads_clock = self.reads_clock or _reads_clock(query, nodes)
        if query.expression is None:
            whose = "its source" if view is None else f"the query of the view {view}"
            token = f" from `{query.stopped.of(text)}` on" if query.stopped is not None else ""
            self.cannot_read(f"{whose} cannot be read{token}", query.stopped if view is None else None)
            return
        self.varying = self.varying or _varying(nodes)
        for node, cte in named_tables(query.expression, visible):
            if cte is not None or id(node) in self.left_out:
                continue
            parts = tuple(part.name for part in node.parts if isinstance(part, exp.Identifier))
            if len(parts) != len(node.parts) or not parts:
                self.cannot_read(f"its source reads `{node.sql()[:40]}`, which is no name of a table")
            else:
                self.table(parts)

    def table(self, parts: tuple[str, ...]) -> None:
        folded = fold(parts)
        if folded in self.seen:
            return
        self.seen.add(folded)
        self.tables.append(folded)
        table = self.lookup(parts)
        if table is not None and table.fixed:
            return
        if table is None or (table.query is None and table.layout.format is None):
            self.unknown.append(parts)
        elif table.query is not None:
            if len(self.seen) > _MAX_VIEWS:
                self.cannot_read(f"its source reads more than {_MAX_VIEWS} tables and views")
            else:
                self.query(read_query(table.query), table.query, {}, ".".join(parts))


def varying(tree: exp.Expr) -> str | None:
    """What in a query or expression may give something else for the same rows, in a few words; None: nothing does.

    An order that leaves open which of two equal rows comes first does not count. Who runs the query does.
    """
    return _varying(tree.walk())


def _varying(nodes: Iterable[exp.Expr]) -> str | None:
    for node in nodes:
        if isinstance(node, exp.Func):
            name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).casefold()
            if name in NON_DETERMINISTIC or name in _OF_THE_USER:
                return f"{name}()"
        if isinstance(node, exp.TableSample):
            return "TABLESAMPLE"
        if isinstance(node, exp.QueryTransform):
            return "TRANSFORM"
        if isinstance(node, (exp.Limit, exp.Offset, exp.Fetch)) and not _is_ordered(node.parent):
            return "LIMIT without ORDER BY"
    return None


def _is_ordered(query: exp.Expr | None) -> bool:
    return query is not None and query.args.get("order") is not None


_BEFORE_PARENTHESES = words(
    "all and any as by case cluster distribute else except exists filter from full group having in inner insert "
    "intersect into is join lateral left like not on or order outer over partition right select set sort tables "
    "then union update using values when where with within"
)
"""Words that are no functions where an opening parenthesis follows them."""


def varying_word(text: str) -> str | None:
    """The first word of a statement that may give another value each time; None: there is none.

    It reads the clock, is no deterministic function, or a function that merge-runner does not know.
    """
    known_words = SCALAR | AGGREGATES | GENERATORS | WINDOW_ONLY | _BEFORE_PARENTHESES
    tokens = lex(text)
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        word = text[token.start : token.end].casefold()
        if token.kind not in ("word", "name", "string"):
            continue
        if any(part in _CLOCK_WORDS for part in re.findall(r"\w+", word)):
            return word
        is_called = after is not None and text[after.start : after.end] == "("
        if (
            is_called
            and token.kind != "string"
            and (word in NON_DETERMINISTIC or word in _OF_THE_USER or word not in known_words)
        ):
            return word
    return None


def reads_row_by_row(text: str) -> bool:
    """Whether each row that a query gives is computed from one row of one table, in the same way each time."""
    return _plain_table(read_query(text).expression, frozenset()) is not None


def _scan(statement: MergeStatement, lookup: Lookup, constants: frozenset[int]) -> Scan | None:
    source = statement.source
    if source.query is None:
        return _catalog_scan(source.parts, source.relation, source.alias is not None, lookup)
    table = _plain_table(source.query.expression, constants)
    if table is None or any(table.args.get(key) for key in ("version", "when", "only", "hints")):
        return None
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        return None
    names = [part for part in table.parts if isinstance(part, exp.Identifier)]
    if len(names) != len(table.parts) or any("start" not in name.meta for name in names):
        return None
    span = Span(source.query.span.start + names[0].meta["start"], source.query.span.start + names[-1].meta["end"] + 1)
    return _catalog_scan(tuple(name.name for name in names), span, alias is not None, lookup)


def _plain_table(tree: exp.Expr | None, constants: frozenset[int]) -> exp.Table | None:
    """The one table whose rows a query gives one by one; `constants` are the ids of queries that give one value."""
    while not isinstance(tree, exp.Table):
        if isinstance(tree, exp.Subquery) and not _has_more(tree):
            tree = tree.this
            continue
        if not isinstance(tree, exp.Select) or _has_more(tree) or not _is_row_by_row(tree, constants):
            return None
        origin = tree.args.get("from_")
        tree = origin.this if isinstance(origin, exp.From) else None
    return None if _has_more(tree) else tree


def _catalog_scan(parts: tuple[str, ...], span: Span, aliased: bool, lookup: Lookup) -> Scan | None:
    table = lookup(parts) if parts else None
    if table is None or table.query is not None or (table.layout.format is None and not table.fixed):
        return None
    return Scan(parts, span, aliased, table.layout.format)


def _has_more(node: exp.Expr) -> bool:
    return any(node.args.get(key) for key in (*_MORE_THAN_A_SCAN, *_ORDERED))


def _is_row_by_row(select: exp.Select, constants: frozenset[int]) -> bool:
    """Whether each row that a SELECT gives is computed from one row of its FROM, in the same way each time."""

    def is_constant(node: exp.Expr) -> bool:
        return id(node) in constants or id(node.this) in constants

    pieces = [*select.expressions, *([select.args["where"]] if select.args.get("where") else [])]
    return all(is_constant(node) or _is_plain(node) for piece in pieces for node in piece.walk(prune=is_constant))


_NOT_PLAIN = (exp.Query, exp.Window, exp.AggFunc, exp.UDTF, exp.Table, exp.QueryTransform)
"""Nodes that do not give one value for each row."""


def _is_plain(node: exp.Expr) -> bool:
    if isinstance(node, _NOT_PLAIN) or _is_unknown_function(node):
        return False
    if isinstance(node, exp.Func) and not isinstance(node, (exp.And, exp.Or, exp.Xor)):
        name = node.sql_name().lower()
        return not any(name in names for names in (NON_DETERMINISTIC, AGGREGATES, GENERATORS, WINDOW_ONLY))
    return True


def _is_unknown_function(node: exp.Expr) -> bool:
    return isinstance(node, exp.Dot) or (isinstance(node, exp.Anonymous) and node.name.lower() not in SCALAR)


def _words(text: str) -> Iterator[str]:
    try:
        tokens = lex(text)
    except MergeSyntaxError:
        yield "now"
        return
    for token in tokens:
        if token.kind in ("word", "name", "string"):
            yield from re.findall(r"\w+", text[token.start : token.end].casefold())
