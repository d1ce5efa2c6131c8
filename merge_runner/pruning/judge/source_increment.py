"""Whether USING holds new rows alone, and which rows WHEN NOT MATCHED BY SOURCE changes that it merely leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from merge_runner.merge.name_places import names_span
from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.pruning.judge.by_source_window import is_decided, is_state_of_row, rest_of, target_conditions
from merge_runner.pruning.judge.insert_consistency import TARGET, equated_columns
from merge_runner.pruning.judge.key_functions import column_by_name
from merge_runner.pruning.judge.visible_queries import MAX_QUERIES
from merge_runner.pruning.logic.budget import Budget
from merge_runner.pruning.logic.canonical import condition
from merge_runner.pruning.logic.constant_value import Lit
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import Lookup
from merge_runner.pruning.runtime_filter.source_pinning import is_named_alike
from merge_runner.sql.ctes import Ctes, named_tables, statement_ctes, with_ctes

_CHANGE_FEEDS = frozenset({"table_changes", "stream"})
"""Table functions that give changes or new rows of a table (Databricks)."""

_OF_CHANGES = "_commit_version"
_DAY = 86_400
_CLEAR_WINDOW = 7 * _DAY
"""A table may well keep the last weeks on purpose; hardly the last days."""

_GREATER = (exp.GT, exp.GTE)
_LESS = (exp.LT, exp.LTE)


@dataclass(frozen=True)
class Increment:
    """What makes a source one of new rows alone, in words that follow "USING holds".

    `columns` are the names, case folded, of what a filter is about; `window` is the filter where it compares one with
    the clock, the column as the source's. `certain` False: a table may hold just this part on purpose.
    """

    words: str
    columns: frozenset[str] = frozenset()
    window: Term | None = None
    certain: bool = True


@dataclass(frozen=True)
class LeftOutRows:
    """A WHEN NOT MATCHED BY SOURCE clause that changes rows which the increment leaves out.

    `every`: no condition on other columns keeps some of them.
    """

    clause: Clause
    increment: Increment
    every: bool


IsAdded = Callable[[int], bool]
"""Whether what is at an offset of the statement is in the text of an incremental run alone."""


def left_out_rows(statement: MergeStatement, scope: Scope, lookup: Lookup, is_added: IsAdded) -> Iterator[LeftOutRows]:
    """The clauses that change what the source does not hold because it is not new.

    A clause whose condition is about what the filter is about decides about these rows by itself, and so does one that
    takes a range, as of old rows.
    """
    clauses = [clause for clause in statement.clauses if clause.kind == "not_matched_by_source"]
    increment = source_increment(statement, lookup, is_added) if clauses else None
    if increment is None:
        return
    names = _stored_as(increment.columns, statement, scope)
    former: list[Term] = []
    for clause in clauses:
        own = target_conditions(clause, scope)
        if own is None:
            return
        about = {column.name for part in (*own, *former) for column in columns(part)}
        if names.isdisjoint(about) and not any(map(_is_range, own)):
            every = all(is_state_of_row(part) for part in own)
            yield LeftOutRows(clause, increment, every)
        elif increment.window is not None and not names.isdisjoint(about):
            windows = [_of_target(increment.window, name) for name in names & about]
            if not any(is_decided(window, windows, own, former) for window in windows):
                yield LeftOutRows(clause, increment, False)
        former.append(rest_of(own))


def _is_range(part: Term) -> bool:
    """Whether a condition is about how old or large something is, as where old rows are deleted."""
    return isinstance(part, Call) and part.name in ("<", "<=", ">", ">=")


def _of_target(window: Term, name: str) -> Term:
    return replaced(window, lambda part: Col(TARGET, name) if isinstance(part, Col) else None)


def _stored_as(names: frozenset[str], statement: MergeStatement, scope: Scope) -> frozenset[str]:
    """The columns of the target that hold, or are equal to, what the source calls by these names."""
    stored = set(names)
    stored |= {pair.target.casefold() for pair in equated_columns(statement, scope) if pair.source.casefold() in names}
    for clause in statement.clauses:
        for assignment in clause.assignments if clause.kind != "not_matched_by_source" else ():
            tree = assignment.value.expression
            references = scope.columns(tree) if tree is not None else ()
            if any(reference.side != "target" and reference.column.casefold() in names for reference in references):
                stored.add(assignment.column[-1].casefold())
    return frozenset(stored)


def source_increment(statement: MergeStatement, lookup: Lookup, is_added: IsAdded) -> Increment | None:
    """Return what makes the source one of new rows alone; None: nothing is known to."""
    source = statement.source
    walk = _Walk(statement, lookup, is_added)
    visible = statement_ctes(statement)
    if source.query is not None:
        tree = source.query.expression
        return walk.of_query(tree, visible) if tree is not None else None
    return walk.of_table(source.parts, visible)


class _Walk:
    """A walk from the rows of USING to where they come from: what leaves rows out on the way."""

    def __init__(self, statement: MergeStatement, lookup: Lookup, is_added: IsAdded) -> None:
        queries = [statement.source.query, *(cte.query for cte in statement.ctes)]
        self.target = statement.target.parts
        self.lookup = lookup
        self.starts = {id(query.expression): query.span.start for query in queries if query is not None}
        """Where the queries of the statement begin, by the ids of their trees."""
        self.is_added = is_added
        self.queries = Budget(MAX_QUERIES)

    def of_query(self, node: exp.Expr, visible: Ctes) -> Increment | None:
        """Return what makes the rows of a query new ones alone."""
        if not self.queries.take():
            return None
        visible = with_ctes(node, visible)
        if node.args.get("limit") is not None and node.args.get("order") is None:
            return Increment("some rows alone, by LIMIT without ORDER BY", certain=False)
        if isinstance(node, exp.Union):
            left, right = self.of_query(node.this, visible), self.of_query(node.expression, visible)
            return left if left is not None and right is not None else None
        if isinstance(node, exp.Except) and self.reads_target(node.expression, visible):
            return Increment("rows that the target does not have")
        if isinstance(node, exp.SetOperation):
            return self.of_query(node.this, visible)
        if isinstance(node, exp.Subquery):
            return self.of_query(node.this, visible)
        if isinstance(node, exp.Table):
            return self.of_relation(node, visible)
        return self.of_select(node, visible) if isinstance(node, exp.Select) else None

    def of_relation(self, node: exp.Expr, visible: Ctes) -> Increment | None:
        """Return the same of what FROM or a join names."""
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous):
            feed = node.this.name.casefold()
            return Increment("changes or new rows of a table alone") if feed in _CHANGE_FEEDS else None
        if isinstance(node, exp.Table) and node.args.get("changes"):
            return Increment("the changes of a table alone")
        if isinstance(node, exp.Table):
            return self.of_table(tuple(part.name for part in node.parts), visible)
        return self.of_query(node, visible)

    def of_table(self, parts: tuple[str, ...], visible: Ctes) -> Increment | None:
        """Return the same of a CTE, a view, the changes of a table or a batch of a stream, by the parts of its name."""
        cte = visible.get(parts[0].casefold()) if len(parts) == 1 else None
        if cte is not None:
            return self.of_query(cte.query, cte.visible) if cte.query is not None else None
        table = self.lookup(parts) if parts else None
        if table is not None and table.fixed:
            is_feed = table.layout.has_column(_OF_CHANGES) is True
            return Increment("the changes of a table alone" if is_feed else "one batch of a stream alone")
        tree = read_query(table.query).expression if table is not None and table.query is not None else None
        return self.of_query(tree, {}) if tree is not None else None

    def of_select(self, select: exp.Select, visible: Ctes) -> Increment | None:
        """Return the same of a SELECT, all of whose rows come from an increment or pass a filter that makes one."""
        origin = select.args.get("from_")
        relations = [origin.this] if origin is not None else []
        conditions: list[exp.Expr] = []
        compared: list[exp.Expr] = []
        for join in select.args.get("joins") or ():
            side, kind, on = (join.side or "").upper(), (join.kind or "").upper(), join.args.get("on")
            if kind == "ANTI":
                if self.reads_target(join.this, visible):
                    return Increment("rows that the target does not have")
                continue
            if self.is_target(join.this, visible):
                compared.append(join.this)
            if side in ("RIGHT", "FULL"):
                relations = []
            if side in ("", "RIGHT"):
                relations.append(join.this)
                conditions += [on] if on is not None and not side else []
            elif kind == "SEMI":
                relations.append(join.this)
        first = next((part for item in relations if (part := self.of_relation(item, visible)) is not None), None)
        if first is not None:
            return first
        conditions += [part.this for key in ("where", "having") if (part := select.args.get(key)) is not None]
        marks = _Marks(self, visible, select, compared)
        return next((increment for item in conditions if (increment := marks.of_condition(item)) is not None), None)

    def reads_target(self, node: exp.Expr, visible: Ctes) -> bool:
        """Whether a query or relation names the target, by itself or through CTEs."""
        if not self.queries.take():
            return False
        for table, cte in named_tables(node, visible):
            if cte is None:
                if is_named_alike(tuple(part.name for part in table.parts), self.target):
                    return True
            elif cte.query is not None and self.reads_target(cte.query, cte.visible):
                return True
        return False

    def is_target(self, node: exp.Expr, visible: Ctes) -> bool:
        """Whether a relation gives rows of the target, or aggregates of it, and reads nothing else."""
        return all(self.reads_target(table, visible) for table in node.find_all(exp.Table))


class _Marks:
    """The conditions of one SELECT: which compare with the target, or with the clock."""

    def __init__(self, walk: _Walk, visible: Ctes, select: exp.Select, compared: list[exp.Expr]) -> None:
        self.walk = walk
        self.visible = visible
        self.names = {relation.alias_or_name.casefold() for relation in compared}
        """What qualifies columns of the target, or of marks in it, that the SELECT joins."""
        self.outputs = {
            name.casefold()
            for relation in compared
            if isinstance(relation, exp.Subquery) and isinstance(relation.this, exp.Select)
            for name in relation.this.named_selects
        }

    def of_condition(self, node: exp.Expr) -> Increment | None:
        """Return what a condition makes of the rows that pass it."""
        node = node.unnest()
        if isinstance(node, exp.And):
            return next(
                (increment for leg in node.flatten() if (increment := self.of_condition(leg)) is not None), None
            )
        return self._of_comparison(node) or self._of_branch(node)

    def _of_branch(self, node: exp.Expr) -> Increment | None:
        """Return what a condition makes that the text of a first run does not have."""
        start = self.walk.starts.get(id(node.root()))
        names_place = names_span(node, start) if start is not None else None
        is_not_null = isinstance(node, exp.Not) and isinstance(node.this.unnest(), exp.Is)
        if names_place is None or is_not_null or not self.walk.is_added(names_place.start):
            return None
        names = frozenset(column.name.casefold() for column in node.find_all(exp.Column))
        return Increment("the rows alone that `is_incremental()` asks for", names)

    def _of_comparison(self, node: exp.Expr) -> Increment | None:
        if isinstance(node, exp.Or):
            return self._of_legs([self.of_condition(leg) for leg in node.flatten()])
        if isinstance(node, exp.Not):
            return self._of_negation(node.this.unnest())
        query = node.this if isinstance(node, exp.Exists) else node.args.get("query")
        if isinstance(node, exp.Exists | exp.In) and query is not None:
            return self.walk.of_query(query, self.visible)
        return self._of_target(node) or self._of_clock(node)

    @staticmethod
    def _of_legs(legs: list[Increment | None]) -> Increment | None:
        """Beside the recent rows an OR may well ask for all that a table is to hold; not so beside unseen ones."""
        first = next((leg for leg in legs if leg is not None), None)
        clock = [leg for leg in legs if leg is not None and leg.window is not None]
        if first is None or (clock and len(clock) < len(legs) and len(clock) == sum(leg is not None for leg in legs)):
            return None
        return replace(first, window=None)

    def _of_negation(self, node: exp.Expr) -> Increment | None:
        query = node.this if isinstance(node, exp.Exists) else node.args.get("query")
        if isinstance(node, exp.Exists | exp.In) and query is not None:
            reads = self.walk.reads_target(query, self.visible)
            return Increment("rows that the target does not have") if reads else None
        if isinstance(node, exp.NullSafeEQ | exp.EQ) and self._compares(node):
            return Increment("rows that differ from the target's")
        return None

    def _of_target(self, node: exp.Expr) -> Increment | None:
        """Return what a comparison with the target makes: a watermark, or rows that it does not have as they are."""
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null) and self._is_of_target(node.this):
            return Increment("rows that the target does not have")
        if isinstance(node, exp.NEQ | exp.NullSafeNEQ) and self._compares(node):
            return Increment("rows that differ from the target's")
        pair = _as_greater(node)
        if pair is None or self._touches(pair[0]) or not self._touches(pair[1]):
            return None
        names = frozenset(column.name.casefold() for column in pair[0].find_all(exp.Column))
        return Increment("rows past a watermark of the target alone", names) if names else None

    def _compares(self, node: exp.Expr) -> bool:
        """Whether a comparison is one between columns of the target and others."""
        sides = [any(map(self._is_of_target, side.find_all(exp.Column))) for side in (node.this, node.expression)]
        other = node.expression if sides[0] else node.this
        return sides.count(True) == 1 and other.find(exp.Column) is not None

    def _is_of_target(self, node: exp.Expr) -> bool:
        return isinstance(node, exp.Column) and node.table.casefold() in self.names

    def _touches(self, node: exp.Expr) -> bool:
        """Whether an expression has a column of the target, or a subquery that reads it."""
        if any(self.walk.reads_target(query, self.visible) for query in node.find_all(exp.Query)):
            return True
        return any(
            column.table.casefold() in self.names if column.table else column.name.casefold() in self.outputs
            for column in node.find_all(exp.Column)
        )

    @staticmethod
    def _of_clock(node: exp.Expr) -> Increment | None:
        """Return what a lower bound before now makes. From now on, as for `valid_to`, is what is in force."""
        for part in conjuncts(condition(node, column_by_name)):
            back = _seconds_back(part)
            names = frozenset(column.name for column in columns(part))
            if back is not None and back > 0 and names:
                window = part if isinstance(part, Call) and isinstance(part.args[0], Col) else None
                return Increment("recent rows alone", names, window, back <= _CLEAR_WINDOW)
        return None


def _as_greater(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The greater and the lesser side of a comparison."""
    if isinstance(node, _GREATER):
        return node.this, node.expression
    if isinstance(node, _LESS):
        return node.expression, node.this
    return (node.this, node.args["low"]) if isinstance(node, exp.Between) else None


def _seconds_back(part: Term) -> float | None:
    """How far before now a condition lets its column begin; None where it is no such bound."""
    if not isinstance(part, Call) or len(part.args) != 2 or not isinstance(part.args[1], Lit):
        return None
    own, bound = part.args[0], part.args[1]
    if part.name in (">", ">=") and bound.moves:
        months, rest = bound.value
        return -float(months * 30 * _DAY + rest * (_DAY if bound.kind == "today" else 1))
    is_age = isinstance(own, Call) and own.name == "datediff" and isinstance(own.args[0], Lit) and own.args[0].moves
    if part.name in ("<", "<=") and is_age and isinstance(bound.value, Decimal):
        return float(bound.value) * _DAY
    return None
