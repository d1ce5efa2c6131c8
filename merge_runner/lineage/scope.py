"""What a name of a column means: in FROM, among the aliases of a SELECT, in the query around it, in a MERGE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from merge_runner.lineage.rows import Rest, Rows, without
from merge_runner.lineage.value import NOTHING, Value, unknown
from merge_runner.pruning.query.unknown_names import HIDDEN, NOT_COLUMNS
from merge_runner.text import Span


def qualifiers(alias: str | None, parts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """What the columns of a relation may be qualified by, case folded: the alias, or the name and its endings."""
    if alias:
        return ((alias.casefold(),),)
    folded = tuple(part.casefold() for part in parts)
    return tuple(folded[start:] for start in range(len(folded)))


@dataclass(frozen=True)
class Relation:
    """One table, view or subquery of FROM, or a side of a MERGE.

    `visible`: its columns are rows' columns, which they are not after a semi or anti join. `passes`: a name with any
    other qualifier may be one of its columns, as it is for a source query without an alias.
    """

    names: tuple[tuple[str, ...], ...]
    rows: Rows
    visible: bool = True
    passes: bool = False

    @property
    def display_name(self) -> str:
        """Its name for people."""
        return ".".join(self.names[0]) if self.names else "a subquery"


@dataclass
class Scope:
    """The names that an expression sees. It grows while FROM is read."""

    relations: list[Relation] = field(default_factory=list)
    outer: Scope | None = None
    merged: dict[str, Value] = field(default_factory=dict)
    """The columns of JOIN … USING, by name, case folded."""
    aliases: dict[str, Value] = field(default_factory=dict)
    """The items of the SELECT list so far that have an alias, by it, case folded."""

    def hide_last(self) -> None:
        """Take the columns of the last relation out of the rows."""
        self.relations[-1] = replace(self.relations[-1], visible=False)

    def resolve(self, parts: tuple[str, ...], span: Span | None) -> Value:
        """The value of the column that a name means; `span` is its place."""
        value = self._resolve_qualified(parts, span)
        if value is None:
            value = self._resolve_unqualified(parts, span)
        if value is None and self.outer is not None:
            value = self.outer.resolve(parts, span)
        if value is not None:
            return value
        if len(parts) == 1 and parts[0].casefold() in NOT_COLUMNS:
            return NOTHING
        if len(parts) > 1:
            return unknown(f'"{parts[0]}" is neither a relation nor a column here', span)
        return unknown(f'no relation here has a column "{parts[0]}"', span)

    def star(self, qualifier: Sequence[str], span: Span | None) -> Rows:
        """The columns of `*` or `a.*` in their order."""
        folded = tuple(part.casefold() for part in qualifier)
        if not folded:
            columns = list(self.merged.items())
            rest: list[Rest] = []
            for relation in self.relations:
                if relation.visible:
                    rows = without(relation.rows, self.merged)
                    rest += [replace(part, place=part.place + len(columns)) for part in rows.rest]
                    columns += rows.columns
            return Rows(tuple(columns), tuple(rest))
        for relation in self.relations:
            if relation.visible and folded in relation.names:
                return replace(relation.rows, deciding=NOTHING)
        reason = f'the fields of "{".".join(qualifier)}" are not known'  # a struct, or a relation of the query around
        return Rows(rest=(Rest(None, more=unknown(reason, span)),))

    def _resolve_qualified(self, parts: tuple[str, ...], span: Span | None) -> Value | None:
        folded = tuple(part.casefold() for part in parts)
        for relation in self.relations:
            for name in relation.names if relation.visible else ():
                if len(folded) > len(name) and folded[: len(name)] == name:
                    return self._column_of(relation, parts[len(name) :], span)
        for relation in self.relations:
            if relation.passes and len(parts) > 1 and not self._has(parts[0]) and relation.rows.having(parts[-1]):
                return self._column_of(relation, parts[-1:], span)
        return None

    def _column_of(self, relation: Relation, path: tuple[str, ...], span: Span | None) -> Value:
        values = relation.rows.having(path[0])
        perhaps = relation.rows.perhaps(path[0])
        if not values and len(perhaps) == 1:
            return perhaps[0].column(path[0])
        if len(values) == 1:
            return values[0].at(path[1:])
        if values:
            return unknown(f'{relation.display_name} has several columns "{path[0]}"', span)
        if perhaps:
            return unknown(f'"{path[0]}" may be a column of {_tables(perhaps)}: declare their columns', span)
        if path[0].casefold() in HIDDEN:
            return NOTHING
        return unknown(f'{relation.display_name} has no column "{path[0]}"', span)

    def _has(self, name: str) -> bool:
        return any(relation.visible and relation.rows.having(name) for relation in self.relations)

    def _resolve_unqualified(self, parts: tuple[str, ...], span: Span | None) -> Value | None:
        name = parts[0]
        merged = self.merged.get(name.casefold())
        if merged is not None:
            return merged.at(parts[1:])
        visible = [relation for relation in self.relations if relation.visible]
        candidates = [(relation, value) for relation in visible for value in relation.rows.having(name)]
        if len(candidates) == 1:
            return candidates[0][1].at(parts[1:])
        if candidates:
            names = " and ".join(dict.fromkeys(relation.display_name for relation, _ in candidates))
            return unknown(f'"{name}" is a column of {names}', span)
        if len(parts) > 1 and self.outer is not None and self.outer.has_relation(parts):
            return None
        alias = self.aliases.get(name.casefold())
        perhaps = [rest for relation in visible for rest in relation.rows.perhaps(name)]
        if not perhaps:
            return alias.at(parts[1:]) if alias is not None else None
        value = perhaps[0].column(name)
        if len(perhaps) > 1:
            return unknown(f'"{name}" may be a column of {_tables(perhaps)}: declare their columns', span)
        if alias is not None and not _names(alias, value):
            return unknown(f'"{name}" may be a column of {_tables(perhaps)}, or the alias before it', span)
        if self.outer is not None and self.outer.may_have(name):
            return unknown(f'"{name}" may be a column of {_tables(perhaps)}, or of the query around it', span)
        return value

    def has_relation(self, parts: tuple[str, ...]) -> bool:
        """Whether the first parts of a name are those of a relation here or in a query around this one."""
        folded = tuple(part.casefold() for part in parts)
        here = any(folded[: len(name)] == name for relation in self.relations for name in relation.names)
        return here or (self.outer is not None and self.outer.has_relation(parts))

    def may_have(self, name: str) -> bool:
        """Whether a relation here or in a query around this one has such a column, or may have it."""
        here = any(relation.rows.having(name) or relation.rows.perhaps(name) for relation in self.relations)
        return here or (self.outer is not None and self.outer.may_have(name))


def _names(alias: Value, value: Value) -> bool:
    """Whether the value of an alias is made of the column itself, so that FROM is certain to have it."""
    columns = {(column_input.relation, column_input.column.casefold()) for column_input in alias.inputs}
    return bool(value.inputs) and all(
        (column_input.relation, column_input.column.casefold()) in columns for column_input in value.inputs
    )


def _tables(rests: Sequence[Rest]) -> str:
    names = dict.fromkeys(rest.table.name if rest.table else "a query that cannot be read" for rest in rests)
    return " or ".join(names)
