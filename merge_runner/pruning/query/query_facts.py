"""What is known of the rows of a query: a walk along its tree, with the CTEs and views that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from merge_runner.merge.read_query import read_query
from merge_runner.merge.syntax.placeholder import is_placeholder
from merge_runner.pruning.layout.layout import TableColumn
from merge_runner.pruning.logic.canonical import term
from merge_runner.pruning.logic.constant_value import NULL, Lit
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.term import Call, Col, Term
from merge_runner.pruning.predicate.expression_type import any_nullable, expression_type, wider
from merge_runner.pruning.query.renamed import by_position, renamed
from merge_runner.pruning.query.select_facts import select_facts
from merge_runner.pruning.query.source import UNREADABLE, Lookup, SourceFacts
from merge_runner.sql.ctes import named_tables, names_cte
from merge_runner.sql.names import fold

if TYPE_CHECKING:
    from merge_runner.pruning.query.relation import ReadSelect

_MAX_VIEWS = 20
"""Views inside views."""

_MAX_UNION_KEYS = 12
_MAX_PAIRED_COLUMNS = 6
"""VALUES with more columns are asked for keys of one column, and of all, only."""

_MAX_ROWS = 1000


def query_facts(query: exp.Expr | str | None, lookup: Lookup) -> SourceFacts:
    """What is known of the rows of a query, given as a tree or as its text."""
    if isinstance(query, str):
        query = read_query(query).expression
    return VisibleQueries(lookup).facts(query)


@dataclass(frozen=True)
class VisibleQueries:
    """Answers for queries that see the same CTEs. `views` are those that are being looked into."""

    lookup: Lookup
    ctes: Mapping[str, Callable[[], SourceFacts]] = field(default_factory=dict)
    views: tuple[tuple[str, ...], ...] = ()
    seen: dict[tuple[str, ...], SourceFacts] = field(default_factory=dict, repr=False, compare=False)
    """What was found of views before: one that reads another twice would double the work at each level."""
    selects: list[ReadSelect] | None = field(default=None, repr=False, compare=False)
    """Where each SELECT that is read is added, views and subqueries of expressions excepted; None: nowhere."""

    def facts(self, node: exp.Expr | None) -> SourceFacts:
        """What is known of the rows of a query; nothing where its tree is None."""
        if node is None:
            return UNREADABLE
        try:
            return self._facts(node)
        except RecursionError:
            return UNREADABLE

    def subquery_facts(self, node: exp.Expr | None) -> SourceFacts:
        """Return what is known of the rows of a subquery in an expression, which sees the names around it too."""
        return replace(self, selects=None).facts(node)

    def record(self, read: ReadSelect) -> None:
        """Keep a SELECT that was read, where `selects` asks for it."""
        if self.selects is not None:
            self.selects.append(read)

    def with_cte(
        self, name: str, tree: exp.Expr | None, columns: Sequence[str] = (), *, recursive: bool = False
    ) -> VisibleQueries:
        """The same with one more CTE, which itself sees those before it only; it is looked at when it is named."""
        cache: list[SourceFacts] = []

        def facts() -> SourceFacts:
            if not cache:
                if recursive and tree is not None and _names_itself(tree, name):
                    cache.append(renamed(UNREADABLE, columns))
                else:
                    cache.append(renamed(self.facts(tree), columns))
            return cache[0]

        return replace(self, ctes={**self.ctes, name.casefold(): facts})

    def is_cte(self, parts: Sequence[str]) -> bool:
        """Whether a name in FROM means a CTE."""
        return names_cte(parts, self.ctes)

    def table(self, parts: Sequence[str]) -> SourceFacts:
        """What is known of the rows of a table, view or CTE, given the unquoted parts of its name."""
        if not parts or (len(parts) == 1 and is_placeholder(parts[0])):
            return UNREADABLE
        if len(parts) == 1 and (cte := self.ctes.get(parts[0].casefold())) is not None:
            return cte()
        table = self.lookup(tuple(parts))
        if table is None:
            return SourceFacts()
        own = table.rows
        folded = fold(parts)
        if table.query is None:
            return own
        if folded in self.views or len(self.views) >= _MAX_VIEWS:
            return replace(own, readable=False)

        if folded not in self.seen:
            inner = VisibleQueries(self.lookup, views=(*self.views, folded), seen=self.seen)
            self.seen[folded] = _with_declared(inner.facts(read_query(table.query).expression), own)
        return self.seen[folded]

    def _facts(self, node: exp.Expr) -> SourceFacts:
        queries = self
        if (ctes := node.args.get("with_")) is not None:
            for cte in ctes.expressions:
                alias = cte.args["alias"]
                names = [column.name for column in alias.columns]
                queries = queries.with_cte(alias.name, cte.this, names, recursive=bool(ctes.args.get("recursive")))
        if isinstance(node, exp.Select):
            rows = select_facts(node, queries)
        elif isinstance(node, exp.SetOperation):
            rows = queries._combined(node)
        elif isinstance(node, exp.Values):
            rows = _values(node)
        elif isinstance(node, exp.Subquery):
            if any(node.args.get(key) for key in ("pivots", "joins", "laterals")):
                return UNREADABLE
            rows = queries._facts(node.this)
        elif isinstance(node, exp.Table) and not any(node.args.get(key) for key in ("pivots", "joins", "laterals")):
            rows = queries.table(tuple(part.name for part in node.parts) if _is_name(node) else ())
        else:
            return UNREADABLE
        limit = node.args.get("limit")
        if limit is not None and isinstance(limit, exp.Limit) and limit.expression.name in ("0", "1"):
            return replace(rows, unique=(frozenset(),))
        return rows

    def _combined(self, node: exp.SetOperation) -> SourceFacts:
        left, right = self.facts(node.this), self.facts(node.expression)
        if node.args.get("by_name") or node.args.get("side") or node.args.get("kind"):
            return UNREADABLE
        distinct = node.args.get("distinct") is not False
        readable = left.readable and right.readable
        if left.columns is None or (right.columns is not None and len(left.columns) != len(right.columns)):
            # Branches of stars have the same columns in the same order, else the query would fail.
            same = tuple(item for item in left.restrictions if right.facts.implies(item) is True)
            same += tuple(item for item in right.restrictions if left.facts.implies(item) is True and item not in same)
            if not isinstance(node, exp.Union):
                return SourceFacts(restrictions=same, readable=readable)
            first = left.columns if left.columns is not None else left.some[: left.leading]
            rows = SourceFacts(None, (), same, readable, tuple(TableColumn(c.name) for c in first), len(first))
            return _with_nulled(rows, left, right)
        renaming = by_position(right, left)
        others = [replaced(item, renaming) for item in right.restrictions] if right.columns is not None else []
        unique = [frozenset(c.name.casefold() for c in left.columns)] if distinct else []
        if isinstance(node, exp.Except):
            restrictions = left.restrictions
            unique += left.unique
            columns = left.columns
        elif isinstance(node, exp.Intersect):
            restrictions = (*left.restrictions, *others)
            unique += left.unique
            columns = left.columns
        else:
            mine, theirs = left.facts, Facts(others)
            common = [item for item in left.restrictions if theirs.implies(item) is True]
            common += [item for item in others if item not in common and mine.implies(item) is True]
            common += _common_lists(left.restrictions, others)
            restrictions = tuple(common)
            unique += _apart(left, right, others)
            columns = tuple(
                TableColumn(own.name, wider(own.data_type, other.data_type), any_nullable(own.nullable, other.nullable))
                for own, other in zip(left.columns, right.columns or [TableColumn("")] * len(left.columns), strict=True)
            )
        rows = SourceFacts(columns, tuple(unique), restrictions, readable)
        return _with_nulled(rows, left, right) if isinstance(node, exp.Union) else rows


def _apart(left: SourceFacts, right: SourceFacts, others: Sequence[Term]) -> list[frozenset[str]]:
    """The keys of a UNION whose branches are distinguished by the constants of a column; `others`: of the right one."""
    if left.columns is None or right.columns is None:
        return []
    moved = {own.name.casefold(): name.name.casefold() for name, own in zip(left.columns, right.columns, strict=True)}
    theirs = [frozenset(moved[name] for name in key) for key in right.unique if key <= moved.keys()]
    lists = dict(entry for item in others if (entry := _as_list(item)) is not None)
    keys: list[frozenset[str]] = []
    for column, values in (entry for item in left.restrictions if (entry := _as_list(item)) is not None):
        constants = {*values, *lists.get(column, ())}
        kinds = {constant.kind for constant in constants if isinstance(constant, Lit)}
        apart = column in lists and len(constants) == len(set(values)) + len(set(lists[column]))
        if apart and len(kinds) == 1 and kinds <= {"bool", "number", "text", "date", "timestamp"}:
            keys += [key | other | {column.name} for key in left.unique for other in theirs]
    return list(dict.fromkeys(keys))[:_MAX_UNION_KEYS]


def _common_lists(one: Sequence[Term], other: Sequence[Term]) -> list[Term]:
    """The values of both branches where each has a list, or one value, for a column."""
    lists = dict(entry for item in one if (entry := _as_list(item)) is not None)
    terms: list[Term] = []
    for item in other:
        column, values = _as_list(item) or (None, ())
        if column is not None and column in lists:
            terms.append(Call("in", (column, *dict.fromkeys((*lists[column], *values)))))
    return terms


def _as_list(item: Term) -> tuple[Col, tuple[Term, ...]] | None:
    if not isinstance(item, Call) or item.name not in ("=", "in"):
        return None
    column, *values = item.args
    return (column, tuple(values)) if isinstance(column, Col) and all(isinstance(v, Lit) for v in values) else None


def _with_nulled(union: SourceFacts, left: SourceFacts, right: SourceFacts) -> SourceFacts:
    """What is known besides of a UNION one branch of which has NULL in a column: its rows do not meet there."""
    first = union.columns if union.columns is not None else union.some[: union.leading]
    names = [column.name.casefold() for column in first]
    empty_left = {name for i, name in enumerate(names) if left.is_null(i)}
    empty_right = {name for i, name in enumerate(names) if right.is_null(i)}
    mine = (*left.unique, *left.unique_not_null)
    places = right.columns if right.columns is not None else right.some[: right.leading]
    moved = {column.name.casefold(): name for column, name in zip(places, names, strict=False)}
    theirs = [
        frozenset(moved[name] for name in key) for key in (*right.unique, *right.unique_not_null) if key <= moved.keys()
    ]
    keys = (*(key for key in mine if key & empty_right), *(key for key in theirs if key & empty_left))
    nulled = left.nulled | {moved[name] for name in right.nulled & moved.keys()} | (empty_left ^ empty_right)
    return replace(union, unique_not_null=keys, nulled=frozenset(nulled & set(names)))


def _with_declared(facts: SourceFacts, declared: SourceFacts) -> SourceFacts:
    """The rows of a view's query, with what is declared of its columns where the query leaves it open."""
    unique = (*facts.unique, *declared.unique)
    if facts.columns is None:
        return replace(facts, columns=declared.columns, some=declared.some, leading=0, unique=unique)
    columns = []
    for column in facts.columns:
        own = declared.column(column.name) or column
        nullable = False if own.nullable is False else column.nullable
        columns.append(replace(column, data_type=column.data_type or own.data_type, nullable=nullable))
    return replace(facts, columns=tuple(columns), unique=unique)


def _names_itself(tree: exp.Expr, name: str) -> bool:
    return any(cte is None and table.name.casefold() == name.casefold() for table, cte in named_tables(tree, {}))


def _is_name(node: exp.Table) -> bool:
    """Whether a relation is the rows of what it names."""
    return isinstance(node.this, exp.Identifier) and not node.args.get("changes")


def _values(node: exp.Values) -> SourceFacts:
    """The rows of VALUES: `col1`, `col2`… where no alias names the columns."""
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
    width = len(rows[0]) if rows else 0
    if not rows or any(len(row) != width for row in rows):
        return UNREADABLE
    if len(rows) > _MAX_ROWS:
        return SourceFacts(tuple(TableColumn(f"col{i + 1}") for i in range(width)))
    alias = node.args.get("alias")
    names = [column.name for column in alias.columns] if alias is not None else []
    if len(names) != width:
        names = [f"col{i + 1}" for i in range(width)]
    columns = []
    cells: list[list[Term | None]] = []
    restrictions: list[Term] = []
    for i, name in enumerate(names):
        typed = [expression_type(row[i], lambda column: (None, None)) for row in rows]  # type: ignore[arg-type, return-value]
        data_type = typed[0].data_type
        for item in typed[1:]:
            data_type = wider(data_type, item.data_type)
        columns.append(TableColumn(name, data_type, any_nullable(*(item.nullable for item in typed))))
        column = [term(row[i], lambda node: None) for row in rows]
        cells.append(column)
        if all(isinstance(cell, Lit) and cell != NULL for cell in column):
            constants = tuple(dict.fromkeys(cell for cell in column if cell is not None))
            own = Col(0, name.casefold())
            restrictions.append(Call("=", (own, *constants)) if len(constants) == 1 else Call("in", (own, *constants)))
    return SourceFacts(tuple(columns), _keys_of_values(names, cells, len(rows)), tuple(restrictions))


def _keys_of_values(
    names: Sequence[str], cells: Sequence[Sequence[Term | None]], rows: int
) -> tuple[frozenset[str], ...]:
    if rows == 1:
        return (frozenset(),)
    places = range(len(names))
    groups = [(i,) for i in places] + [tuple(places)]
    if len(names) <= _MAX_PAIRED_COLUMNS:
        groups += [(i, j) for i in places for j in places if i < j]
    keys: list[frozenset[str]] = []
    for group in groups:
        if all(isinstance(cell, Lit) for i in group for cell in cells[i]):
            distinct = {tuple(cells[i][row] for i in group) for row in range(rows)}
            if len(distinct) == rows and _of_one_kind(cells, group):
                keys.append(frozenset(names[i].casefold() for i in group))
    return tuple(keys)


def _of_one_kind(cells: Sequence[Sequence[Term | None]], group: Sequence[int]) -> bool:
    """1 and '1' differ as constants, and are one value in a column."""
    return all(len({cell.kind for cell in cells[i] if isinstance(cell, Lit) and cell != NULL}) <= 1 for i in group)
