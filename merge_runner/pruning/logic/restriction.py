"""Which columns a condition restricts."""

from __future__ import annotations

from collections.abc import Iterable

from merge_runner.pruning.logic.term import FLIPPED, Call, Col, Term, columns, is_constant
from merge_runner.pruning.logic.time_units import unit_of

COMPARISONS = frozenset({"=", "<", "<=", ">", ">=", "<>"})
STRICT = frozenset({"+", "-", "*", "neg", "date_add", "add_months", "lower", "upper", "abs", "trim"})
"""Functions that give NULL for NULL, besides casts and truncations."""


def restricted_columns(terms: Iterable[Term]) -> set[Col]:
    """The columns that some condition restricts by more than leaving out NULL or single values."""
    restricted: set[Col] = set()
    compared: list[set[Col]] = []
    for term in terms:
        if not isinstance(term, Call) or term.name in ("notnull", "notin", "<>"):
            continue
        own = set(columns(term))
        if term.name in FLIPPED and not any(is_constant(argument) for argument in term.args):
            compared.append(own)
        else:
            restricted |= own
    sharing: dict[Col, list[set[Col]]] = {}
    for own in compared:
        for column in own:
            sharing.setdefault(column, []).append(own)
    todo = list(restricted)
    while todo:
        reached = {column for own in sharing.pop(todo.pop(), ()) for column in own} - restricted
        restricted |= reached
        todo += reached
    return restricted


def strict_column(term: Term) -> Col | None:
    """The one column that a term is made of by functions that give NULL for NULL; itself where it is a column."""
    if isinstance(term, Call) and is_strict(term):
        inner = [argument for argument in term.args if not is_constant(argument)]
        return strict_column(inner[0]) if len(inner) == 1 else None
    return term if isinstance(term, Col) else None


def is_strict(call: Call) -> bool:
    """Return whether a call gives NULL for NULL."""
    return call.name in STRICT or call.name.startswith(("cast:", "try_cast:", "trunc:"))


def is_plain(term: Term) -> bool:
    """Whether a term is a column or constant, or the start of a unit of time or year of one, bounded as that is."""
    if isinstance(term, Call):
        return (unit_of(term) is not None or term.name == "year") and is_plain(term.args[0])
    return True


def inside_functions(condition: Term) -> set[Col]:
    """The columns of a condition inside a function whose values are not known with theirs."""
    if not isinstance(condition, Call):
        return set()
    if condition.name in ("and", "or"):
        return {column for leg in condition.args for column in inside_functions(leg)}
    is_comparison = condition.name in COMPARISONS or condition.name in ("<=>", "in", "notin", "isnull", "notnull")
    return {column for part in condition.args if not (is_comparison and is_plain(part)) for column in columns(part)}
