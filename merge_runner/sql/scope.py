"""The names that an expression sees, and what a name means: the rules by which Spark resolves columns.

A reader of queries adds the relations of FROM one by one, each with what the reader knows of its rows, and asks which
column a name means. Where the columns of a relation are not all known, the answer says what the name may mean: no
reader takes one of several possible columns for the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from merge_runner.sql.from_clause import FromItem, Join
from merge_runner.sql.names import fold, qualifiers


class Columns(Protocol):
    """What the rows of a relation have."""

    def has_column(self, name: str) -> bool | None:
        """Whether there is such a column; None where that is not known."""

    def has_field(self, column: str, name: str) -> bool | None:
        """Whether a column has a field; None where its type is not known."""

    def column_names(self) -> Sequence[str]:
        """The names that are known, in their order; "" for a column that has none to write."""

    @property
    def names_known(self) -> bool:
        """Whether the names of all columns are known."""


Rows = TypeVar("Rows", bound=Columns)
Item = TypeVar("Item")


@dataclass(frozen=True)
class Relation(Generic[Rows]):
    """One table, view or subquery of FROM, or a side of a MERGE; `rows` is what its reader knows of it.

    `names` are what may qualify its columns, case folded. `number` counts from 1.
    """

    names: tuple[tuple[str, ...], ...]
    rows: Rows
    number: int = 0
    is_visible: bool = True
    """Its columns are columns of the joined rows: not so after a semi or anti join."""
    is_nullable: bool = False
    """An outer join may fill its columns with NULL."""
    is_versioned: bool = False
    """It is read as of an older version, which may have had other columns."""
    has_inner_names: bool = False
    """It is a join in parentheses without an alias, so that names inside it qualify columns, too: not followed."""
    takes_any_qualifier: bool = False
    """A name with an unknown qualifier may be one of its columns: so for a source query of a MERGE without an alias."""

    @property
    def display_name(self) -> str:
        """Its name for people."""
        return ".".join(self.names[0]) if self.names else "a subquery"

    def has_column(self, name: str) -> bool | None:
        """Whether it has such a column; None where that is not known."""
        has = self.rows.has_column(name)
        return None if self.is_versioned and not has else has

    def path(self, parts: tuple[str, ...], folded: tuple[str, ...]) -> tuple[str, ...] | None:
        """The column and the fields below it in a name that this relation qualifies; None where it does not."""
        for name in self.names:
            if len(folded) > len(name) and folded[: len(name)] == name:
                return parts[len(name) :]
        return None


@dataclass(frozen=True)
class ColumnOf(Generic[Rows]):
    """A column of a relation: `path` is its name, and those of the fields below it.

    It is what the name means where no other relation may have it; `relation` may turn out not to have it, either.
    """

    relation: Relation[Rows]
    path: tuple[str, ...]


@dataclass(frozen=True)
class MergedColumn(Generic[Rows, Item]):
    """A column of JOIN … USING. `sides` are what it is taken from; of a FULL JOIN two, the first that is not NULL."""

    sides: tuple[Resolution[Rows, Item], ...]
    path: tuple[str, ...]


@dataclass(frozen=True)
class ItemOf(Generic[Item]):
    """An item of the SELECT list; `fields` are the names below it."""

    item: Item
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a lambda."""


@dataclass(frozen=True)
class Ambiguous(Generic[Rows]):
    """Several relations have the column: Spark refuses the name."""

    columns: tuple[ColumnOf[Rows], ...]


@dataclass(frozen=True)
class Possible(Generic[Rows, Item]):
    """The name may mean any of `columns`, as the columns of their relations are not all known.

    `item`: it may also mean this one of the SELECT list. `outer`: it may be a column of the query around.
    """

    columns: tuple[ColumnOf[Rows], ...]
    item: Item | None = None
    outer: bool = False


@dataclass(frozen=True)
class NoColumn(Generic[Rows]):
    """Nothing here is called so. `relation` is the one that qualifies the name, and that has no such column."""

    relation: Relation[Rows] | None
    path: tuple[str, ...]


Resolution = (
    ColumnOf[Rows]
    | MergedColumn[Rows, Item]
    | ItemOf[Item]
    | Parameter
    | Ambiguous[Rows]
    | Possible[Rows, Item]
    | NoColumn[Rows]
)


@dataclass(frozen=True)
class Star(Generic[Rows, Item]):
    """What `*` or `a.*` gives: the columns of USING, then those of each relation without them (`left_out`)."""

    merged: Mapping[str, MergedColumn[Rows, Item]]
    relations: tuple[Relation[Rows], ...]

    @property
    def left_out(self) -> frozenset[str]:
        """The columns that the relations no longer give, case folded."""
        return frozenset(self.merged)


@dataclass
class Scope(Generic[Rows, Item]):
    """The names that an expression sees. It grows while FROM and the SELECT list are read."""

    relations: list[Relation[Rows]] = field(default_factory=list)
    outer: Scope[Rows, Item] | None = None
    merged: dict[str, MergedColumn[Rows, Item]] = field(default_factory=dict)
    """The columns of JOIN … USING and NATURAL JOIN, by name, case folded."""
    items: dict[str, Item] = field(default_factory=dict)
    """The items of the SELECT list so far that have an alias, by it, case folded: columns come before them."""
    outputs: Mapping[str, Item] = field(default_factory=dict)
    """In HAVING and ORDER BY, the items of the SELECT list: they come before columns."""
    parameters: frozenset[str] = frozenset()
    """The parameters of the lambdas around the expression: they come before everything."""

    def add(self, item: FromItem, rows: Rows) -> Relation[Rows]:
        """Add the next relation of FROM, of whose rows `rows` is known."""
        relation = Relation(
            qualifiers(item.alias, item.parts),
            rows,
            len(self.relations) + 1,
            is_versioned=item.is_versioned,
            has_inner_names=item.has_inner_names,
        )
        self.relations.append(relation)
        return relation

    def merge_columns(self, join: Join) -> list[MergedPair[Rows, Item]]:
        """Make one column of those that USING or NATURAL JOIN compares of the last relation and those before it."""
        left = replace(self, relations=self.relations[:-1], outer=None)
        right = self.relations[-1]
        names: Iterable[str] = join.using
        if join.natural:
            names = [name for name in right.rows.column_names() if name and left.has_column(name)]
        last = Scope[Rows, Item]([right])
        pairs = [MergedPair(name, left.resolve((name,)), last.resolve((name,))) for name in names]
        for pair in pairs:
            sides = {"RIGHT": (pair.right,), "FULL": (pair.left, pair.right)}.get(join.side, (pair.left,))
            self.merged[pair.name.casefold()] = MergedColumn(sides, (pair.name,))
        return pairs

    def end_join(self, join: Join) -> None:
        """Take the columns of a semi or anti join out of the rows, and note which side of an outer join may be NULL.

        ON sees the relations as they are before.
        """
        *before, last = self.relations
        if join.kind:
            last = replace(last, is_visible=False)
        if join.side in ("LEFT", "FULL"):
            last = replace(last, is_nullable=True)
        if join.side in ("RIGHT", "FULL"):
            before = [replace(relation, is_nullable=True) for relation in before]
        self.relations[:] = [*before, last]

    def has_column(self, name: str) -> bool:
        """Whether a relation is known to have the column."""
        folded = name.casefold()
        return folded in self.merged or any(relation.has_column(name) for relation in self._visible)

    def has_field(self, parts: tuple[str, ...]) -> bool | None:
        """Whether the first two parts of a name are a column and a field of it; None where types are not known."""
        columns = [relation.rows for relation in self._visible if relation.has_column(parts[0])]
        answers = {rows.has_field(parts[0], parts[1]) for rows in columns}
        return True if True in answers else None if None in answers else False

    def resolve(self, parts: tuple[str, ...]) -> Resolution[Rows, Item]:
        """What a name means.

        As in Spark, a relation that is named by the first parts comes first if it has, or may have, the column; then
        the columns of USING, any column (the rest of the name are its fields), an item of the SELECT list, and the
        names of the query around.
        """
        folded = fold(parts)
        if folded[0] in self.parameters:
            return Parameter()
        qualified = self._qualified(parts, folded)
        if qualified is not None and not (isinstance(qualified, NoColumn) and self.has_field(parts)):
            return qualified
        if len(parts) > 1 and any(relation.has_inner_names for relation in self.relations):
            return NoColumn(None, parts)
        resolution = self._unqualified(parts, folded)
        if resolution is None and self.outer is not None:
            return self.outer.resolve(parts)
        return resolution or NoColumn(None, parts)

    def star(self, qualifier: Sequence[str]) -> Star[Rows, Item] | None:
        """What `*` or `a.*` gives; None where no relation here is called so, as for the fields of a struct."""
        folded = fold(qualifier)
        if not folded:
            return Star(self.merged, tuple(self._visible))
        relations = tuple(relation for relation in self._visible if folded in relation.names)
        return Star({}, relations) if relations else None

    @property
    def _visible(self) -> list[Relation[Rows]]:
        return [relation for relation in self.relations if relation.is_visible]

    def _qualified(self, parts: tuple[str, ...], folded: tuple[str, ...]) -> Resolution[Rows, Item] | None:
        """What a name means whose first parts name a relation; None where they name none."""
        named = [(relation, relation.path(parts, folded)) for relation in self._visible if len(parts) > 1]
        columns = [ColumnOf(relation, path) for relation, path in named if path is not None]
        having = _that_have(columns)
        if having:
            return _one_of(having)
        if columns:
            return NoColumn(columns[0].relation, columns[0].path)
        if len(parts) > 1 and not self.has_column(parts[0]):
            for relation in self._visible:
                if relation.takes_any_qualifier and relation.has_column(parts[-1]):
                    return ColumnOf(relation, parts[-1:])
        return None

    def _unqualified(self, parts: tuple[str, ...], folded: tuple[str, ...]) -> Resolution[Rows, Item] | None:
        """What a name means whose first part is a column; None where nothing here may be called so."""
        if folded[0] in self.outputs:
            return ItemOf(self.outputs[folded[0]], parts[1:])
        merged = self.merged.get(folded[0])
        if merged is not None:
            return MergedColumn(merged.sides, (*merged.path, *parts[1:]))
        columns = [ColumnOf(relation, parts) for relation in self._visible]
        having = _that_have(columns)
        if any(column.relation.has_column(parts[0]) for column in having):
            return _one_of(having)
        if len(parts) > 1 and self.outer is not None and self.outer.has_relation(folded):
            return None
        item = self.items.get(folded[0])
        if not having:
            return ItemOf(item, parts[1:]) if item is not None else None
        outer = self.outer is not None and self.outer.may_have(parts[0])
        if item is not None or outer:
            return Possible(tuple(having), item, outer)
        return _one_of(having)

    def has_relation(self, folded: tuple[str, ...]) -> bool:
        """Whether the first parts of a name are those of a relation here or in a query around this one."""
        here = any(relation.path(folded, folded) for relation in self.relations)
        return here or (self.outer is not None and self.outer.has_relation(folded))

    def may_have(self, name: str) -> bool:
        """Whether a relation here or in a query around this one has such a column, or may have it."""
        here = any(relation.has_column(name) is not False for relation in self.relations)
        return here or (self.outer is not None and self.outer.may_have(name))


@dataclass(frozen=True)
class MergedPair(Generic[Rows, Item]):
    """What USING compares: a column of the relations before a join, and one of the relation that is joined."""

    name: str
    left: Resolution[Rows, Item]
    right: Resolution[Rows, Item]


def _that_have(columns: Sequence[ColumnOf[Rows]]) -> list[ColumnOf[Rows]]:
    """Those of which it is known that they exist; where there are none, those that may exist."""
    having = [(column, column.relation.has_column(column.path[0])) for column in columns]
    certain = [column for column, has in having if has]
    return certain or [column for column, has in having if has is None]


def _one_of(columns: Sequence[ColumnOf[Rows]]) -> Resolution[Rows, Item]:
    """The column, where it is one; all of them where Spark, or what is known of them, leaves open which."""
    if len(columns) == 1:
        return columns[0]
    if columns[0].relation.has_column(columns[0].path[0]):
        return Ambiguous(tuple(columns))
    return Possible(tuple(columns))
