"""The relations that a SELECT names in FROM, in JOIN and in LATERAL VIEW, as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp


@dataclass(frozen=True)
class Join:
    """How a relation is joined to those before it. `using` are the columns of USING, `on` the condition of ON."""

    side: Literal["", "LEFT", "RIGHT", "FULL"]
    kind: Literal["", "SEMI", "ANTI"]
    natural: bool
    using: tuple[str, ...]
    on: exp.Expr | None
    node: exp.Expr


@dataclass(frozen=True)
class FromItem:
    """One relation of FROM.

    `parts` are the unquoted parts of a table's name; `columns` the names that the alias gives to its columns, in their
    order. `kind` is "changes" for the rows of a table's history, `t CHANGES FROM …`; "parentheses" for relations in
    parentheses, `(a JOIN b ON …)`; "function" for a table function or LATERAL VIEW, of which `node` is the call;
    "pivot" after PIVOT and UNPIVOT; "unknown" for what cannot be read.
    """

    node: exp.Expr
    kind: Literal["table", "changes", "query", "values", "function", "parentheses", "pivot", "unknown"]
    parts: tuple[str, ...] = ()
    alias: str = ""
    columns: tuple[str, ...] = ()
    join: Join | None = None
    is_lateral: bool = False
    """It sees the relations before it."""
    is_versioned: bool = False
    """It is read as of an older version, or as its changes: it may have had other columns."""

    @property
    def has_inner_names(self) -> bool:
        """Whether the names inside its parentheses are names outside, too."""
        return self.kind == "parentheses" and not self.alias


def from_items(select: exp.Expr) -> Iterator[FromItem]:
    """Yield the relations of a SELECT, or of a relation in parentheses, in the order in which Spark joins them."""
    origin = select.this if isinstance(select, exp.Subquery) else getattr(select.args.get("from_"), "this", None)
    if origin is None:
        return
    first = _item(origin)
    if first.has_inner_names:
        yield from from_items(origin)
    else:
        yield first
    for join in (*(origin.args.get("joins") or ()), *(select.args.get("joins") or ())):
        yield _item(join.this, _join(join))
    for view in (*(origin.args.get("laterals") or ()), *(select.args.get("laterals") or ())):
        yield _item(view)


def _join(node: exp.Expr) -> Join:
    words = {(node.args.get(key) or "").upper() for key in ("side", "kind", "method")}
    side = next((side for side in ("LEFT", "RIGHT", "FULL") if side in words), "")
    kind = next((kind for kind in ("SEMI", "ANTI") if kind in words), "")
    using = tuple(column.name for column in node.args.get("using") or ())
    return Join(side, kind, "NATURAL" in words, using, node.args.get("on"), node)  # type: ignore[arg-type]


def _item(node: exp.Expr, join: Join | None = None) -> FromItem:
    alias = node.args.get("alias")
    name, columns = "", ()
    if isinstance(alias, exp.TableAlias):
        name, columns = alias.name, tuple(column.name for column in alias.columns)
    if node.args.get("pivots"):
        parts = tuple(part.name for part in node.parts) if isinstance(node, exp.Table) else ()
        return FromItem(node, "pivot", parts, name, columns, join)
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        parts = tuple(part.name for part in node.parts)
        if node.args.get("changes") is not None:
            return FromItem(node, "changes", parts, name, columns, join, is_versioned=True)
        versioned = node.args.get("version") is not None
        return FromItem(node, "table", parts, name, columns, join, is_versioned=versioned)
    if isinstance(node, exp.Table | exp.Lateral):
        kind: Literal["query", "function"] = "query" if isinstance(node.this, exp.Query) else "function"
        return FromItem(node.this, kind, (), name, columns, join, is_lateral=isinstance(node, exp.Lateral))
    if isinstance(node, exp.Values):
        return FromItem(node, "values", (), name, columns, join)
    if isinstance(node, exp.Subquery) and _is_relation(node.this):
        return FromItem(node, "parentheses", (), name, columns, join)
    return FromItem(node, "query" if isinstance(node, exp.Query) else "unknown", (), name, columns, join)


def _is_relation(node: exp.Expr) -> bool:
    """Whether what parentheses hold is a table or joins, and no query."""
    joined = isinstance(node, exp.Subquery) and any(node.args.get(key) for key in ("joins", "laterals"))
    return joined or isinstance(node, exp.Table)
