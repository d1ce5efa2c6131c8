"""Which columns of a query confine a change of a table that it reads.

Rows of the table have changed, all of which have one of the values V (never NULL) in its column q. A column c of the
query confines that change to V where the rows of the query without a value of V in c are the same before and after. It
is enough then to compute the rows with one of V in c. The proof goes from the table up: a column is passed on as it is,
through filters, joins, groups, windows and unions. What is not known to keep it true ends it: no column is always safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.merge.statement import Expr, MergeStatement

if TYPE_CHECKING:
    from sqlglot import exp

Resolve = Callable[[tuple[str, ...]], "Literal['changed', 'fixed'] | Expr | None"]
"""Says what the unquoted parts of a name mean: the changed table, another one, the query of a view; None: not known."""

_PIECES = ("where", "group", "having", "qualify", "order")
_SELECT = frozenset(("expressions", "from_", "joins", "distinct", "with_", *_PIECES))
_SET_OPERATION = frozenset(("this", "expression", "distinct", "order", "with_"))
_TABLE = frozenset(("this", "db", "catalog", "alias"))
_SUBQUERY = frozenset(("this", "alias"))
_JOIN = frozenset(("this", "on", "side", "kind"))
_MOST_VIEWS = 20


@dataclass(frozen=True)
class Confined:
    """A column that confines a change, and the `column` of the changed table whose values those are, case folded.

    `compared`: how often it has been compared, or united, with a column that may be of another type. Where its type is
    that of the column of the table, one comparison has not converted it; a second one could have converted it back.
    """

    column: str
    compared: int = 0


@dataclass(frozen=True)
class Rows:
    """The rows of a relation. `fixed`: they do not depend on the changed table.

    `names` are those of its columns, case folded, in their order; None: not known. `of` returns what a column confines.
    """

    fixed: bool
    names: tuple[str, ...] | None
    of: Callable[[str], Confined | None]


Of = Callable[[str], Confined | None]
"""Says what a column confines, by its case folded name."""


def columns_of_query(query: Expr, resolve: Resolve, days: Container[str] = ()) -> Of:
    """Return what says of the columns of a query what they confine; `days` as below."""
    try:
        return _Analysis(resolve, days).text(query, {}).of
    except _UnknownError:
        return _nothing


def confined_columns(statement: MergeStatement, resolve: Resolve, days: Container[str] = ()) -> Of:
    """Return what says of the columns of the source of a MERGE what they confine.

    `days` are the columns of the changed table of the type `date`, case folded: a date is what it was after one
    conversion to a type that it can be compared with, and back. After two it need not be: a text with a time zone
    may be of one day as a date, and of another one as a timestamp.
    """
    analysis = _Analysis(resolve, days)
    try:
        ctes: dict[str, Rows] = {}
        if statement.recursive:
            return _nothing
        for cte in statement.ctes:
            if cte.columns:
                return _nothing
            ctes[cte.name.casefold()] = analysis.text(cte.query, ctes)
        source = statement.source
        if source.query is not None:
            return analysis.text(source.query, ctes).of
        if len(source.parts) == 1 and source.parts[0].casefold() in ctes:
            return ctes[source.parts[0].casefold()].of
        return analysis.named(source.parts).of
    except _UnknownError:
        return _nothing


def _nothing(_: str) -> None:
    """Say that a column confines nothing."""


class _UnknownError(Exception):
    """Something of which it is not known what it does with rows."""


_Column = tuple[str, str]
"""A column by the case folded name of its relation in FROM, and its own."""


@dataclass(frozen=True)
class _Joined:
    """The rows of FROM after some of its joins; `relations` are the names in their order."""

    fixed: bool
    relations: tuple[str, ...]
    of: Callable[[_Column], Confined | None]


class _Analysis:
    def __init__(self, resolve: Resolve, days: Container[str]) -> None:
        self.resolve = resolve
        self.days = days
        self.views = 0

    def text(self, query: Expr, ctes: Mapping[str, Rows]) -> Rows:
        """Return the rows of a query of which all tables have been looked at. Raises _UnknownError."""
        from sqlglot import exp

        if query.expression is None:
            raise _UnknownError
        seen: set[int] = set()
        rows = self.query(query.expression, ctes, seen)
        if any(id(table) not in seen for table in query.expression.find_all(exp.Table)):
            raise _UnknownError
        return rows

    def named(self, parts: tuple[str, ...]) -> Rows:
        """Return the rows of a table or view. Raises _UnknownError."""
        meant = self.resolve(parts)
        if meant == "changed":
            return Rows(False, None, Confined)
        if meant == "fixed":
            return Rows(True, None, _nothing)
        self.views += 1
        if meant is None or self.views > _MOST_VIEWS:
            raise _UnknownError
        return self.text(meant, {})

    def query(self, tree: exp.Expr | None, ctes: Mapping[str, Rows], seen: set[int]) -> Rows:
        from sqlglot import exp

        if isinstance(tree, exp.Subquery):
            _only(tree, _SUBQUERY)
            return self.query(tree.this, ctes, seen)
        if isinstance(tree, exp.Select):
            _only(tree, _SELECT)
            return self.select(tree, self.with_ctes(tree, ctes, seen), seen)
        if isinstance(tree, exp.SetOperation):
            _only(tree, _SET_OPERATION)
            ctes = self.with_ctes(tree, ctes, seen)
            return _united(self.query(tree.this, ctes, seen), self.query(tree.expression, ctes, seen), self.days)
        raise _UnknownError

    def with_ctes(self, tree: exp.Expr, ctes: Mapping[str, Rows], seen: set[int]) -> Mapping[str, Rows]:
        given = tree.args.get("with_")
        if given is None:
            return ctes
        if given.args.get("recursive"):
            raise _UnknownError
        found = dict(ctes)
        for cte in given.expressions:
            alias = cte.args.get("alias")
            if alias is None or alias.args.get("columns"):
                raise _UnknownError
            found[cte.alias.casefold()] = self.query(cte.this, found, seen)
        return found

    def relation(self, tree: exp.Expr | None, ctes: Mapping[str, Rows], seen: set[int]) -> tuple[str, Rows]:
        """Return the case folded name of what follows FROM or JOIN, with its rows."""
        from sqlglot import exp

        if isinstance(tree, exp.Table):
            _only(tree, _TABLE)
            parts = tuple(part.name for part in tree.parts if isinstance(part, exp.Identifier))
            if len(parts) != len(tree.parts) or not parts:
                raise _UnknownError
            seen.add(id(tree))
            known = ctes.get(parts[0].casefold()) if len(parts) == 1 else None
            name, rows = parts[-1].casefold(), known or self.named(parts)
        elif isinstance(tree, exp.Subquery):
            name, rows = "", self.query(tree, ctes, seen)
        else:
            raise _UnknownError
        alias = tree.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise _UnknownError
        return (tree.alias.casefold() or name), rows

    def select(self, select: exp.Select, ctes: Mapping[str, Rows], seen: set[int]) -> Rows:
        from sqlglot import exp

        joined = self.joined(select, ctes, seen)
        pieces = [*select.expressions, *(select.args.get(key) for key in _PIECES)]
        self.inner_queries(pieces, ctes, seen)
        distinct = select.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise _UnknownError
        starred = [each for each in select.expressions if _is_star(each)]
        plain = [each for each in select.expressions if not _is_star(each)]
        is_known = not starred and not any(_has_other_columns(each) for each in plain)
        names = tuple(each.alias_or_name.casefold() for each in plain) if is_known else None
        if joined.fixed:
            return Rows(True, names, _nothing)
        kept = _kept_columns(select, joined)

        def of(name: str) -> Confined | None:
            named = [each for each in plain if each.alias_or_name.casefold() == name]
            columns = [_plain_column(each.unalias(), joined) for each in named]
            for star in starred:
                tables = [star.table.casefold()] if isinstance(star, exp.Column) else joined.relations
                columns += [(table, name) for table in tables if joined.of((table, name)) is not None]
            if len(columns) != 1 or columns[0] is None or not (kept is None or columns[0] in kept):
                return None
            return joined.of(columns[0])

        return Rows(False, names, of)

    def inner_queries(self, pieces: Sequence[exp.Expr | None], ctes: Mapping[str, Rows], seen: set[int]) -> None:
        """Look at the queries inside of expressions. Raises _UnknownError where one of them reads the changed table."""
        from sqlglot import exp

        for piece in pieces:
            for node in piece.walk(prune=lambda each: isinstance(each, exp.Query)) if piece is not None else ():
                if isinstance(node, exp.Query) and not self.query(node, ctes, seen).fixed:
                    raise _UnknownError

    def joined(self, select: exp.Select, ctes: Mapping[str, Rows], seen: set[int]) -> _Joined:
        origin = select.args.get("from_")
        if origin is None:
            return _Joined(True, (), _nothing_joined)
        name, rows = self.relation(origin.this, ctes, seen)
        found = _first(name, rows)
        for join in select.args.get("joins") or ():
            _only(join, _JOIN)
            self.inner_queries([join.args.get("on")], ctes, seen)
            name, rows = self.relation(join.this, ctes, seen)
            if name in found.relations or not name or "" in found.relations:
                raise _UnknownError
            found = _join(found, name, rows, join, self.days)
        return found


def _first(name: str, rows: Rows) -> _Joined:
    """Return the rows of FROM with one relation."""
    return _Joined(rows.fixed, (name,), lambda column: rows.of(column[1]) if column[0] == name else None)


def _nothing_joined(_: _Column) -> None:
    """Say that a column confines nothing."""


def _only(tree: exp.Expr, known: frozenset[str]) -> None:
    """Raise _UnknownError where a node has more parts than these."""
    if any(value for key, value in tree.args.items() if key not in known):
        raise _UnknownError


def _is_star(tree: exp.Expr) -> bool:
    from sqlglot import exp

    star = tree.this if isinstance(tree, exp.Column) else tree
    if not isinstance(star, exp.Star):
        return False
    if any(star.args.values()) or (isinstance(tree, exp.Column) and tree.args.get("db")):
        raise _UnknownError
    return True


def _has_other_columns(tree: exp.Expr) -> bool:
    """Whether an item of a SELECT may give several columns: a generator, or a name in backquotes that is a pattern.

    Names are patterns with the conf `spark.sql.parser.quotedRegexColumnNames`.
    """
    from sqlglot import exp

    from merge_runner.pruning.query.output import is_generator

    if isinstance(tree, exp.Aliases) or is_generator(tree):
        return True
    return isinstance(tree, exp.Column) and re.fullmatch(r"\w+", tree.name) is None


def _plain_column(tree: Any, joined: _Joined) -> _Column | None:
    """Return the column of FROM that an expression is by itself; None: it is none, or it is not certain which."""
    from sqlglot import exp

    if not isinstance(tree, exp.Column) or not isinstance(tree.this, exp.Identifier) or tree.args.get("db"):
        return None
    if tree.table:
        table = tree.table.casefold()
        return (table, tree.name.casefold()) if table in joined.relations else None
    return (joined.relations[0], tree.name.casefold()) if len(joined.relations) == 1 else None


def _kept_columns(select: exp.Select, joined: _Joined) -> frozenset[_Column] | None:
    """Return the columns in which all rows agree that are put together to one; None: each row is by itself.

    Those are the rows of a group, and of a window.
    """
    from sqlglot import exp

    together: list[frozenset[_Column]] = []
    group = select.args.get("group")
    if group is not None:
        _only(group, frozenset(("expressions",)))
        together.append(_columns_of(group.expressions, joined))
    pieces = [*select.expressions, *(select.args.get(key) for key in ("qualify", "having", "order"))]
    nodes = [node for piece in pieces if piece is not None for node in _own_nodes(piece)]
    for window in (node for node in nodes if isinstance(node, exp.Window)):
        if window.args.get("alias") or window.args.get("first"):
            raise _UnknownError  # a named window
        together.append(_columns_of(window.args.get("partition_by") or (), joined))
    windowed = {id(node.this) for node in nodes if isinstance(node, (exp.Window, exp.IgnoreNulls, exp.RespectNulls))}
    if group is None and any(isinstance(node, exp.AggFunc) and id(node) not in windowed for node in nodes):
        together.append(frozenset())
    return frozenset.intersection(*together) if together else None


def _own_nodes(piece: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes of an expression without those of queries inside of it."""
    from sqlglot import exp

    return (node for node in piece.walk(prune=lambda each: isinstance(each, exp.Query)))


def _columns_of(trees: Sequence[exp.Expr], joined: _Joined) -> frozenset[_Column]:
    found = (_plain_column(tree.unnest(), joined) for tree in trees)
    return frozenset(column for column in found if column is not None)


def _united(one: Rows, other: Rows, days: Container[str]) -> Rows:
    """Return the rows of two queries together, column by column; also those of EXCEPT and INTERSECT."""

    def of(name: str) -> Confined | None:
        if one.names is None or one.names.count(name) != 1:
            return None
        place, found = one.names.index(name), []
        for rows in (one, other):
            if rows.fixed:
                continue
            if rows.names is None or place >= len(rows.names):
                return None
            found.append(rows.of(rows.names[place]))
        known = [each for each in found if each is not None and _is_comparable(each, days)]
        if len(known) != len(found) or len({each.column for each in known}) != 1:
            return None
        return Confined(known[0].column, 1 + max(each.compared for each in known))

    fixed = one.fixed and other.fixed
    return Rows(fixed, one.names, _nothing if fixed else of)


def _join(before: _Joined, name: str, rows: Rows, join: exp.Expr, days: Container[str]) -> _Joined:
    """Return the rows of FROM with one more relation."""
    fixed, relations = before.fixed and rows.fixed, (*before.relations, name)
    side, kind = str(join.args.get("side") or "").upper(), str(join.args.get("kind") or "").upper()
    if fixed:
        return _Joined(True, relations, _nothing_joined)
    if side not in ("", "LEFT", "RIGHT") or kind not in ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"):
        raise _UnknownError
    equal = _equal_columns(join.args.get("on"), _Joined(False, relations, _nothing_joined))

    def of(column: _Column) -> Confined | None:
        is_new = column[0] == name
        if (is_new and (side == "LEFT" or kind in ("SEMI", "ANTI"))) or (not is_new and side == "RIGHT"):
            return None  # NULL where nothing matches, or no column of the rows
        own_fixed, other_fixed = (rows.fixed, before.fixed) if is_new else (before.fixed, rows.fixed)
        own = (rows.of(column[1]) if is_new else before.of(column)) if not own_fixed else None
        if other_fixed:
            return own
        for partner in _partners(equal, column, is_new=is_new, name=name):
            other = before.of(partner) if is_new else rows.of(partner[1])
            if other is None or not _is_comparable(other, days):
                continue
            if own_fixed:
                return Confined(other.column, other.compared + 1)
            if own is not None and own.column == other.column and not own.compared:
                return own  # its values are those of the table: what it is compared with has been converted to them
        return None

    return _Joined(False, relations, of)


def _is_comparable(found: Confined, days: Container[str]) -> bool:
    """Return whether a column of the type of the table still confines the change after one more comparison."""
    return found.compared < (2 if found.column in days else 1)


def _partners(
    equal: Sequence[tuple[_Column, _Column]], column: _Column, *, is_new: bool, name: str
) -> Iterator[_Column]:
    """Yield the columns of the other side of a join that ON says to be equal to one."""
    for one, other in equal:
        for own, partner in ((one, other), (other, one)):
            if own == column and (partner[0] == name) is not is_new:
                yield partner


def _equal_columns(on: exp.Expr | None, joined: _Joined) -> list[tuple[_Column, _Column]]:
    """Return the columns that a condition says to be equal."""
    from sqlglot import exp

    tree = on.unnest() if on is not None else None
    if isinstance(tree, exp.And):
        return [*_equal_columns(tree.this, joined), *_equal_columns(tree.expression, joined)]
    if isinstance(tree, (exp.EQ, exp.NullSafeEQ)):
        one, other = (_plain_column(side.unnest(), joined) for side in (tree.this, tree.expression))
        if one is not None and other is not None:
            return [(one, other)]
    return []
