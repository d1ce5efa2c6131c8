"""Expressions in one form as values: columns, constants and calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from merge_runner.pruning.logic.constant_value import Lit


class Col(NamedTuple):
    """A column: its name case folded, and the names of the fields below it. `relation` 0 is the output of a query."""

    relation: int
    name: str
    path: tuple[str, ...] = ()


class Call(NamedTuple):
    """Anything that is made of other terms: a function, an operator, a condition.

    Conditions are `and`, `or`, `=`, `<=>`, `<>`, `<`, `<=`, `>`, `>=`, `in`, `notin` (a term, then the constants),
    `isnull`, `notnull`, `not`, and `opaque`: one that cannot be read, with the columns in it.
    """

    name: str
    args: tuple[Term, ...]


Term = Col | Lit | Call
FLIPPED = {"=": "=", "<=>": "<=>", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
NEGATED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The conditions that a condition joins by AND."""
    return term.args if isinstance(term, Call) and term.name == "and" else (term,)


def columns(term: Term) -> Iterator[Col]:
    """The columns of a term, each as often as it is there."""
    if isinstance(term, Col):
        yield term
    elif isinstance(term, Call):
        for argument in term.args:
            yield from columns(argument)


def is_constant(term: Term) -> bool:
    """Whether no column is in the term."""
    return isinstance(term, Lit) or next(columns(term), None) is None


def has_opaque(term: Term) -> bool:
    """Return whether a part of the term is a condition that could not be read."""
    return isinstance(term, Call) and (term.name == "opaque" or any(has_opaque(part) for part in term.args))
