"""Which columns of a model's table two versions of its SQL make differently.

The comparison is by syntax, and errs to one side: what it cannot follow counts as a change of every column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.lineage.edge import Table
from merge_runner.merge.parse import MergeSyntaxError, parse
from merge_runner.merge.read_query import read_expression, read_query
from merge_runner.merge.statement import Clause, Cte, Expr, MergeStatement
from merge_runner.pruning.query.output import is_generator
from merge_runner.sql.names import is_star

Columns = frozenset[str] | None
"""Names of columns, case folded. None: all of them, or the rows themselves."""

Names = Callable[[tuple[str, ...]], str]
"""Returns one text for the parts of a table's name, the same for both versions: they may be of different targets."""

_NONE: frozenset[str] = frozenset()
_NO_COLUMN = (exp.Table, exp.TableAlias, exp.Alias)
"""Where a name is not that of a column which is read."""
_BEFORE_THE_LIST = ("from_", "joins", "where", "laterals")
"""Parts of a SELECT in which no alias of its list can be named."""


@dataclass(frozen=True)
class Version:
    """The SQL of a model, rendered, and how the tables that it names are identified."""

    text: str
    names: Names


def changed_columns(before: Version, after: Version, *, merge: bool) -> Columns:
    """Return the columns that differ between two versions of a model, a MERGE or a query."""
    if not merge:
        return _query(_Pair.of(before, read_query(before.text), after, read_query(after.text)), _NONE)
    try:
        return _merge(before, parse(before.text), after, parse(after.text))
    except MergeSyntaxError:
        return None


def generated_from(table: Table, columns: frozenset[str]) -> frozenset[str]:
    """Return the generated columns of a table that are made of some of its columns, case folded."""
    names = set()
    for name, text in table.generated:
        tree = read_expression(text).expression
        if columns and (
            tree is None or any(identifier.name.casefold() in columns for identifier in tree.find_all(exp.Identifier))
        ):
            names.add(name.casefold())
    return frozenset(names)


@dataclass(frozen=True)
class _Pair:
    """The same part of both versions, in a form that can be compared; None where it cannot be read, or is missing."""

    before: exp.Expr | None
    after: exp.Expr | None

    @classmethod
    def of(cls, old: Version, before: Expr | None, new: Version, after: Expr | None) -> _Pair:
        """The trees of two expressions, without what differs between targets."""
        return cls(_comparable(before, old.names), _comparable(after, new.names))

    @property
    def readable(self) -> bool:
        """Whether both are there and can be read."""
        return self.before is not None and self.after is not None

    def is_changed(self, changed: frozenset[str]) -> bool:
        """Whether the two differ, or name one of the columns that have changed before them."""
        return self.before != self.after or _names_any(self.after, changed)


def _comparable(expr: Expr | None, names: Names) -> exp.Expr | None:
    """A copy of a tree with names in lower case, and tables by their identity."""
    if expr is None or expr.expression is None:
        return None
    tree = expr.expression.copy()
    for table in list(tree.find_all(exp.Table)):
        parts = tuple(part.name for part in table.parts)
        if all(parts):
            table.set("this", exp.to_identifier(names(parts)))
            table.set("db", None)
            table.set("catalog", None)
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", identifier.name.casefold())
        identifier.set("quoted", False)
    return tree


def _names_any(tree: exp.Expr | None, columns: frozenset[str]) -> bool:
    """Whether a tree names one of the columns, under any qualifier; a star names all, but not that of COUNT(*)."""
    if tree is None or not columns:
        return False
    names = (
        identifier.name for identifier in tree.find_all(exp.Identifier) if not isinstance(identifier.parent, _NO_COLUMN)
    )
    if any(name in columns for name in names):
        return True
    return any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))


def _query(pair: _Pair, outer: frozenset[str]) -> Columns:
    """The columns of a query that differ. `outer` are columns that have changed in what it may read by name."""
    if not pair.readable:
        return None
    before, after = (_unwrap(tree) for tree in (pair.before, pair.after))
    if not isinstance(before, exp.Select) or not isinstance(after, exp.Select):
        return None if _Pair(before, after).is_changed(outer) else _NONE
    changed = _ctes(before, after, outer)
    if changed is None:
        return None
    return _select(before, after, changed)


def _unwrap(tree: exp.Expr | None) -> exp.Expr | None:
    while isinstance(tree, exp.Paren) or (isinstance(tree, exp.Subquery) and not _more_than_query(tree)):
        tree = tree.this
    return tree


def _more_than_query(subquery: exp.Subquery) -> bool:
    return any(value for key, value in subquery.args.items() if key not in ("this", "alias"))


def _ctes(before: exp.Select, after: exp.Select, outer: frozenset[str]) -> Columns:
    """The columns that differ in common table expressions, with those of `outer`; None where one differs as a whole."""
    old = {cte.alias: cte for cte in before.ctes}
    changed: frozenset[str] = outer
    for cte in after.ctes:
        earlier = old.get(cte.alias)
        if earlier is None:
            continue  # that it is read is a change of what reads it
        own = _named_query(earlier, cte, changed)
        if own is None:
            return None
        changed |= own
    return changed


def _named_query(before: exp.Expr, after: exp.Expr, outer: frozenset[str]) -> Columns:
    """The columns of a CTE or of a subquery in FROM that differ; its list of column names counts as a whole."""
    own = _query(_Pair(before.this, after.this), outer)
    if before.args.get("alias") != after.args.get("alias"):
        return None
    has_list = bool(after.alias_column_names)
    return None if has_list and own else own


def _select(before: exp.Select, after: exp.Select, changed: frozenset[str]) -> Columns:
    old, new = _without_list(before), _without_list(after)
    inner = _subqueries(old, new, changed)
    if inner is None:
        return None
    items = _items(before.expressions, after.expressions, changed | inner)
    if items is None:
        return None
    if items and _depends_on_list(after):
        return None
    for key in old.args.keys() | new.args.keys():
        visible = changed | inner if key in _BEFORE_THE_LIST else changed | inner | items
        if _trees(old.args.get(key)) != _trees(new.args.get(key)):
            return None
        if any(_names_any(tree, visible) for tree in _trees(new.args.get(key))):
            return None
    return items


def _trees(value: object) -> list[exp.Expr]:
    """The trees of an argument of a SELECT."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, exp.Expr)]


def _without_list(select: exp.Select) -> exp.Select:
    copy = select.copy()
    copy.set("expressions", [])
    copy.set("with_", None)
    return copy


def _depends_on_list(select: exp.Select) -> bool:
    """Whether the rows depend on the list itself: DISTINCT, GROUP BY ALL, and positions in GROUP BY or ORDER BY."""
    if select.args.get("distinct"):
        return True
    group, order = select.args.get("group"), select.args.get("order")
    if group is not None and group.args.get("all"):
        return True
    terms = [*(group.expressions if group is not None else ()), *(order.expressions if order is not None else ())]
    return any(
        isinstance(term.this if isinstance(term, exp.Ordered) else term, exp.Literal) or term.name.casefold() == "all"
        for term in terms
    )


def _subqueries(before: exp.Select, after: exp.Select, changed: frozenset[str]) -> Columns:
    """The columns that differ in the subqueries of FROM, each of which is taken out of both versions."""
    pairs = list(zip(_derived_tables(before), _derived_tables(after), strict=False))
    columns = _NONE
    for old, new in pairs:
        own = _named_query(old, new, changed)
        if own is None:
            return None
        columns |= own
        for subquery in (old, new):
            subquery.set("this", exp.to_identifier("subquery"))
    return columns


def _derived_tables(select: exp.Select) -> list[exp.Subquery]:
    origin = select.args.get("from_")
    relations = [origin.this] if origin is not None else []
    relations += [join.this for join in select.args.get("joins") or ()]
    return [relation for relation in relations if isinstance(relation, exp.Subquery)]


def _items(before: Sequence[exp.Expr], after: Sequence[exp.Expr], changed: frozenset[str]) -> Columns:
    """The names of the items of a SELECT list that differ; None where names do not identify them."""
    old, new = _by_name(before), _by_name(after)
    if old is None or new is None:
        return _NONE if list(before) == list(after) and not changed else None
    if old.keys() & {"*"} != new.keys() & {"*"} or old.get("*") != new.get("*"):
        return None
    differing = set(changed) if "*" in new else set()
    seen = set(changed)
    again = True
    while again:  # an item may name another one of the list
        again = False
        for name in old.keys() | new.keys():
            if name == "*" or name in differing:
                continue
            if _Pair(old.get(name), new.get(name)).is_changed(frozenset(seen)):
                if any(is_generator(node) for tree in (old.get(name), new.get(name)) if tree for node in tree.walk()):
                    return None  # it makes rows
                differing.add(name)
                seen.add(name)
                again = True
    return frozenset(differing)


def _by_name(items: Iterable[exp.Expr]) -> dict[str, exp.Expr] | None:
    """Items by their names, all stars as one; None where one has no name, or two have the same."""
    by_name: dict[str, exp.Expr] = {}
    stars: list[exp.Expr] = []
    for item in items:
        if is_star(item):
            stars.append(item)
            continue
        name = item.alias_or_name.casefold()
        if not name or name in by_name:
            return None
        by_name[name] = item.unalias()
    return {**by_name, "*": exp.Tuple(expressions=stars)} if stars else by_name


def _merge(old: Version, before: MergeStatement, new: Version, after: MergeStatement) -> Columns:
    """The columns of a MERGE's target that differ."""

    def pair(first: Expr | None, second: Expr | None) -> _Pair:
        return _Pair.of(old, first, new, second)

    if _shape(before) != _shape(after) or before.more_clauses or len(before.on) != len(after.on):
        return None
    changed = _source(old, before, new, after)
    if changed is None:
        return None
    conditions = [pair(first, second) for first, second in zip(before.on, after.on, strict=True)]
    for first, second in zip(before.clauses, after.clauses, strict=True):
        if first.condition is not None or second.condition is not None:
            conditions.append(pair(first.condition, second.condition))
    if any(not condition.readable or condition.is_changed(changed) for condition in conditions):
        return None
    columns: set[str] = set()
    for first, second in zip(before.clauses, after.clauses, strict=True):
        if first.partial or second.partial:
            return None
        columns |= changed if second.star else _assigned_columns(first, second, pair, changed)
    return frozenset(columns)


def _shape(merge: MergeStatement) -> object:
    """What has to be the same for single columns to be compared."""
    target, source = merge.target, merge.source
    clauses = [(clause.kind, clause.action, clause.star) for clause in merge.clauses]
    aliases = [name.casefold() if name else name for name in (target.alias, source.alias)]
    return aliases, source.kind, clauses, merge.schema_evolution, merge.recursive


def _source(old: Version, before: MergeStatement, new: Version, after: MergeStatement) -> Columns:
    """The columns of the source that differ."""
    earlier: Mapping[str, Cte] = {cte.name.casefold(): cte for cte in before.ctes}
    changed = _NONE
    for cte in after.ctes:
        first = earlier.get(cte.name.casefold())
        if first is None:
            continue
        own = _query(_Pair.of(old, first.query, new, cte.query), changed)
        if own is None or first.columns != cte.columns or (cte.columns and own):
            return None
        changed |= own
    if after.source.query is None:
        return changed if old.names(before.source.parts) == new.names(after.source.parts) else None
    return _query(_Pair.of(old, before.source.query, new, after.source.query), changed)


def _assigned_columns(
    before: Clause, after: Clause, pair: Callable[[Expr | None, Expr | None], _Pair], changed: frozenset[str]
) -> set[str]:
    """The columns that a clause sets otherwise."""
    old = {assignment.column: assignment.value for assignment in before.assignments}
    new = {assignment.column: assignment.value for assignment in after.assignments}
    columns = set()
    for column in old.keys() | new.keys():
        values = pair(old.get(column), new.get(column))
        if not values.readable or values.is_changed(changed):
            columns.add(column[0].casefold())
    return columns
