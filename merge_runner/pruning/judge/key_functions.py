"""What functions and types do to a key: which values they make equal, and in what form they leave a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.formats.types import INTEGERS, DataType, parse_type
from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.logic.canonical import term
from merge_runner.pruning.logic.constant_value import Lit
from merge_runner.pruning.logic.term import Call, Col, Term, is_constant
from merge_runner.pruning.predicate.expression_type import Typed
from merge_runner.pruning.query.source import Lookup
from merge_runner.sql.names import name_parts

_CASES = frozenset({"lower", "upper", "initcap"})
_TRIMS = frozenset({"trim", "btrim"})
_SHORTENING = frozenset(
    [
        *("substring", "left", "right", "replace", "translate", "regexpreplace", "regexpextract", "splitpart"),
        *("round", "bround", "floor", "ceil", "abs", "sign", "intdiv", "mod", "soundex", "length"),
        *("year", "quarter", "month", "week", "day", "dayofmonth", "hour", "hash", "crc32"),
    ]
)
"""Functions that give one value for several, besides those of letters' case and blanks."""
_SKIPPING_NULL = frozenset({"concatws", "xxhash64"})
_CASTS = ("cast:", "try_cast:")

TypeOf = Callable[[Col], Typed]
"""The type of a column of the source, and whether it takes NULL."""


def merging_call(value: Term, type_of: TypeOf) -> Call | None:
    """Return the call in a key that may make two different keys equal; None: none is known to.

    A hash of 64 bits or more keeps its arguments apart, and a constant in the place of NULL is no other key.
    """
    if not isinstance(value, Call) or is_constant(value):
        return None
    name = value.name
    if name in _CASES or name in _TRIMS or name in _SHORTENING:
        return value
    own = [argument for argument in value.args if not is_constant(argument)]
    if name.startswith("trunc:") and not _is_of_days(own, type_of):
        return value
    if name.startswith(_CASTS) and _is_narrowing(own[0], parse_type(name.partition(":")[2]), type_of):
        return value
    if name in _SKIPPING_NULL and len(own) > 1 and any(_may_be_null(argument, type_of) for argument in own):
        return value
    if name in ("concat", "dpipe") and len(own) > 1 and not any(_is_separator(argument) for argument in value.args):
        return value
    inner = own[:1] if name == "coalesce" else own
    return next((inner_call for argument in inner if (inner_call := merging_call(argument, type_of)) is not None), None)


def _is_of_days(own: list[Term], type_of: TypeOf) -> bool:
    data_type = type_of(own[0]).data_type if isinstance(own[0], Col) else None
    return data_type is not None and data_type.name == "date"


def _is_narrowing(inner: Term, to: DataType | None, type_of: TypeOf) -> bool:
    data_type = type_of(inner).data_type if isinstance(inner, Col) else None
    return data_type is not None and to is not None and is_narrower(data_type, to)


def is_narrower(origin: DataType, to: DataType) -> bool:
    """Return whether a cast makes different values of the first type equal, as it does '7' and '007' as numbers."""
    if origin.is_text:
        return not to.is_text
    finer, coarser = fineness(origin), fineness(to)
    return finer is not None and coarser is not None and finer[0] == coarser[0] and finer[1] > coarser[1]


def fineness(data_type: DataType) -> tuple[str, float] | None:
    """Return the kind of a type, `time` or `number`, and how finely it tells values apart; None for other types."""
    if data_type.name in ("date", "timestamp", "timestamp_ntz"):
        return "time", float(data_type.name != "date")
    if data_type.name in INTEGERS:
        return "number", 0
    if data_type.name == "decimal":
        return "number", float(data_type.scale or 0)
    return ("number", 50 if data_type.name == "float" else 100) if data_type.is_numeric else None


def _may_be_null(value: Term, type_of: TypeOf) -> bool:
    while isinstance(value, Call) and value.name.startswith(_CASTS):
        value = value.args[0]
    return isinstance(value, Col) and type_of(value).nullable is True


def _is_separator(value: Term) -> bool:
    return isinstance(value, Lit) and value.kind == "text" and bool(value.value)


@dataclass(frozen=True)
class Form:
    """The form in which functions leave the values of a column: `case` None is that of the column itself.

    `trims` are the ends without blanks; `calls` are calls in their order, the innermost first.
    """

    column: Col
    case: str | None = None
    trims: frozenset[str] = frozenset()
    calls: tuple[tuple[str, tuple[Term, ...]], ...] = ()


def form_of(value: Term) -> Form | None:
    """Return the form of a value that is made of one column by text functions and truncations; None for any other.

    A cast does not count: types are compared apart from it.
    """
    if isinstance(value, Col):
        return Form(value)
    if not isinstance(value, Call) or not value.args:
        return None
    inner, name = form_of(value.args[0]), value.name
    if inner is None or any(not is_constant(argument) for argument in value.args[1:]):
        return None
    if name.startswith(_CASTS):
        return inner
    if name in _CASES:
        return Form(inner.column, name, inner.trims, inner.calls)
    if name in _TRIMS:
        return Form(inner.column, inner.case, inner.trims | _ends(value), inner.calls)
    if name in _SHORTENING or name.startswith("trunc:"):
        call = (name, value.args[1:])
        calls = inner.calls if inner.calls[-1:] == (call,) else (*inner.calls, call)
        return Form(inner.column, inner.case, inner.trims, calls)
    return None


def _ends(call: Call) -> frozenset[str]:
    for argument in call.args[1:]:
        if isinstance(argument, Lit) and argument.kind == "argument" and argument.value[0] == "position":
            return {"LEADING": frozenset({"start"}), "TRAILING": frozenset({"end"})}.get(argument.value[1], _BOTH)
    return _BOTH


_BOTH = frozenset({"start", "end"})


_OF_CASE = (exp.Upper, exp.Lower, exp.Initcap, exp.Anonymous)
_OF_TRIM = (exp.Trim, exp.Anonymous)


def is_computed(column: Col, statement: MergeStatement, lookup: Lookup, forms: tuple[Form, Form] | None = None) -> bool:
    """Return whether an expression of the source, or of a view, may give a column the form that it is to have.

    With two forms it is to make them alike, as `upper` makes `upper(k)` and `k`; else any expression counts.
    """
    kinds: tuple[type[exp.Expr], ...] = ()
    if forms is not None and forms[0].calls == forms[1].calls:
        kinds = (_OF_CASE if forms[0].case != forms[1].case else ()) + (
            _OF_TRIM if forms[0].trims != forms[1].trims else ()
        )
    values = _definitions(column.name, statement, lookup)
    return any(value.find(*kinds) is not None if kinds else _is_computed_value(value) for value in values)


def is_grouped_by(own: Term, statement: MergeStatement, lookup: Lookup) -> bool:
    """Return whether a query of the source keeps one row for each value of an expression: it is the key itself then."""
    for tree in _trees(statement, lookup):
        items = [item for group in tree.find_all(exp.Group) for item in group.expressions]
        items += [item for window in tree.find_all(exp.Window) for item in window.args.get("partition_by") or ()]
        if any(term(item, column_by_name) == own for item in items):
            return True
    return False


def column_by_name(node: exp.Expr) -> Term | None:
    """Return the column of a node as one of the source, whatever qualifies it."""
    parts = name_parts(node)
    return Col(0, parts[-1].casefold()) if parts else None


def _definitions(name: str, statement: MergeStatement, lookup: Lookup) -> Iterator[exp.Expr]:
    for tree in _trees(statement, lookup):
        yield from (alias.this for alias in tree.find_all(exp.Alias) if alias.alias.casefold() == name.casefold())


def _trees(statement: MergeStatement, lookup: Lookup) -> list[exp.Expr]:
    """The queries of the source, and those of the views that they name."""
    queries = [statement.source.query, *(cte.query for cte in statement.ctes)]
    trees = [query.expression for query in queries if query is not None and query.expression is not None]
    names = [statement.source.parts, *(_parts(table) for tree in trees for table in tree.find_all(exp.Table))]
    views = [table.query for parts in names if parts and (table := lookup(parts)) is not None and table.query]
    return [*trees, *(tree for view in views if (tree := read_query(view).expression) is not None)]


def _parts(table: exp.Table) -> tuple[str, ...]:
    return tuple(part.name for part in table.parts)


def _is_computed_value(value: exp.Expr) -> bool:
    while isinstance(value, exp.AggFunc | exp.Paren | exp.Window | exp.Distinct):
        value = value.this if value.this is not None else value.expressions[0]
    return not isinstance(value, exp.Column | exp.Dot | exp.Literal | exp.Star)
