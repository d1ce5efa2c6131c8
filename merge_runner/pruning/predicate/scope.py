"""Which columns of an expression belong to the target of a MERGE, and which to its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

from sqlglot import exp

from merge_runner.formats.types import DataType
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.verdict import Side
from merge_runner.sql import scope as sql
from merge_runner.sql.names import fold, name_parts, qualifiers

_Result = TypeVar("_Result")


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


_SIDES: dict[int, Side] = {1: "target", 2: "source"}
"""The sides by the numbers of their relations."""


@dataclass(frozen=True)
class Scope:
    """The names of one MERGE: `target` and `source` say which columns are known, `variables` are the session's."""

    target_names: tuple[tuple[str, ...], ...]
    """What the target's columns may be qualified by, case folded: the alias, or the name and its endings."""
    source_names: tuple[tuple[str, ...], ...]
    target: TableLayout
    source: TableLayout
    variables: Variables = field(default_factory=dict)
    _references: dict[tuple[str, ...], ColumnRef] = field(default_factory=dict, repr=False, compare=False)
    """Names that were resolved before: a MERGE says the same few again and again."""
    _sides: dict[int, tuple[exp.Expr, Side]] = field(default_factory=dict, repr=False, compare=False)
    """The sides of trees by their ids; a tree is kept with its side, so that no other gets its id."""
    _results: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """The results of `once`, each with what it was made of."""

    @classmethod
    def of(
        cls,
        statement: MergeStatement,
        target: TableLayout,
        source: tuple[TableColumn, ...] | None = None,
        some: tuple[TableColumn, ...] = (),
        variables: Variables | None = None,
    ) -> Scope:
        """The names that ON and WHEN MATCHED see.

        `source` are the source's columns, None where they are not all known; `some` are those that are then.
        """
        return cls(
            qualifiers(statement.target.alias, statement.target.parts),
            qualifiers(statement.source.alias, statement.source.parts),
            target,
            TableLayout(columns=some if source is None else source, complete=source is not None),
            variables or {},
        )

    def once(self, make: Callable[..., _Result], *of: Any) -> _Result:
        """Return `make(*of)`, made once for the same values: rules ask for the same facts about a MERGE.

        What it is made of must not change, nor what is made.
        """
        key = (make, *map(id, of))
        entry = self._results.get(key)
        if entry is None:
            entry = self._results[key] = of, make(*of)  # the values are kept as well, for their ids
        result: _Result = entry[1]
        return result

    def forget(self) -> None:
        """Let go of what was kept, as much of which knows the scope: only a garbage collection would free it."""
        self._results.clear()
        self._sides.clear()

    def resolve(self, parts: tuple[str, ...]) -> ColumnRef:
        """The side and path of a column, given the parts of its name.

        An unqualified name belongs to the side that alone has it. Spark refuses one that both have: where one side is
        known to have it, it is that side's unless the other is known to have it, too.
        """
        reference = self._references.get(parts)
        if reference is None:
            reference = self._references[parts] = self._resolve(parts)
        return reference

    def is_variable(self, parts: tuple[str, ...]) -> bool:
        """Whether the name is certain to be a session variable: columns come first.

        What is qualified as one may be declared in another script of the session.
        """
        folded = fold(parts)
        if len(folded) > 1 and (variable := self.variables.get(folded[0])) is not None and variable.kind == "row":
            # A loop over rows whose variable has the name of a column with fields is not written.
            own = self.resolve(parts).path == parts
            return own and not self._names.has_column(parts[0])
        if not is_qualified_variable(parts) and (len(folded) > 1 or folded[0] not in self.variables):
            return False
        if len(folded) > 1 and self.resolve(parts).path != parts:
            return False
        return not self._names.may_have(parts[0])

    def _resolve(self, parts: tuple[str, ...]) -> ColumnRef:
        folded = fold(parts)
        match self._names.resolve(parts):
            case sql.ColumnOf(relation, path) if path != parts or relation.has_column(path[0]):
                return ColumnRef(_SIDES[relation.number], path)
            # A column that may be there is none where a variable is declared by its name.
            case sql.ColumnOf(relation, path) if not is_qualified_variable(parts) and folded[0] not in self.variables:
                return ColumnRef(_SIDES[relation.number], path)
            case sql.NoColumn(relation, path) if relation is not None:
                return ColumnRef(_SIDES[relation.number], path)
        variable = self.variables.get(folded[0])
        return ColumnRef("unknown", parts, variable.kind if variable is not None else None)

    @cached_property
    def _names(self) -> sql.Scope[TableLayout, None]:
        sides = ((self.target_names, self.target), (self.source_names, self.source))
        return sql.Scope([sql.Relation(names, layout, number) for number, (names, layout) in enumerate(sides, start=1)])

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
            reference = self.reference(node) if isinstance(node, (exp.Column, exp.Dot)) else None
            if reference is not None:
                yield reference
            elif not isinstance(node, (exp.Literal, exp.Identifier)):
                todo += reversed(list(node.iter_expressions()))

    def side(self, tree: exp.Expr) -> Side:
        """Which side all columns of an expression belong to."""
        entry = self._sides.get(id(tree))
        if entry is None:
            entry = self._sides[id(tree)] = tree, self._side_of(tree)
        return entry[1]

    def _side_of(self, tree: exp.Expr) -> Side:
        sides = {ref.side for ref in self.columns(tree)}
        if not sides:
            return "none"
        if "unknown" in sides:
            return "both" if {"target", "source"} <= sides else "unknown"
        return "both" if len(sides) > 1 else next(iter(sides))


def is_qualified_variable(parts: tuple[str, ...]) -> bool:
    """Whether a name is a session variable's, `session.v` or `system.session.v`, where no column has its first part."""
    return fold(parts[:-1]) in _OF_VARIABLES
