"""Comparisons, conditions and calls of terms, in their one form: constants are folded, operands are in order."""

from __future__ import annotations

from collections.abc import Callable

from merge_runner.pruning.logic import constant_value
from merge_runner.pruning.logic.constant_value import FALSE, NULL, TRUE, Lit
from merge_runner.pruning.logic.term import FLIPPED, NEGATED, Call, Col, Term, is_constant

MANY = 1000
"""Values up to which a list is compared one by one."""


def replaced(term: Term, replacement: Callable[[Term], Term | None]) -> Term:
    """The term with each largest part for which there is a replacement exchanged, and folded again."""
    exchange = replacement(term)
    if exchange is not None:
        return exchange
    if isinstance(term, Call):
        arguments = tuple(replaced(argument, replacement) for argument in term.args)
        if arguments != term.args:
            return fold(term.name, arguments)
    return term


def compare_terms(name: str, left: Term, right: Term) -> Term:
    """A comparison, folded where both sides are constants; a constant is on the right."""
    left_constant, right_constant = is_constant(left), is_constant(right)
    if isinstance(left, Lit) and isinstance(right, Lit):
        truth = _truth(name, left, right)
        if truth is not None:
            return truth
    if name == "=" and right == TRUE and isinstance(left, Call) and left.name in _CONDITIONS:
        return left
    if (left_constant and not right_constant) or (left_constant == right_constant and repr(right) < repr(left)):
        name, left, right = FLIPPED[name], right, left
    if name == "<=>" and right == NULL:
        return Call("isnull", (left,))
    if NULL in (left, right):
        return NULL
    if name == "<>" and right in (TRUE, FALSE):
        return Call("=", (left, FALSE if right == TRUE else TRUE))
    return Call(name, (left, right))


def negate_term(term: Term) -> Term:
    """The condition that is true where the given one is false."""
    if isinstance(term, Lit):
        return NULL if term.kind != "bool" else FALSE if term.value else TRUE
    if isinstance(term, Call):
        opposite = _OPPOSITES.get(term.name)
        if opposite is not None:
            return Call(opposite, term.args)
        if term.name == "<=>" and isinstance(term.args[1], Lit):
            # `NULL <=> 1` is false, where `NULL = 1` is NULL: a row with NULL passes the negation, and no opposite
            # comparison alone lets it through.
            return join_terms("or", [Call("isnull", term.args[:1]), compare_terms("<>", *term.args)])
        if term.name in ("and", "or"):
            return join_terms("or" if term.name == "and" else "and", [negate_term(argument) for argument in term.args])
        if term.name == "not":
            return term.args[0]
        if term.name == "opaque":
            return term
    if isinstance(term, Col):
        return Call("=", (term, FALSE))
    return Call("not", (term,))


_OPPOSITES = {**NEGATED, "in": "notin", "notin": "in", "isnull": "notnull", "notnull": "isnull"}
_CONDITIONS = frozenset({*_OPPOSITES, "and", "or", "not", "opaque", "<=>"})


def _truth(name: str, left: Lit, right: Lit) -> Lit | None:
    if NULL in (left, right):
        return Lit("bool", left == right) if name == "<=>" else NULL
    order = constant_value.compare(left, right)
    return None if order is None else Lit("bool", holds(name, order))


def holds(name: str, order: int) -> bool:
    """Whether a comparison is true of two values that are in the given order."""
    return {
        "=": order == 0,
        "<=>": order == 0,
        "<>": order != 0,
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
    }[name]


def join_terms(name: str, parts: list[Term]) -> Term:
    """Return `name` (`and` or `or`) of conditions: flat, and without those that decide nothing."""
    neutral, final = (TRUE, FALSE) if name == "and" else (FALSE, TRUE)
    flat: list[Term] = []
    for part in parts:
        if isinstance(part, Call) and part.name == name:
            flat += part.args
        elif part == final:
            return final
        elif part != neutral:
            flat.append(part)
    if not flat:
        return neutral
    if name == "or" and len(flat) == 2 and (equal := null_safe(*flat) or null_safe(*reversed(flat))) is not None:
        return equal
    return flat[0] if len(flat) == 1 else Call(name, tuple(flat))


def null_safe(equality: Term, both_null: Term) -> Call | None:
    """`a = b OR (a IS NULL AND b IS NULL)` as `a <=> b`."""
    if not (
        isinstance(equality, Call) and equality.name == "=" and isinstance(both_null, Call) and both_null.name == "and"
    ):
        return None
    empty = {part.args[0] for part in both_null.args if isinstance(part, Call) and part.name == "isnull"}
    return Call("<=>", equality.args) if len(both_null.args) == 2 and empty == set(equality.args) else None


def fold(name: str, arguments: tuple[Term, ...]) -> Term:
    """A call of new arguments, folded like those made of text."""
    first = arguments[0] if arguments else NULL
    if name in FLIPPED:
        return compare_terms(name, first, arguments[1])
    if name in ("and", "or"):
        return join_terms(name, list(arguments))
    if name in ("in", "notin"):
        return term_in_list(name, first, arguments[1:])
    if name in ("isnull", "notnull") and isinstance(first, Lit):
        return Lit("bool", (first == NULL) == (name == "isnull"))
    if name == "not":
        return negate_term(first)
    if name == "coalesce":
        return coalesce_terms(arguments)
    if isinstance(first, Lit):
        folded = _fold_call(name, first, arguments)
        if folded is not None:
            return folded
    return Call(name, arguments)


def _fold_call(name: str, first: Lit, arguments: tuple[Term, ...]) -> Lit | None:
    if name.startswith(("cast:", "try_cast:")):
        return constant_value.cast(first, name.partition(":")[2].partition("(")[0])
    if name.startswith("trunc:"):
        return constant_value.truncate(first, name[6:])
    if name == "neg":
        return Lit("number", -first.value) if first.kind == "number" else None
    second = arguments[1] if len(arguments) == 2 else None
    if not isinstance(second, Lit):
        return None
    if name in ("+", "-", "*") and first.kind == second.kind == "number":
        left, right = first.value, second.value
        return Lit("number", left + right if name == "+" else left - right if name == "-" else left * right)
    if name in ("+", "-"):
        return constant_value.plus(first, second, 1 if name == "+" else -1)
    if name == "date_add":
        start = constant_value.cast(first, "date")
        return constant_value.plus(start, second, 1) if start else None
    if name == "add_months" and second.kind == "number":
        start = constant_value.cast(first, "date")
        return constant_value.plus(start, Lit("interval", (int(second.value), 0)), 1) if start else None
    return None


def term_in_list(name: str, subject: Term, values: tuple[Term, ...]) -> Term:
    """Return `name` (`in` or `notin`) of a list of values; a comparison where there is one value."""
    if len(values) == 1:
        return compare_terms("=" if name == "in" else "<>", subject, values[0])
    if isinstance(subject, Lit) and len(values) <= MANY:
        single = [compare_terms("=" if name == "in" else "<>", subject, value) for value in values]
        return join_terms("or" if name == "in" else "and", single)
    return Call(name, (subject, *values))


def coalesce_terms(arguments: tuple[Term, ...]) -> Term:
    """Return COALESCE of terms without NULLs and without what follows a constant."""
    remaining: list[Term] = []
    for argument in arguments:
        if argument == NULL:
            continue
        remaining.append(argument)
        if isinstance(argument, Lit):
            break
    if not remaining:
        return NULL
    return remaining[0] if len(remaining) == 1 else Call("coalesce", tuple(remaining))
