"""Subqueries over the target in USING, and whether Delta leaves them unread: such a MERGE fails from its second run on.

`formats/target_subqueries.py` has the cause; `tests/formats/target_subqueries.yml` has the forms of FROM that were run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from merge_runner.formats.target_subqueries import Late
from merge_runner.merge.statement import Expr, MergeStatement
from merge_runner.pruning.runtime_filter.target_reads import TargetRead, names_target, read_of

_FUNCTIONS = frozenset(
    (
        "Abs",
        "Avg",
        "Between",
        "Coalesce",
        "Concat",
        "Count",
        "Length",
        "Lower",
        "Max",
        "Min",
        "Nullif",
        "Round",
        "Sum",
        "Upper",
    )
)
"""Nodes of sqlglot that Spark looks up as functions, whatever they are written as; its grammar knows some others."""


@dataclass(frozen=True)
class TargetSubquery:
    """A subquery expression that reads the target.

    `read` is the target's name in it, or that of a CTE that reads the target. `late` is why Delta leaves it unread;
    None: the text does not show whether it does.
    """

    read: TargetRead
    late: Late | None


class _Cte(NamedTuple):
    query: exp.Expr
    text: Expr
    """What the positions in `query` count from."""
    ctes: Mapping[str, _Cte]
    columns: bool


class _Resolution(NamedTuple):
    """When Spark has resolved a relation: `late` is why not in the first pass, `functions` that its functions are last.

    Both are the least that is certain.
    """

    late: Late | None = None
    functions: bool = False


_LATE_FUNCTION = _Resolution("a function below another SELECT")


def target_subqueries(
    statement: MergeStatement, is_files: Callable[[tuple[str, ...]], bool]
) -> tuple[TargetSubquery, ...]:
    """Return the subquery expressions of the source that read the target, in the order of the text.

    `is_files` says of the parts of a name whether it is known to be a table of files. Left out is what sqlglot cannot
    read, and what the query of a view reads.
    """
    source, ctes = statement.source, dict[str, _Cte]()
    texts = [cte.query.text for cte in statement.ctes] + ([source.query.text] if source.query is not None else [])
    name = statement.target.parts[-1].casefold() if statement.target.parts else None
    if name is None or not any(name in text.casefold() for text in texts):
        return ()  # most sources do not read their target: a walk over their trees would make lint slower
    walk = _Walk(statement.target.parts, is_files)
    for cte in statement.ctes:
        if cte.query.expression is not None:
            ctes = {**ctes, cte.name.casefold(): _Cte(cte.query.expression, cte.query, ctes, bool(cte.columns))}
    if source.query is not None and source.query.expression is not None:
        walk.query(source.query.expression, source.query, ctes)
    elif len(source.parts) == 1 and (source_cte := ctes.get(source.parts[0].casefold())) is not None:
        walk.query(source_cte.query, source_cte.text, source_cte.ctes)
    subqueries = {subquery.read.span: subquery for subquery in reversed(walk.subqueries)}
    return tuple(subqueries[span] for span in sorted(subqueries, key=lambda span: span.start))


class _Walk:
    """Walks over the plan of a source as Spark builds it, in which each CTE replaces its name."""

    def __init__(self, target: tuple[str, ...], is_files: Callable[[tuple[str, ...]], bool]) -> None:
        self._target = target
        self._is_files = is_files
        self._resolutions: dict[int, _Resolution] = {}
        self.subqueries: list[TargetSubquery] = []

    def query(self, query: exp.Expr, text: Expr, ctes: Mapping[str, _Cte]) -> _Resolution:
        """Walk over a query, and return when it is resolved."""
        if id(query) in self._resolutions:
            return self._resolutions[id(query)]
        ctes = _with_own(query, text, ctes)
        resolution = _Resolution()
        if isinstance(query, exp.Subquery):
            resolution = self.query(query.this, text, ctes)
        elif isinstance(query, exp.SetOperation):
            sides = [self.query(side, text, ctes) for side in (query.this, query.expression)]
            late = next((side.late for side in sides if side.late is not None), None)
            resolution = _Resolution(late, any(side.functions for side in sides))
        elif isinstance(query, exp.Select):
            resolution = self._select(query, text, ctes)
        self._resolutions[id(query)] = resolution
        return resolution

    def _select(self, select: exp.Select, text: Expr, ctes: Mapping[str, _Cte]) -> _Resolution:
        origin = self._from(select, text, ctes)
        for name, part in select.args.items():
            if name not in ("from_", "joins", "laterals", "with_"):
                self._subqueries(part, text, ctes, origin)
        return _of_select(select, origin)

    def _from(self, select: exp.Select, text: Expr, ctes: Mapping[str, _Cte]) -> _Resolution:
        """Walk over FROM and its joins, and return when all of it is resolved."""
        origin = select.args.get("from_")
        if origin is None:
            return _Resolution()
        resolution = self._relation(origin.this, text, ctes, _Resolution())
        for join in select.args.get("joins") or ():
            right = self._relation(join.this, text, ctes, resolution)
            below = _Resolution(resolution.late or right.late, resolution.functions or right.functions)
            self._subqueries(join.args.get("on"), text, ctes, below)
            resolution = _resolve_join(join, below)
        if select.args.get("laterals"):
            resolution = _Resolution(resolution.late or "LATERAL VIEW")
        return resolution

    def _relation(self, node: exp.Expr, text: Expr, ctes: Mapping[str, _Cte], left: _Resolution) -> _Resolution:
        """Walk over a relation of FROM, and return when it is resolved; `left` is what a LATERAL query can see."""
        resolution = _Resolution()
        if isinstance(node, exp.Table):
            cte = ctes.get(node.name.casefold()) if not node.db else None
            if cte is not None:
                resolution = self.query(cte.query, cte.text, cte.ctes)
                resolution = resolution._replace(
                    late=resolution.late or ("a list of column aliases" if cte.columns else None)
                )
            elif self._is_files(tuple(part.name for part in node.parts)):
                resolution = _Resolution("a table of files")
        elif isinstance(node, exp.Subquery):
            resolution = self.query(node.this, text, _with_own(node, text, ctes))
        elif isinstance(node, exp.Lateral):
            self._subqueries(node.this, text, ctes, left)
        alias = node.args.get("alias")
        if isinstance(alias, exp.TableAlias) and alias.columns and isinstance(node, exp.Table | exp.Subquery):
            resolution = resolution._replace(late=resolution.late or "a list of column aliases")
        return resolution

    def _subqueries(self, part: object, text: Expr, ctes: Mapping[str, _Cte], below: _Resolution) -> None:
        """Keep the subqueries of an expression that read the target; `below` is the relation that it is about."""
        for query in _queries(part):
            for target_read in self._reads(query, text, ctes):
                self.subqueries.append(TargetSubquery(target_read, below.late))

    def _reads(self, query: exp.Expr, text: Expr, ctes: Mapping[str, _Cte]) -> Iterator[TargetRead]:
        for table in query.find_all(exp.Table):
            cte = ctes.get(table.name.casefold()) if not table.db else None
            if cte is not None:
                if any(True for _ in self._reads(cte.query, cte.text, cte.ctes)):
                    yield read_of(table, text)
            elif names_target(table, self._target):
                yield read_of(table, text)


def _with_own(query: exp.Expr, text: Expr, ctes: Mapping[str, _Cte]) -> Mapping[str, _Cte]:
    """Return the CTEs that a query sees: its own, each with those before it, and those around it."""
    own = query.args.get("with_")
    for cte in own.expressions if own is not None and not own.args.get("recursive") else ():
        columns = bool(cte.args["alias"].columns)
        ctes = {**ctes, cte.alias.casefold(): _Cte(cte.this, text, ctes, columns)}
    return ctes


def _queries(part: object) -> Iterator[exp.Expr]:
    """Yield the outermost queries in an expression or a list of them."""
    if isinstance(part, list):
        for item in part:
            yield from _queries(item)
    elif isinstance(part, exp.Query):
        yield part
    elif isinstance(part, exp.Expr):
        for child in part.iter_expressions():
            yield from _queries(child)


def _resolve_join(join: exp.Join, below: _Resolution) -> _Resolution:
    """Return when a join is resolved whose sides are resolved as `below`."""
    on = join.args.get("on")
    if below.late is not None:
        return below
    if join.args.get("using"):
        return _Resolution("JOIN … USING")
    if join.method.upper() == "NATURAL":
        return _Resolution("NATURAL JOIN")
    if on is None or not _names_columns(on):
        return below
    return _LATE_FUNCTION if below.functions else _Resolution(functions=_calls(on))


def _of_select(select: exp.Select, origin: _Resolution) -> _Resolution:
    """Return when a SELECT is resolved whose FROM is resolved as `origin`."""
    if origin.late is not None:
        return origin
    items = [item.this if isinstance(item, exp.Alias) else item for item in select.expressions]
    where, group = select.args.get("where"), select.args.get("group")
    functions = origin.functions or (where is not None and _waits(where))
    if functions and any(map(_names_columns, items)):
        return _LATE_FUNCTION
    if any(_holds(item, exp.Window) for item in items):
        return _Resolution("a window function")
    stars = [item for item in items if item.is_star and not isinstance(item, exp.AggFunc)]
    if stars and any(not item.is_star and _names_columns(item) for item in items):
        return _Resolution("a star next to other columns")
    if select.args.get("having") is not None:
        return _Resolution("HAVING")
    if group is not None and group.args.get("all"):
        return _Resolution("GROUP BY ALL")
    if group is None and any(_holds(item, exp.AggFunc) for item in items):
        return _Resolution("an aggregate without GROUP BY")
    return _Resolution(functions=functions or any(map(_waits, items)))


def _names_columns(part: exp.Expr) -> bool:
    return part.find(exp.Column, exp.Star) is not None


def _waits(part: exp.Expr) -> bool:
    """Whether an expression is resolved after the columns are: it has a function or a subquery."""
    return _calls(part) or next(_queries(part), None) is not None


def _calls(part: exp.Expr) -> bool:
    if type(part).__name__ in _FUNCTIONS:
        return True

    return any(_calls(child) for child in part.iter_expressions() if not isinstance(child, exp.Query))


def _holds(part: exp.Expr, kind: type[exp.Expr]) -> bool:
    """Whether an expression has a node of a kind outside of its subqueries, which have their own SELECT."""
    if isinstance(part, kind):
        return True
    return any(_holds(child, kind) for child in part.iter_expressions() if not isinstance(child, exp.Query))
