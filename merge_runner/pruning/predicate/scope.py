"""Which columns of an expression belong to the target of a MERGE, and which to its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from sqlglot import exp

from merge_runner.formats.types import DataType
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.verdict import Side

_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Variable:
    """A variable of SQL: of the session, of a BEGIN … END block (`local`), or the `row` of a FOR loop.

    `data_type` None: not known.
    """

    data_type: DataType | None = None
    kind: Literal["session", "local", "row"] = "session"


Variables = Mapping[str, Variable]
"""Variables by their names, case folded."""

_OF_VARIABLES = (("session",), ("system", "session"))
"""What the name of a variable may be qualified by."""


@dataclass(frozen=True, eq=False)
class ColumnRef:
    """A column as an expression names it: `path` is the column and, for a field of a struct, the names below it.

    Two are equal where Spark takes them for one: names have no case.
    """

    side: Side
    path: tuple[str, ...]
    variable: Literal["session", "local", "row"] | None = None
    """What is declared by the name of one of which the side is unknown."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnRef) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, ...]:
        return (self.side, *(name.casefold() for name in self.path))

    @property
    def column(self) -> str:
        """The column's name."""
        return self.path[0]

    @property
    def dotted(self) -> str:
        """The column with the fields below it."""
        return ".".join(self.path)


@dataclass(frozen=True)
class Scope:
    """The names of one MERGE. `source` are the source's columns, None where they are not all known.

    `in_source` are the names of those that are known in any case, case folded. `variables` are those of the session.
    """

    target_names: tuple[tuple[str, ...], ...]
    """What the target's columns may be qualified by, case folded: the alias, or the name and its endings."""
    source_names: tuple[tuple[str, ...], ...]
    target: TableLayout
    source: tuple[TableColumn, ...] | None
    in_source: frozenset[str] = frozenset()
    variables: Variables = field(default_factory=dict)
    _known: dict[tuple[str, ...], ColumnRef] = field(default_factory=dict, repr=False, compare=False)
    """Names that were resolved before: a MERGE says the same few again and again."""
    _sides: dict[int, tuple[exp.Expr, Side]] = field(default_factory=dict, repr=False, compare=False)
    """The sides of trees by their ids; a tree is kept with its side, so that no other gets its id."""
    _made: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = field(default_factory=dict, repr=False, compare=False)
    """What `once` has made, with what it was made of."""

    @classmethod
    def of(
        cls,
        statement: MergeStatement,
        target: TableLayout,
        source: tuple[TableColumn, ...] | None = None,
        some: tuple[TableColumn, ...] = (),
        variables: Variables | None = None,
    ) -> Scope:
        """The names that ON and WHEN MATCHED see; `some` are columns of a source that are not all known."""
        return cls(
            _names(statement.target.alias, statement.target.parts),
            _names(statement.source.alias, statement.source.parts),
            target,
            source,
            frozenset(column.name.casefold() for column in some if column.name),
            variables or {},
        )

    def once(self, make: Callable[..., _Made], *of: Any) -> _Made:
        """Return `make(*of)`, made once for the same values: rules ask for the same facts about a MERGE.

        What it is made of must not change, nor what is made.
        """
        key = (make, *map(id, of))
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = of, make(*of)  # kept as well, for their ids
        made: _Made = found[1]
        return made

    def forget(self) -> None:
        """Let go of what was kept, as much of which knows the scope: only a garbage collection would free it."""
        self._made.clear()
        self._sides.clear()

    def resolve(self, parts: tuple[str, ...]) -> ColumnRef:
        """The side and path of a column, given the parts of its name.

        An unqualified name belongs to the side that alone has it. Spark refuses one that both have: where one side is
        known to have it, it is that side's unless the other is known to have it, too.
        """
        found = self._known.get(parts)
        if found is None:
            found = self._known[parts] = self._resolve(parts)
        return found

    def is_variable(self, parts: tuple[str, ...]) -> bool:
        """Whether the name is certain to be a session variable: columns come first.

        What is qualified as one may be declared in another script of the session.
        """
        folded = tuple(part.casefold() for part in parts)
        if len(folded) > 1 and (variable := self.variables.get(folded[0])) is not None and variable.kind == "row":
            # A loop over rows whose variable has the name of a column with fields is not written.
            own = self.resolve(parts).path == parts
            return own and self.target.has_column(parts[0]) is not True and self._in_source(folded[0]) is not True
        if not is_qualified_variable(parts) and (len(folded) > 1 or folded[0] not in self.variables):
            return False
        if len(folded) > 1 and self.resolve(parts).path != parts:
            return False
        return self.target.has_column(parts[0]) is False and self._in_source(folded[0]) is False

    def _resolve(self, parts: tuple[str, ...]) -> ColumnRef:
        folded = tuple(part.casefold() for part in parts)
        sides: tuple[tuple[Side, tuple[tuple[str, ...], ...]], ...] = (
            ("target", self.target_names),
            ("source", self.source_names),
        )
        for side, names in sides:
            for name in names:
                if len(folded) > len(name) and folded[: len(name)] == name:
                    return ColumnRef(side, parts[len(name) :])
        side = self._unqualified(parts[0])
        if is_qualified_variable(parts) and self.target.has_column(parts[0]) is not True and side != "unknown":
            side = "source" if self._in_source(folded[0]) else "unknown"
        known = self.variables.get(folded[0]) if side == "unknown" else None
        return ColumnRef(side, parts, known.kind if known is not None else None)

    def reference(self, node: exp.Expr) -> ColumnRef | None:
        """What a column, or a path of names into one, refers to; None for any other expression."""
        parts = name_parts(node)
        return self.resolve(parts) if parts else None

    def columns(self, tree: exp.Expr) -> Iterator[ColumnRef]:
        """The columns of an expression, each as often as it appears there."""
        todo = [tree]  # no recursion: a sum may have thousands of terms
        while todo:
            node = todo.pop()
            # This is the innermost loop of the analysis: most nodes are neither of these.
            found = self.reference(node) if isinstance(node, (exp.Column, exp.Dot)) else None
            if found is not None:
                yield found
            elif not isinstance(node, (exp.Literal, exp.Identifier)):
                todo += reversed(list(node.iter_expressions()))

    def side(self, tree: exp.Expr) -> Side:
        """Which side all columns of an expression belong to."""
        known = self._sides.get(id(tree))
        if known is None:
            known = self._sides[id(tree)] = tree, self._side_of(tree)
        return known[1]

    def _side_of(self, tree: exp.Expr) -> Side:
        sides = {ref.side for ref in self.columns(tree)}
        if not sides:
            return "none"
        if "unknown" in sides:
            return "both" if {"target", "source"} <= sides else "unknown"
        return "both" if len(sides) > 1 else next(iter(sides))

    def _unqualified(self, name: str) -> Side:
        in_target, in_source = self.target.has_column(name), self._in_source(name.casefold())
        if in_target == in_source or (name.casefold() in self.variables and not (in_target or in_source)):
            return "unknown"
        return "target" if in_target or in_source is False else "source"

    def _in_source(self, folded: str) -> bool | None:
        if folded in self.in_source:
            return True
        if self.source is None:
            return None
        return any(column.name.casefold() == folded for column in self.source)


def is_qualified_variable(parts: tuple[str, ...]) -> bool:
    """Whether a name is a session variable's, `session.v` or `system.session.v`, where no column has its first part."""
    return tuple(part.casefold() for part in parts[:-1]) in _OF_VARIABLES


def name_parts(node: exp.Expr) -> tuple[str, ...] | None:
    """The parts of a name as `a.b.c` has them, however deep; None where the expression is no such name."""
    if type(node) is exp.Column and type(node.this) is exp.Identifier and "db" not in node.args:
        table = node.args.get("table")
        if table is None:
            return (node.this.this,)
        if type(table) is exp.Identifier:
            return table.this, node.this.this
    fields: list[str] = []
    while isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        fields.append(node.expression.name)
        node = node.this
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    return (*(part.name for part in node.parts), *reversed(fields))


def _names(alias: str | None, parts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    if alias is not None:
        return ((alias.casefold(),),)
    folded = tuple(part.casefold() for part in parts)
    return tuple(folded[start:] for start in range(len(folded)))
