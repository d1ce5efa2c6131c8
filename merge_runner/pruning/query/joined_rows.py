"""The rows of FROM with its joins: which column a name means, what holds for each row, what makes it unique."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from merge_runner.pruning.layout.layout import TableColumn
from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.restriction import restricted_columns
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts, is_constant
from merge_runner.pruning.predicate.expression_type import UNKNOWN, Typed
from merge_runner.pruning.predicate.scope import name_parts
from merge_runner.pruning.query.relation import ComparedJoin, Queries, Relation, whole_table
from merge_runner.pruning.query.renamed import renamed
from merge_runner.pruning.query.source import UNREADABLE, SourceFacts

Key = frozenset[Term]

_MAX_KEYS = 12
AMBIGUOUS = -1_000
"""Number of the relation that represents the one that has a column that several may have: all but one have it not."""


class JoinedRows:
    """What FROM and WHERE give, relation by relation."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self.relations: list[Relation] = []
        self.terms: list[Term] = []
        self.lost: set[Col] = set()
        """Columns that are restricted where an outer join does not fill them with NULL."""
        self.compared: list[ComparedJoin] = []
        self.filled = False
        """An outer join may fill the columns of what is before it with NULL."""
        self.keys: list[Key] = [frozenset()]
        self.readable = True
        self._found: dict[tuple[str, ...], tuple[Relation, tuple[str, ...]] | None] = {}
        self.merged: dict[str, int] = {}
        """By the name of a column of USING, the relation that its value is taken from."""

    def read(self, select: exp.Select) -> None:
        """Reads FROM, the joins, the lateral views and WHERE of a query."""
        origin = select.args.get("from_")
        if origin is not None:
            first = self._relation(origin.this)
            self.terms += [first.lifted(item) for item in first.facts.restrictions]
            self.keys = _keys(first)
            for join in (*(origin.this.args.get("joins") or ()), *(select.args.get("joins") or ())):
                self._join(join)
            for lateral in (*(origin.this.args.get("laterals") or ()), *(select.args.get("laterals") or ())):
                self._lateral(lateral)
        self._found.clear()  # joins have changed what a name means, and whether it may be NULL
        where = select.args.get("where")
        if where is not None:
            self.terms += self.conditions(where.this)
        self._doubt()

    def _doubt(self) -> None:
        """A restricted column of no certain relation may be that of each which may have it."""
        for column in restricted_columns(self.terms):
            if column.relation == AMBIGUOUS:
                owners = [r for r in self.relations if r.visible and r.facts.has_column(column.name) is None]
                self.terms.append(Call("opaque", tuple(owner.column(column.name) for owner in owners)))

    def conditions(self, node: exp.Expr) -> list[Term]:
        """The conditions that a condition joins by AND, and what `x IN (subquery)` says about x."""
        found = list(conjuncts(condition(node, self.resolve)))
        parts = node.flatten() if isinstance(node, exp.And) else (node,)
        for part in parts:
            inner = part.unnest()
            if isinstance(inner, exp.In) and inner.args.get("query") is not None:
                found += self._membership(inner)
        return found

    def resolve(self, node: exp.Expr) -> Term | None:
        """The term of a column's node."""
        found = self._find(node)
        if found is None:
            return None
        relation, path = found
        return Col(relation.number, path[0].casefold(), tuple(part.casefold() for part in path[1:]))

    def typed(self, node: exp.Expr) -> Typed:
        """The type of a column's node; that of a field of a struct where the struct's is known."""
        found = self._find(node)
        if found is None:
            return UNKNOWN
        relation, path = found
        whole = relation.typed(path[0])
        for part in path[1:]:
            fields = whole.data_type.fields if whole.data_type is not None else ()
            inner = next((field for name, field in fields if name.casefold() == part.casefold()), None)
            whole = Typed(inner, True if whole.nullable else None)
        return whole

    def definitely_has(self, name: str) -> bool:
        """Whether some relation is known to have the column."""
        return any(relation.visible and relation.facts.column(name) for relation in self.relations)

    def star(self, qualifier: Sequence[str] = ()) -> Iterator[tuple[Relation, TableColumn | None]]:
        """The columns of `*` or `a.*` in their order; None represents those that are not known."""
        folded = tuple(part.casefold() for part in qualifier)
        chosen = [r for r in self.relations if r.visible and (not folded or folded in r.names)]
        if folded and not chosen:
            yield Relation(0, (), UNREADABLE), None
        for name, number in self.merged.items() if not folded else ():
            relation = self.relations[number - 1]
            yield relation, relation.facts.column(name) or TableColumn(name)
        for relation in chosen:
            for column in relation.facts.known:
                if folded or column.name.casefold() not in self.merged:
                    yield relation, column
            if relation.facts.columns is None:
                yield relation, None

    def _find(self, node: exp.Expr) -> tuple[Relation, tuple[str, ...]] | None:
        parts = name_parts(node)
        if not parts:
            return None
        if parts not in self._found:
            self._found[parts] = self._relation_of(parts)
        return self._found[parts]

    def _relation_of(self, parts: tuple[str, ...]) -> tuple[Relation, tuple[str, ...]] | None:
        folded = tuple(part.casefold() for part in parts)
        for relation in self.relations:
            for name in relation.names if relation.visible else ():
                if len(folded) > len(name) and folded[: len(name)] == name:
                    return relation, parts[len(name) :]
        if folded[0] in self.merged:
            return self.relations[self.merged[folded[0]] - 1], parts
        visible = [relation for relation in self.relations if relation.visible]
        having = [relation for relation in visible if relation.facts.column(parts[0]) is not None]
        if not having:
            having = [relation for relation in visible if relation.facts.has_column(parts[0]) is None]
            if len(having) > 1:
                return Relation(AMBIGUOUS, (), SourceFacts()), parts
        return (having[0], parts) if len(having) == 1 else None

    def _relation(self, node: exp.Expr) -> Relation:
        alias = node.args.get("alias")
        name = alias.name if isinstance(alias, exp.TableAlias) else ""
        names: tuple[tuple[str, ...], ...] = ((name.casefold(),),) if name else ()
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            parts = tuple(part.name for part in node.parts)
            facts = self.queries.table(parts)
            if node.args.get("pivots"):
                facts = UNREADABLE
            if not names:
                folded = tuple(part.casefold() for part in parts)
                names = tuple(folded[start:] for start in range(len(folded)))
        elif isinstance(node, exp.Table):
            facts = SourceFacts()  # a table function: any rows
        elif isinstance(node, exp.Query | exp.Values):
            facts = self.queries.facts(node)
        else:
            facts = SourceFacts()
        if isinstance(alias, exp.TableAlias) and not isinstance(node, exp.Values):
            facts = renamed(facts, [column.name for column in alias.columns])
        table = whole_table(node) if isinstance(node, exp.Table) else ()
        versioned = node.args.get("version") is not None
        relation = Relation(len(self.relations) + 1, names, facts, versioned=versioned, table=table)
        self.relations.append(relation)
        self.readable &= facts.readable
        return relation

    def _join(self, join: exp.Join) -> None:
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        natural = (join.method or "").upper() == "NATURAL"
        left_relations = list(self.relations)
        new = self._relation(join.this)
        self._found.clear()
        using = [name.name for name in join.args.get("using") or ()]
        if natural:
            known = all(relation.facts.names_known for relation in self.relations)
            self.readable &= known
            using = [c.name for c in new.facts.known if any(r.facts.column(c.name) for r in left_relations)]
        on = self._using(using, left_relations, new, from_right=side == "RIGHT")
        if join.args.get("on") is not None:
            on += self.conditions(join.args["on"])
        self.filled |= side in ("RIGHT", "FULL")
        if kind == "ANTI" or side == "LEFT":
            self.compared.append(ComparedJoin(new, tuple(on), anti=kind == "ANTI"))
        own = [new.lifted(item) for item in new.facts.restrictions]
        equated = Facts([*on, *own]) if side != "FULL" else Facts(())
        left_keys, right_keys = self.keys, _keys(new)
        right_once = _at_most_once(new, right_keys, on, equated)
        left_once = any(_fixed(key, {new.number}, on) for key in left_keys)
        if kind in ("SEMI", "ANTI"):
            self.relations[-1] = replace(new, visible=False)
            self.terms += [*on, *own] if kind == "SEMI" else []
            return
        pairs = [a | b for a in left_keys[:3] for b in right_keys[:3]]
        keys: list[Key] = list(left_keys) if right_once and side in ("", "LEFT") else []
        if left_once and side in ("", "RIGHT"):
            keys += right_keys
        self.keys = (keys or (pairs if side != "FULL" else []))[:_MAX_KEYS]
        if side in ("RIGHT", "FULL"):
            self.relations[:-1] = [replace(relation, nullable=True) for relation in self.relations[:-1]]
            self.lost |= restricted_columns(self.terms)
            self.terms = []
        if side in ("LEFT", "FULL"):
            self.lost |= restricted_columns(own)
            self.relations[-1] = replace(new, nullable=True)
        if side in ("", "RIGHT"):
            self.terms += own
        if side == "":
            self.terms += on

    def _using(
        self, names: Sequence[str], left: Sequence[Relation], right: Relation, *, from_right: bool
    ) -> list[Term]:
        found: list[Term] = []
        for name in names:
            owners = [r for r in left if r.visible and r.facts.has_column(name) is not False]
            merged = self.merged.get(name.casefold())
            if merged is not None:
                own = Col(merged, name.casefold())
            elif len(owners) == 1:
                own = owners[0].column(name)
            else:
                self.readable = False
                continue
            found.append(Call("=", (own, right.column(name))))
            self.merged[name.casefold()] = right.number if from_right else own.relation
        return found

    def _lateral(self, lateral: exp.Expr) -> None:
        alias = lateral.args.get("alias")
        columns = tuple(TableColumn(item.name) for item in alias.columns) if isinstance(alias, exp.TableAlias) else ()
        names = ((alias.name.casefold(),),) if isinstance(alias, exp.TableAlias) and alias.name else ()
        self.relations.append(Relation(len(self.relations) + 1, names, SourceFacts(columns or None)))
        self.keys = []

    def _membership(self, node: exp.In) -> list[Term]:
        """A subquery's values may be restricted by its data too, so that the column is in doubt besides."""
        subject = term(node.this, self.resolve)
        if subject is None:
            return []
        found: list[Term] = [Call("notnull", (subject,)), Call("opaque", tuple(columns(subject)))]
        inner = self.queries.subquery_facts(node.args["query"])  # it sees the names around it too
        if inner.columns is not None and len(inner.columns) == 1:
            name = inner.columns[0].name.casefold()
            for item in inner.restrictions:
                moved = replaced(item, lambda part: subject if part == Col(0, name) else None)
                if all(column.relation != 0 for column in columns(moved)):
                    found.append(moved)
        return found


def _keys(relation: Relation) -> list[Key]:
    keys: list[Key] = [frozenset(relation.column(name) for name in key) for key in relation.facts.unique]
    return keys[:_MAX_KEYS]


def _at_most_once(relation: Relation, keys: Sequence[Key], on: Sequence[Term], facts: Facts) -> bool:
    """Whether a row of the left finds at most one row of the relation."""
    return any(
        all(_is_fixed(column, {relation.number}, on) or facts.constant(column) for column in key) for key in keys
    )


def _fixed(key: Key, others: set[int], on: Sequence[Term]) -> bool:
    """Whether a row of the relation `others` fixes all columns of a key on the other side."""
    return all(_equated_with(column, others, on) for column in key)


def _equated_with(column: Term, numbers: set[int], on: Sequence[Term]) -> bool:
    for item in on:
        if isinstance(item, Call) and item.name in ("=", "<=>") and column in item.args:
            other = item.args[1] if item.args[0] == column else item.args[0]
            if is_constant(other) or all(part.relation in numbers for part in columns(other)):
                return True
    return False


def _is_fixed(column: Term, own: set[int], on: Sequence[Term]) -> bool:
    """Whether ON equates a column with something of another relation."""
    for item in on:
        if isinstance(item, Call) and item.name in ("=", "<=>") and column in item.args:
            other = item.args[1] if item.args[0] == column else item.args[0]
            if all(part.relation not in own for part in columns(other)):
                return True
    return False
