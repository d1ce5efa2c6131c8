"""What Spark's optimizer leaves of an expression that takes one of several values by constants.

`SimplifyConditionals` and `SimplifyExtractValueOps` of Spark 4.1: an IF or CASE of conditions decided by constants, a
field of a struct. Of values that are no conditions nothing is chosen, since it may be cast to a type of them all.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from merge_runner.pruning.predicate.predicate import Predicate, Truth
from merge_runner.pruning.predicate.shape import is_condition, unwrap

Read = Callable[[exp.Expr], Predicate]
"""What is made of a condition."""


def chosen_value(tree: exp.Expr, read: Read) -> exp.Expr:
    """Return the value that is taken; the tree itself where that is not certain."""
    node: exp.Expr | None = tree
    while node is not None:
        tree = node
        inner = unwrap(tree)
        if isinstance(inner, (exp.If, exp.Case)):
            node = _branch(inner, read)
        elif isinstance(inner, exp.Dot) and isinstance(inner.this, exp.Struct):
            node = _field(inner.this, inner.expression.name)
        else:
            node = None
    return tree


def _branch(tree: exp.If | exp.Case, read: Read) -> exp.Expr | None:
    """The value of the first branch whose condition is true, where no condition before it ever is."""
    if isinstance(tree, exp.Case) and tree.this is not None:
        return None
    is_case = isinstance(tree, exp.Case)
    ifs: list[exp.Expr] = tree.args["ifs"] if is_case else [tree]
    branches: list[tuple[exp.Expr, exp.Expr]] = [(branch.this, branch.args["true"]) for branch in ifs]
    otherwise: exp.Expr | None = tree.args.get("default" if is_case else "false")
    if otherwise is None or not all(_is_boolean(value) for value in (otherwise, *(value for _, value in branches))):
        return None
    for condition, value in branches:
        predicate = read(condition)
        if not isinstance(predicate, Truth) or not predicate.is_known:
            return None
        if predicate.value is True:
            return value
    return otherwise


def _is_boolean(value: exp.Expr) -> bool:
    return isinstance(value, (exp.Boolean, exp.Null)) or is_condition(value)


def _field(struct: exp.Struct, name: str) -> exp.Expr | None:
    """The value of a field of a struct; Spark finds it by its name in any case."""
    values = [
        field.expression
        for field in struct.expressions
        if isinstance(field, exp.PropertyEQ) and field.this.name.casefold() == name.casefold()
    ]
    return values[0] if len(values) == 1 else None
