"""The outputs of a SELECT: what they copy, derive or aggregate from its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from merge_runner.formats.types import DataType
from merge_runner.pruning.logic.canonical import Resolve, term
from merge_runner.pruning.logic.constant_value import NULL, Lit
from merge_runner.pruning.logic.fold import replaced
from merge_runner.pruning.logic.implication import Facts
from merge_runner.pruning.logic.term import Call, Col, Term, columns, is_constant
from merge_runner.pruning.logic.time_units import PARTS
from merge_runner.pruning.predicate.expression_type import Columns, Typed, expression_type
from merge_runner.pruning.query.joined_rows import Key
from merge_runner.pruning.query.relation import field_name

ALIASED = (exp.Aliases, exp.Alias)
_LEAVES = (exp.Column, exp.Literal, exp.Query)
_GENERATING = (exp.UDTF, exp.Explode, exp.Inline)
_GENERATORS = frozenset(
    ["explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack", "json_tuple"]
)


@dataclass(frozen=True)
class Output:
    """One item of the SELECT list: `term` is its value; where that cannot be read, a term equal to itself alone.

    `node` None: a column that a star gives.
    """

    name: str
    term: Term
    typed: Typed
    node: exp.Expr | None = None


ONE = Lit("number", Decimal(1))
WHOLE = (DataType("tinyint"), DataType("smallint"), DataType("int"), DataType("bigint"))
NAMELESS = "\0"
"""In a key, a column without a name to write."""


def fixed_to(own: Col, value: Term) -> Term:
    """Return the condition that a column has one value, which may be NULL."""
    return Call("isnull", (own,)) if value == NULL else Call("=", (own, value))


def not_of_itself(item: Term) -> Term:
    """`a = a`, which an equality becomes when one side represents both, says that a is not NULL."""
    if isinstance(item, Call) and item.name == "=" and item.args[0] == item.args[1]:
        return Call("notnull", item.args[:1])
    return item


def renamed_term(part: Term, names: dict[Term, Col]) -> Term | None:
    """The output that a term is called by; a field of a struct by that of the struct."""
    column = names.get(part)
    if column is None and isinstance(part, Col) and part.path:
        whole = names.get(Col(part.relation, part.name))
        return Col(whole.relation, whole.name, part.path) if whole is not None else None
    return column


def copy_restrictions(terms: Iterable[Term], value: Term, own: Col, restrictions: dict[Term, None]) -> None:
    """What holds for a value holds for the second name that it is given."""
    for item in terms:
        moved = replaced(item, lambda part: own if part == value else None)
        if moved != item and all(column.relation == 0 for column in columns(moved)):
            restrictions[moved] = None


def derived_bounds(facts: Facts, value: Term) -> list[tuple[str, Term]]:
    """Comparisons with constants that hold for an expression, such as the day of a bounded moment."""
    if isinstance(value, Call) and (
        value.name == "cast:date" or value.name.startswith("trunc:") or value.name in PARTS
    ):
        return [(name, other) for name, other in facts.bounds(value) if is_constant(other)]
    return []


def copy_picked(terms: Iterable[Term], output: Output, own: Col, restrictions: dict[Term, None]) -> None:
    """The greatest, the least or any value of a group is the value of some row, which the conditions hold for."""
    if not isinstance(output.node, PICKING) or not isinstance(output.term, Call):
        return
    value = output.term.args[0]
    if not isinstance(value, Col):
        return
    for item in terms:
        if all(column == value for column in columns(item)) and not is_constant(item):
            restrictions[replaced(item, lambda part: own if part == value else None)] = None


PICKING = (exp.Max, exp.Min, exp.ArgMax, exp.ArgMin, exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue)
"""Aggregates that give a value of one row."""


_HASHES = (exp.MD5, exp.MD5Digest, exp.SHA, exp.SHA2)
_JOINING = (
    exp.Array,
    exp.ArrayToString,
    exp.Concat,
    exp.ConcatWs,
    exp.DPipe,
    exp.JSONFormat,
    exp.PropertyEQ,
    exp.Struct,
)


def named_keys(keys: Sequence[Key], names: dict[Term, Col], facts: Facts, whole: set[Term]) -> Iterator[frozenset[str]]:
    """The keys in the names of outputs; what has one value in all rows is left out."""
    for key in keys:
        items = [item for item in key if not facts.constant(item, whole=item in whole) or item in names]
        # What a function of columns distinguishes, the columns do as well.
        items = [part for item in items for part in ((item,) if item in names else set(columns(item)))]
        if all(item in names for item in items):
            yield frozenset(field_name(names[item]) for item in items if not facts.constant(item, whole=item in whole))


def hashed_keys(
    outputs: Iterable[Output], keys: Sequence[Key], resolve: Resolve, typed: Columns
) -> Iterator[frozenset[str]]:
    """Yield the names of outputs that hash all parts of a key, which is as good as the key itself.

    The parts may be cast, joined to a text, or have a value in place of NULL; a hash of 32 bits is too short. Of
    several parts that are passed over where they are NULL, (NULL, 'x') and ('x', NULL) have one hash.
    """
    for output in outputs:
        node = output.node
        named = node.name.casefold() if isinstance(node, exp.Anonymous) else ""
        if output.name and (isinstance(node, _HASHES) or named == "xxhash64"):
            parts: set[Term] = set()
            todo = [] if node is None or _skips_null(node, typed) else list(node.iter_expressions())
            while todo:
                part = todo.pop()
                value = term(part, resolve)
                todo += [] if _skips_null(part, typed) else _kept(part)
                if value is not None:
                    parts.add(value)
            if any(key and key <= parts for key in keys):
                yield frozenset({output.name.casefold()})


def _skips_null(node: exp.Expr, typed: Columns) -> bool:
    """Whether one of several parts that are joined, or hashed, may be NULL, and is passed over then."""
    if not isinstance(node, exp.ConcatWs) and not (isinstance(node, exp.Anonymous) and node.name.lower() == "xxhash64"):
        return False
    parts = [part for part in node.expressions if not isinstance(part, exp.Literal)]
    return len(parts) > 1 and any(expression_type(part, typed).nullable is True for part in parts)


def _kept(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of an expression that its value keeps apart."""
    if isinstance(node, exp.Paren) or (isinstance(node, exp.Cast) and node.is_type(*exp.DataType.TEXT_TYPES)):
        return [node.this]
    if isinstance(node, exp.Coalesce):
        return [node.this] if all(isinstance(literal, exp.Literal) for literal in node.expressions) else []
    if isinstance(node, exp.Concat | exp.DPipe) and not any(literal.name for literal in node.find_all(exp.Literal)):
        return []  # without a separator ('1', '23') and ('12', '3') are one text
    return list(node.iter_expressions()) if isinstance(node, _JOINING) else []


def copied_columns(
    keys: Iterable[frozenset[str]], outputs: Iterable[Output], names: dict[Term, Col]
) -> Iterator[frozenset[str]]:
    """The keys, and these with each column under the further names that it has."""
    further: dict[str, list[str]] = {}
    for output in outputs:
        first = names.get(output.term)
        if output.name and first is not None and first.name != output.name.casefold():
            further.setdefault(first.name, []).append(output.name.casefold())
    for key in keys:
        yield key
        for name in key & further.keys():
            for other in further[name][:3]:
                yield key - {name} | {other}


def picked_struct(node: exp.Expr | None) -> exp.Struct | None:
    """Return the struct that an aggregate takes from one row of a group, as `max_by(struct(*), ts)` does."""
    inner = node.this if isinstance(node, PICKING) else None
    return inner if isinstance(inner, exp.Struct) else None


def field_of(struct: exp.Struct, target: Term, resolve: Resolve) -> str | None:
    """Return the name of the field that has this value; None where none is known to.

    A star has the columns of all relations, or of one: where it is the group's, no other is called alike.
    """
    for item in struct.expressions:
        if isinstance(item, exp.PropertyEQ) and term(item.expression, resolve) == target:
            return str(item.this.name).casefold()
        if item.is_star and isinstance(target, Col) and not target.path:
            return target.name
    return None


def aggregates(node: exp.Expr | None) -> bool:
    """Whether an aggregate is in an expression that is not a window's own."""
    if node is None or isinstance(node, _LEAVES):
        return False
    if isinstance(node, exp.Window):
        return any(aggregates(part) for part in node.this.iter_expressions()) or any(
            aggregates(part) for part in node.args.get("partition_by") or ()
        )
    if isinstance(node, exp.AggFunc):
        return True
    return any(aggregates(part) for part in node.iter_expressions())


def is_count(node: exp.Expr | None) -> bool:
    """Return whether an output is a COUNT, which is never NULL."""
    return isinstance(node, exp.Count | exp.CountIf)


def is_generator(node: exp.Expr) -> bool:
    """Whether the function gives several rows for one."""
    if isinstance(node, ALIASED):
        node = node.this
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in _GENERATORS
    return isinstance(node, _GENERATING)


def is_inside(node: exp.Expr, other: exp.Expr) -> bool:
    """Return whether a node is another one or below it."""
    while node is not None:
        if node is other:
            return True
        node = node.parent  # type: ignore[assignment]
    return False
