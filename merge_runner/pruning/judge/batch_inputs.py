"""Which relations of a source the window of a batch restricts: by comparisons of their columns with its literals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sqlglot import exp

from merge_runner.merge.name_places import names_span
from merge_runner.merge.read_query import read_expression
from merge_runner.merge.statement import Expr
from merge_runner.pruning.judge.merge_analysis import JudgedMerge
from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts
from merge_runner.pruning.query.joined_rows import ONE_OF_SEVERAL
from merge_runner.pruning.query.relation import ReadSelect, lifted
from merge_runner.pruning.query.source import KnownTable
from merge_runner.sql.ctes import Cte, Ctes, names_cte, source_queries, statement_ctes, with_ctes
from merge_runner.sql.from_clause import from_items
from merge_runner.text import Span

Side = Literal["start", "end"]
SIDES: frozenset[Side] = frozenset(("start", "end"))
_RESTRICTS: Mapping[Side, tuple[str, ...]] = {"start": (">=", ">", "="), "end": ("<", "<=")}


@dataclass(frozen=True)
class BatchLiterals:
    """The window of a batch as a text has it: SQL literals of its bounds, and its id."""

    start: str
    end: str
    id: str

    @cached_property
    def sides(self) -> Mapping[Term, Side]:
        """The bounds as terms."""
        texts: Mapping[Side, str] = {"start": self.start, "end": self.end}
        terms = {side: term(tree, _no_column) for side, text in texts.items() if (tree := _tree(text)) is not None}
        return {value: side for side, value in terms.items() if value is not None}

    def count(self, node: exp.Expr) -> dict[Side, int]:
        """Return how often a tree names each bound outside of lists of columns; the id stands for both."""
        bounds = {_tree(self.start): "start", _tree(self.end): "end"}
        counts: dict[Side, int] = {"start": 0, "end": 0}
        todo = [node]
        while todo:
            part = todo.pop()
            side = bounds.get(part)
            is_id = isinstance(part, exp.Literal) and part.name == self.id
            for name in SIDES if is_id else ():
                counts[name] += 1
            if side is not None:
                counts["start" if side == "start" else "end"] += 1
                continue
            listed = part.expressions if isinstance(part, exp.Select) else ()
            todo += [child for child in part.iter_expressions() if not any(child is item for item in listed)]
        return counts


@dataclass(frozen=True)
class BatchInput:
    """A table in FROM whose rows have a time. `sides` are the bounds of the window that restrict it.

    `query` is the text that the trees `table` and `select` are of.
    """

    known: KnownTable
    table: exp.Table
    select: exp.Select
    query: Expr
    sides: frozenset[Side]

    @property
    def name(self) -> str:
        """Its name as it is written."""
        return ".".join(part.name for part in self.table.parts)

    @property
    def span(self) -> Span | None:
        """Where its name is in the statement, without an alias; None where that is not known."""
        marks, start = [part.meta for part in self.table.parts if "start" in part.meta], self.query.span.start
        return Span(start + marks[0]["start"], start + marks[-1]["end"] + 1) if marks else None

    @property
    def is_alone(self) -> bool:
        """Whether its SELECT reads nothing else in FROM."""
        return len(list(from_items(self.select))) == 1

    @property
    def where_is_or(self) -> bool:
        """Whether an OR joins the conditions of WHERE."""
        where = self.select.args.get("where")
        return where is not None and isinstance(where.this, exp.Or)


@dataclass(frozen=True)
class BorderRows:
    """A comparison by which the rows at a bound of the window are in two batches (`end`) or in none (`start`)."""

    side: Side
    span: Span | None


class BatchInputs:
    """What the source of a MERGE reads of the window of a batch."""

    def __init__(self, merge: JudgedMerge, literals: BatchLiterals) -> None:
        self.literals = literals
        self.inputs: list[BatchInput] = []
        """The tables that say what their time is, once for each place where FROM names them."""
        self.borders: list[BorderRows] = []
        self._merge = merge
        self._is_unclear = False
        self._reads: Mapping[int, ReadSelect] = {id(read.select): read for read in merge.selects}
        self._queries = source_queries(merge.statement)
        self._query_of = {id(query.expression): query for query, _ in self._queries if query.expression is not None}
        self._seen: dict[tuple[int, frozenset[Side]], None] = {}
        source, ctes = merge.statement.source, statement_ctes(merge.statement)
        if source.query is not None and source.query.expression is not None:
            self._walk(source.query.expression, ctes, frozenset())
        elif source.query is None and not self.is_bare:
            self._walk_cte(ctes[source.parts[0].casefold()], frozenset())

    @property
    def is_bare(self) -> bool:
        """Whether USING names a table itself."""
        source = self._merge.statement.source
        return source.query is None and not names_cte(source.parts, statement_ctes(self._merge.statement))

    @property
    def is_readable(self) -> bool:
        """Whether all queries of the source could be read."""
        return all(query.expression is not None for query, _ in self._queries)

    @cached_property
    def sides(self) -> frozenset[Side]:
        """The bounds that the source names at all, other than as columns; both where it is not clear what for."""
        if self._is_unclear:
            return SIDES
        counts = [self.literals.count(query.expression) for query, _ in self._queries if query.expression is not None]
        return frozenset(side for side in SIDES if any(count[side] for count in counts))

    def _walk(self, node: exp.Expr, visible: Ctes, outer: frozenset[Side]) -> None:
        """Read a query whose rows the query around it restricts by `outer`."""
        if (id(node), outer) in self._seen:
            return
        self._seen[id(node), outer] = None
        visible = with_ctes(node, visible)
        if isinstance(node, exp.SetOperation):
            self._walk(node.this, visible, outer)
            self._walk(node.expression, visible, outer)
        elif isinstance(node, exp.Subquery):
            self._walk(node.this, visible, outer)
        elif isinstance(node, exp.Select) and (read := self._reads.get(id(node))) is not None:
            self._walk_select(node, read, visible, outer)

    def _walk_cte(self, cte: Cte, outer: frozenset[Side]) -> None:
        if cte.query is not None:
            self._walk(cte.query, cte.visible, outer)

    def _walk_select(self, select: exp.Select, read: ReadSelect, visible: Ctes, outer: frozenset[Side]) -> None:
        restricted = self._restricted(select, read)
        for item, relation in zip(from_items(select), read.scope.relations, strict=False):
            sides = outer | restricted.get(relation.number, frozenset()) | restricted.get(ONE_OF_SEVERAL, frozenset())
            if item.kind != "table":
                self._walk(item.node, visible, sides)
            elif names_cte(item.parts, visible):
                self._walk_cte(visible[item.parts[0].casefold()], sides)
            elif isinstance(item.node, exp.Table):
                known, query = self._merge.lookup(item.parts), self._query_of.get(id(select.root()))
                if known is not None and known.event_time is not None and not known.fixed and query is not None:
                    self.inputs.append(BatchInput(known, item.node, select, query, sides))

    def _restricted(self, select: exp.Select, read: ReadSelect) -> dict[int, frozenset[Side]]:
        """Return the bounds that restrict each relation of a SELECT, by its number.

        Both of `ONE_OF_SEVERAL` where one is named in a way that is not understood: it may restrict any.
        """
        own = [part.this for key in ("where", "having", "qualify") if (part := select.args.get(key)) is not None]
        own += [item.join.on for item in from_items(select) if item.join is not None and item.join.on is not None]
        terms = [lifted(part, relation) for relation in read.scope.relations for part in relation.rows.restrictions]
        named: dict[Side, int] = dict.fromkeys(SIDES, 0)
        for tree in own:
            for side, count in self.literals.count(tree).items():
                named[side] += count
            for leg in tree.flatten() if isinstance(tree, exp.And) else (tree,):
                parts = conjuncts(condition(leg, read.resolve))
                for part in parts:
                    if (side_of := self._side(part)) is not None:
                        named[side_of] -= 1
                        self._note_border(part, side_of, leg, select)
                terms += parts
        facts = Facts(terms)
        is_unclear = any(count > 0 for count in named.values())
        self._is_unclear |= is_unclear
        restricted: dict[int, set[Side]] = {ONE_OF_SEVERAL: set(SIDES if is_unclear else ())}
        for part in facts.terms:
            side_of = self._side(part)
            if side_of is not None and isinstance(part, Call):
                sides = SIDES if part.name == "=" else {side_of}
                for column in (*columns(part.args[0]), *_equal(part.args[0], facts)):
                    restricted.setdefault(column.relation, set()).update(sides)
        return {number: frozenset(sides) for number, sides in restricted.items()}

    def _side(self, part: Term) -> Side | None:
        """Return the bound by which a condition restricts a value."""
        if not isinstance(part, Call) or len(part.args) != 2:
            return None
        side = self.literals.sides.get(part.args[1])
        return side if side is not None and part.name in _RESTRICTS[side] else None

    def _note_border(self, part: Term, side: Side, node: exp.Expr, select: exp.Select) -> None:
        query = self._query_of.get(id(select.root()))
        if query is not None and isinstance(part, Call) and part.name == {"start": ">", "end": "<="}[side]:
            self.borders.append(BorderRows(side, names_span(node, query.span.start)))


def _equal(value: Term, facts: Facts) -> Iterator[Col]:
    for other in facts.same_as(value):
        yield from columns(other)


def _no_column(_node: exp.Expr) -> None:
    return None


def _tree(text: str) -> exp.Expr | None:
    return read_expression(text).expression
