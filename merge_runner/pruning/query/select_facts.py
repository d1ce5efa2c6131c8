"""What is known of the rows of one SELECT: its outputs, and what its rows have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from merge_runner.pruning.layout.layout import TableColumn
from merge_runner.pruning.logic.canonical import condition, term
from merge_runner.pruning.logic.constant_value import Lit
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.restriction import is_plain, restricted_columns
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts, is_constant
from merge_runner.pruning.predicate.expression_type import UNKNOWN, Typed, expression_type
from merge_runner.pruning.query.absent_rows import absences
from merge_runner.pruning.query.joined_rows import ONE_OF_SEVERAL, JoinedRows, Key
from merge_runner.pruning.query.output import (
    NAMELESS,
    ONE,
    PICKING,
    WHOLE,
    Output,
    aggregates,
    copied_columns,
    copy_picked,
    copy_restrictions,
    derived_bounds,
    field_of,
    fixed_to,
    hashed_keys,
    is_count,
    is_generator,
    is_inside,
    named_keys,
    not_of_itself,
    picked_struct,
    renamed_term,
)
from merge_runner.pruning.query.relation import Queries, ReadSelect, Resolution, column_of
from merge_runner.pruning.query.source import SourceFacts, name_at
from merge_runner.sql import scope as sql
from merge_runner.sql.from_clause import from_items
from merge_runner.sql.names import grouping_names, is_star, name_parts, star_qualifier

_MAX_KEYS = 12
_MAX_OUTPUTS = 20_000
"""Columns of one SELECT: `l.*, r.*` of the same query twice doubles them in each CTE."""
_MAX_RELATIONS = 200
"""Of one SELECT. What a name means takes a look at each of them, and a join at all that is before it."""


def _alias(node: exp.Expr, resolution: Resolution) -> exp.Expr | None:
    """The item of the SELECT list that a name means."""
    match resolution:
        case sql.ItemOf(alias, ()) if not is_inside(node, alias):
            return alias
    return None


def select_facts(select: exp.Select, queries: Queries) -> SourceFacts:
    """What is known of the rows of a SELECT, without its WITH, ORDER BY and LIMIT."""
    return _Select(select, queries).facts()


class _Select:
    def __init__(self, select: exp.Select, queries: Queries) -> None:
        self.select = select
        self.rows = JoinedRows(queries)
        items = list(from_items(select))
        self.is_too_wide = len(items) > _MAX_RELATIONS
        if not self.is_too_wide:
            self.rows.read(select, items)
        rows = self.rows
        queries.record(ReadSelect(select, replace(rows.scope, items={}), rows.typed, rows.star, rows.resolve))
        self.outputs: list[Output] = []
        self.complete = True
        self.has_star = False
        self.leading: int | None = None
        """How many outputs precede the first star whose columns are not all known."""
        self.passed: dict[int, set[str]] = {}
        """Relations whose columns are not all known and that a star passes on, and what EXCEPT leaves out of them."""
        self.expanded: list[exp.Struct] = []
        """Structs of one row of a group whose fields are the columns: `max_by(struct(*), ts).*`."""

    def facts(self) -> SourceFacts:
        select, rows = self.select, self.rows
        if self.is_too_wide or select.args.get("pivots") or select.args.get("kind") or not select.expressions:
            return SourceFacts(readable=False)
        for node in select.expressions:
            self._add(node)
            if len(self.outputs) > _MAX_OUTPUTS:
                return SourceFacts(readable=False)
        group = select.args.get("group")
        aggregated = select.args.get("having") is not None or any(
            aggregates(output.node) for output in self.outputs if output.node is not None
        )
        terms, keys, several = list(rows.terms), list(rows.keys), False
        if group is not None:
            keys, several = self._grouped(group)
        elif aggregated:
            keys, terms = [frozenset()], []
        if several:
            terms = []
        having = select.args.get("having")
        if having is not None:
            terms += conjuncts(condition(having.this, partial(self._resolve_in_having, grouping_names(select))))
        for struct in self.expanded:
            self._expand(struct, keys)
        for output in self.outputs:
            self._number(output, keys, terms)
        if any(output.node is not None and is_generator(output.node) for output in self.outputs):
            keys = []
        elif select.args.get("qualify") is not None and group is None and not aggregated:
            keys += self._first_rows(select.args["qualify"].this)
        return self._projected(terms, keys, one=aggregated and group is None, several=several)

    def _add(self, node: exp.Expr) -> None:
        if is_star(node):
            self._star(node)
            return
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Star):
            struct = picked_struct(node.this)
            self.expanded += [struct] if struct is not None and self.select.args.get("group") is not None else []
            self._leave_open()
            return
        name, value = "", node
        if isinstance(node, exp.Aliases) or is_generator(node):
            names = [item.name for item in node.aliases] if isinstance(node, exp.Aliases) else [node.alias]
            self.complete &= all(names)
            for item in names:
                self.outputs.append(Output(item, self._itself(), Typed(), node))
            return
        if isinstance(node, exp.Alias):
            name, value = node.alias, node.this
        elif (parts := name_parts(node)) is not None:
            name = parts[-1]
        value_term = term(value, self.resolve)
        if (
            value_term is not None
            and is_constant(value_term)
            and (aggregates(value) or value.find(exp.Star) is not None)
        ):
            value_term = None  # count(*) and struct(*) name no column, and are others in each group or row
        typed = expression_type(value, self.typed)
        self.outputs.append(Output(name, self._itself() if value_term is None else value_term, typed, value))
        if isinstance(node, exp.Alias):
            self.rows.scope.items.setdefault(name.casefold(), value)

    def _star(self, node: exp.Expr) -> None:
        self.has_star = True
        star = node.this if isinstance(node, exp.Column) else node
        left_out = {item.name.casefold() for item in star.args.get("except_") or ()}
        qualifier = star_qualifier(node)
        if (whole := self._struct(qualifier)) is not None:
            self._leave_open()
            fields = (part for key in self.rows.keys for part in key if isinstance(part, Col) and len(part.path) == 1)
            fields_of_keys = {part.path[0]: part for part in fields if Col(part.relation, part.name) == whole}
            self.outputs += [
                Output(name, part, UNKNOWN) for name, part in fields_of_keys.items() if name not in left_out
            ]
            return
        for item in self.rows.star(qualifier):
            relation, column = item.relation, item.column
            if self.leading is None and (column is None or (relation is not None and relation.rows.columns is None)):
                self.leading = len(self.outputs)
            if column is None:
                self.complete = False
                self.passed[relation.number if relation is not None else 0] = left_out
            elif column.name.casefold() not in left_out or not column.name:
                own = self._itself() if item.term is None else item.term
                self.outputs.append(Output(column.name, own, Typed(column.data_type, column.nullable)))
            if len(self.outputs) > _MAX_OUTPUTS:
                return

    def _struct(self, qualifier: tuple[str, ...]) -> Col | None:
        """The column whose fields `r.*` gives; None where it is a relation, or nothing that is known."""
        if not qualifier or self.rows.scope.star(qualifier) is not None:
            return None
        whole = self.rows.term(self.rows.scope.resolve(qualifier))
        return whole if isinstance(whole, Col) and not whole.path else None

    def _leave_open(self) -> None:
        """Note that more columns follow than are known."""
        self.has_star, self.complete = True, False
        self.leading = len(self.outputs) if self.leading is None else self.leading

    def _expand(self, struct: exp.Struct, keys: Sequence[Key]) -> None:
        """The fields of the struct that the rows are grouped by."""
        for part in {part for key in keys for part in key}:
            name = field_of(struct, part, self.rows.resolve)
            if name is not None:
                self.outputs.append(Output(name, part, UNKNOWN))

    def _name_fields(self, keys: Sequence[Key], names: dict[Term, Col]) -> None:
        """The parts of keys that a struct of one row of the group holds, where nothing else does."""
        for output in self.outputs if self.select.args.get("group") is not None else ():
            struct = picked_struct(output.node)
            for part in {part for key in keys for part in key} if struct is not None and output.name else ():
                name = field_of(struct, part, self.rows.resolve) if struct is not None else None
                if name is not None:
                    names.setdefault(part, Col(0, output.name.casefold(), (name,)))

    @staticmethod
    def _is_itself(column: Col) -> bool:
        return column.relation < 0 and not column.name

    def _itself(self) -> Col:
        """A term that is equal to nothing else."""
        return Col(-1 - len(self.outputs), "")

    def resolve(self, node: exp.Expr) -> Term | None:
        """The term of a column's node; a name that FROM does not have may be an alias of the SELECT list before it."""
        resolution = self._resolution(node)
        alias = _alias(node, resolution)
        return term(alias, self.resolve) if alias is not None else self.rows.term(resolution)

    def _resolve_in_having(self, grouped: frozenset[str], node: exp.Expr) -> Term | None:
        """The term of a column's node in HAVING; `grouped` are the names that GROUP BY has by themselves."""
        parts = name_parts(node) or ("",)
        alias = self.rows.scope.items.get(parts[0].casefold()) if len(parts) == 1 else None
        if alias is None or parts[0].casefold() in grouped or node.find_ancestor(exp.AggFunc):
            return self.resolve(node)
        return term(alias, self.resolve)

    def typed(self, node: exp.Expr) -> Typed:
        """The type of a column's node."""
        resolution = self._resolution(node)
        alias = _alias(node, resolution)
        return expression_type(alias, self.typed) if alias is not None else self.rows.type(resolution)

    def _resolution(self, node: exp.Expr) -> Resolution:
        """What a column's node means: FROM is certain to have what an item of the same name is made of."""
        resolution = self.rows.scope.resolve(name_parts(node) or ("",))
        if isinstance(resolution, sql.Possible) and resolution.item is not None:
            name = resolution.columns[0].path[0].casefold()
            if any(column.name.casefold() == name for column in resolution.item.find_all(exp.Column)):
                return resolution.columns[0] if len(resolution.columns) == 1 else replace(resolution, item=None)
        return resolution

    def _grouped(self, group: exp.Group) -> tuple[list[Key], bool]:
        """The key that GROUP BY makes, and whether there are several grouping sets, which have no such key."""
        if any(group.args.get(key) for key in ("rollup", "cube", "grouping_sets", "totals")):
            return [], True
        if any(isinstance(item, exp.Rollup | exp.Cube | exp.GroupingSets) for item in group.expressions):
            return [], True
        if group.args.get("all"):
            return [
                frozenset(output.term for output in self.outputs if output.node is None or not aggregates(output.node))
            ], False
        grouped = {self.rows.resolve(item) for item in group.expressions}
        by_node = {id(output.node): output.term for output in self.outputs if output.node is not None}
        parts = [self._group_term(item, grouped, by_node) for item in group.expressions]
        if any(part is None for part in parts):
            return [], False
        return [frozenset(part for part in parts if part is not None and not isinstance(part, Lit))], False

    def _group_term(self, item: exp.Expr, grouped: set[Term | None], by_node: Mapping[int, Term]) -> Term | None:
        """The term of an item of GROUP BY; `grouped` are those of its columns, `by_node` those of the outputs."""
        if item.is_int:
            place = int(item.name) - 1
            fits = 0 <= place < len(self.outputs) and not (self.has_star and not self.complete)
            return self.outputs[place].term if fits else None
        if name_parts(item) is None:
            return term(item, self.rows.resolve)
        resolution = self._resolution(item)
        match resolution:
            case sql.ItemOf(alias, ()):
                return by_node.get(id(alias))
            case sql.Possible(_, alias) if alias is not None:
                return by_node.get(id(alias)) if self._must_be_grouped(alias, grouped) else None
        return self.rows.term(resolution)

    def _must_be_grouped(self, alias: exp.Expr, grouped: set[Term | None]) -> bool:
        """Whether Spark refuses the query unless GROUP BY means this item: it is made of columns not grouped by."""
        return not aggregates(alias) and any(
            self.rows.resolve(column) not in grouped for column in alias.find_all(exp.Column)
        )

    def _number(self, output: Output, keys: list[Key], terms: list[Term]) -> None:
        """`row_number() OVER (PARTITION BY k)` makes k and the number a key, and counts from 1."""
        node = output.node
        if not isinstance(node, exp.Window) or not isinstance(node.this, exp.RowNumber):
            return
        partition = [term(item, self.resolve) for item in node.args.get("partition_by") or ()]
        if all(part is not None for part in partition):
            keys.append(frozenset({*(part for part in partition if part is not None), output.term}))
            terms.append(Call(">=", (output.term, ONE)))

    def _first_rows(self, node: exp.Expr) -> Iterator[Key]:
        """Yield the keys that QUALIFY makes where it asks for the first row of each partition, `row_number() … = 1`."""
        named = {output.name.casefold(): output.node for output in self.outputs if output.name}
        for part in node.flatten() if isinstance(node, exp.And) else (node,):
            sides = (part.this, part.expression) if isinstance(part, exp.EQ) else ()
            number = next((side for side in sides if isinstance(side, exp.Window | exp.Column)), None)
            if number is None or not any(side.is_int and side.name == "1" for side in sides):
                continue
            window = named.get(number.name.casefold()) if isinstance(number, exp.Column) else number
            if isinstance(window, exp.Window) and isinstance(window.this, exp.RowNumber):
                partition = [term(item, self.resolve) for item in window.args.get("partition_by") or ()]
                if partition and all(item is not None for item in partition):
                    yield frozenset(item for item in partition if item is not None)

    def _projected(self, terms: list[Term], keys: list[Key], *, one: bool, several: bool) -> SourceFacts:
        select, outputs = self.select, self.outputs
        term_facts = Facts(terms)
        table_columns: list[TableColumn] = []
        names: dict[Term, Col] = {}
        restrictions: dict[Term, None] = {}
        for place, output in enumerate(outputs):
            table_columns.append(
                TableColumn(output.name, output.typed.data_type, self._nullable(output, term_facts, one, several))
            )
            if not output.name and is_constant(output.term) and not one and not several:
                restrictions[fixed_to(Col(0, name_at("", place)), output.term)] = None
            if output.name:
                self._name(output, terms, term_facts, names, restrictions, fixed=not one and not several)
        if not several:
            self._name_fields(keys, names)
        absent = [] if one or several else list(absences(select, self.rows))
        compared = frozenset[Term](own for absence in absent for _, own, _ in absence.pairs)
        self._pass_on(terms, [*keys, compared], names)
        passed = tuple(passed_on for item in absent if (passed_on := item.of_columns(names.get)) is not None)
        for item in list(names):
            for other in term_facts.same_as(item):
                names.setdefault(other, names[item])
        restricted = restricted_columns(terms) | self.rows.lost
        for output in outputs:
            if output.name and self._is_doubtful(output, restricted):
                restrictions[Call("opaque", (Col(0, output.name.casefold()),))] = None
        for item in term_facts.terms:
            moved = replaced(item, lambda part: renamed_term(part, names))
            if all(column.relation == 0 for column in columns(moved)) and not isinstance(moved, Lit):
                restrictions[not_of_itself(moved)] = None
        whole = {output.term for output in outputs if output.typed.data_type in WHOLE}
        unique = list(copied_columns(named_keys(keys, names, term_facts, whole), outputs, names))
        unique += hashed_keys(outputs, keys, self.resolve, self.typed)
        if select.args.get("distinct") is not None and self.complete and not select.args["distinct"].args.get("on"):
            unique.append(frozenset(output.name.casefold() if output.name else NAMELESS for output in outputs))
        first_keys = tuple(dict.fromkeys(unique))[:_MAX_KEYS]
        not_null, nulled = self._histories(names, term_facts) if not several and not one else ((), frozenset())
        facts = SourceFacts(None, first_keys, tuple(restrictions), self.rows.readable, (), 0, not_null, nulled, passed)
        if self.complete:
            return replace(facts, columns=tuple(table_columns))
        leading = self.leading or 0
        some = tuple(column for place, column in enumerate(table_columns) if column.name or place < leading)
        return replace(facts, some=some, leading=leading)

    def _histories(
        self, names: dict[Term, Col], term_facts: Facts
    ) -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
        """What one relation by itself passes on of the columns that a branch of its UNION sets to NULL."""
        if len(self.rows.relations) != 1 or self.select.args.get("group") is not None:
            return (), frozenset()
        relation = self.rows.relations[0]
        facts = relation.rows
        if not facts.nulled or any(output.node is not None and is_generator(output.node) for output in self.outputs):
            return (), frozenset()
        keys = [frozenset(column_of(relation, name) for name in key) for key in facts.unique_not_null]
        self._pass_on((), [*keys, frozenset(column_of(relation, name) for name in facts.nulled)], names)
        nulled = frozenset(
            name.name for item in facts.nulled if (name := names.get(column_of(relation, item))) is not None
        )
        return tuple(named_keys(keys, names, term_facts, set())), nulled

    def _pass_on(self, terms: Iterable[Term], keys: Iterable[Key], names: dict[Term, Col]) -> None:
        """Names the columns that a star gives of relations whose columns are not all known, where they are used.

        One that another output is called by as well cannot be named outside: Spark finds it ambiguous.
        """
        used_names = {output.name.casefold() for output in self.outputs}
        used = (column for item in (*terms, *(part for key in keys for part in key)) for column in columns(item))
        for column in used if self.passed else ():
            left_out = self.passed.get(column.relation)
            if column.relation == ONE_OF_SEVERAL:
                left_out = set().union(*self.passed.values())
            if left_out is not None and column.name not in left_out and column.name not in used_names:
                names.setdefault(Col(column.relation, column.name), Col(0, column.name))

    def _is_doubtful(self, output: Output, restricted: set[Col]) -> bool:
        """Whether the conditions may well restrict what is computed here, and how is not known."""
        node = output.node
        if node is None:  # of a star: two columns that USING has made one
            return not is_plain(output.term) and any(column in restricted for column in columns(output.term))
        if is_plain(output.term) and not any(self._is_itself(column) for column in columns(output.term)):
            return False
        if node.find(exp.Query) is not None or is_generator(node):
            return True
        if isinstance(node, PICKING) and isinstance(output.term, Call) and is_plain(output.term.args[0]):
            return False  # `copy_picked` decides
        terms = (self.resolve(column) for column in node.find_all(exp.Column) if restricted)
        return any(column in restricted for item in terms if item is not None for column in columns(item))

    def _nullable(self, output: Output, term_facts: Facts, one: bool, several: bool) -> bool | None:
        nullable = output.typed.nullable
        if several:
            return None if aggregates(output.node) else True
        if one and nullable is False and not is_count(output.node):
            return None  # an aggregate of no rows
        return False if nullable is False or term_facts.never_null(output.term) else nullable

    def _name(
        self,
        output: Output,
        terms: list[Term],
        term_facts: Facts,
        names: dict[Term, Col],
        restrictions: dict[Term, None],
        *,
        fixed: bool,
    ) -> None:
        """Notes what an output is the name of, and what holds for it in addition to what its name represents."""
        own = Col(0, output.name.casefold())
        if is_constant(output.term):
            if fixed:
                restrictions[fixed_to(own, output.term)] = None
        elif output.term in names:
            copy_restrictions(terms, output.term, own, restrictions)
        else:
            names[output.term] = own
            for name, value in derived_bounds(term_facts, output.term):
                restrictions[Call(name, (own, value))] = None
        if self.select.args.get("group") is not None and fixed:
            copy_picked(terms, output, own, restrictions)
