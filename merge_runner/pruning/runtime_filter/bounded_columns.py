"""Which columns of the target the runner can bound by the values that the source holds when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from sqlglot import exp

from merge_runner.formats.functions import CLOCK, NON_DETERMINISTIC, SCALAR
from merge_runner.formats.types import DataType
from merge_runner.merge.split import equality_sides
from merge_runner.merge.statement import Conjunct, MergeStatement
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.layout.statistics import leaf_type
from merge_runner.pruning.predicate.constant_folding import Constant
from merge_runner.pruning.predicate.expression_type import Typed, expression_type
from merge_runner.pruning.predicate.predicate import Comparison, Predicate, disjunction
from merge_runner.pruning.predicate.scope import ColumnRef, Scope
from merge_runner.pruning.skipping.pruning_result import Outcome
from merge_runner.pruning.skipping.registry import pruning_model
from merge_runner.pruning.verdict import Bound, listed

Bounds = Literal["auto", "off", "not-run"] | Sequence[str]
"""The config key: `auto`, `off`, or the columns to bound whatever the layout; `not-run`: nothing runs the text."""

_NONE = {"off": "`bounds` is off", "not-run": "only a model that merge-runner runs gets a runtime filter"}


def derivable_bounds(statement: MergeStatement, layout: TableLayout, scope: Scope, bounds: Bounds) -> tuple[Bound, ...]:
    """The bounds that equalities at the top of ON imply: by which the engine skips files, or of columns that are named.

    There are none where a WHEN NOT MATCHED BY SOURCE clause turns pruning off.
    """
    if (isinstance(bounds, str) and bounds in _NONE) or any(
        clause.kind == "not_matched_by_source" for clause in statement.clauses
    ):
        return ()
    return tuple(bound for conjunct in statement.on for bound in _bound(conjunct, layout, scope, bounds))


def _bound(conjunct: Conjunct, layout: TableLayout, scope: Scope, bounds: Bounds) -> Iterator[Bound]:
    tree = conjunct.expression
    if not isinstance(tree, (exp.EQ, exp.NullSafeEQ)):
        return
    sides = equality_sides(conjunct)
    if sides is None:
        return
    null_safe = isinstance(tree, exp.NullSafeEQ)
    for column, values, span in ((tree.left, tree.right, sides[1]), (tree.right, tree.left, sides[0])):
        reference = scope.reference(column)
        if reference is None or reference.side != "target" or len(reference.path) != 1:
            continue
        if scope.side(values) != "source" or not _is_deterministic(values):
            continue
        if not _is_bounded(reference.column, layout, bounds):
            continue
        prunes = _prunes(reference, values, null_safe, layout, scope)
        if prunes or bounds != "auto":
            yield Bound(reference.column, span, null_safe, prunes)


def missing_bound(conjunct: Conjunct, layout: TableLayout, scope: Scope, bounds: Bounds) -> str | None:
    """Return why a join on a column that the table is laid out by bounds no column; None where ON joins no such column.

    It is for a conjunct that `derivable_bounds` has nothing of, in a statement without WHEN NOT MATCHED BY SOURCE.
    """
    tree = conjunct.expression
    if tree is None:
        return None
    own = (ref for ref in scope.columns(tree) if ref.side == "target")
    reference = next((ref for ref in own if layout.is_laid_out(ref.column)), None)
    if reference is None:
        return None
    if isinstance(bounds, str) and bounds in _NONE:
        return _NONE[bounds]
    if bounds != "auto" and not _is_bounded(reference.column, layout, bounds):
        return f"`bounds` names {listed(bounds)} only"
    return _why_not(conjunct, tree, reference, layout, scope)


def _why_not(conjunct: Conjunct, tree: exp.Expr, column_in_join: ColumnRef, layout: TableLayout, scope: Scope) -> str:
    sides = equality_sides(conjunct)
    text = f"`{' '.join(conjunct.text.split())}`"
    if sides is None or not isinstance(tree, (exp.EQ, exp.NullSafeEQ)):
        return f"{text} is no plain equality"
    for column, values in ((tree.left, tree.right), (tree.right, tree.left)):
        reference = scope.reference(column)
        if reference is None or reference != column_in_join:
            continue
        if len(reference.path) > 1:
            return f"`{reference.dotted}` is a field of a struct"
        if scope.side(values) != "source":
            return f"the other side of {text} is not made of the source's columns alone"
        if not _is_deterministic(values):
            return f"the other side of {text} may be another value each time that it is computed"
        null_safe = isinstance(tree, exp.NullSafeEQ)
        return (
            f"a list of values does not prune it: {_listed_values(reference, values, null_safe, layout, scope).reason}"
        )
    return f"it is inside an expression in {text}, and only the bare column can be bounded"


def _is_bounded(name: str, layout: TableLayout, bounds: Bounds) -> bool:
    """Whether the column is to be bounded."""
    if bounds != "auto":
        return name.casefold() in {str(item).casefold() for item in bounds}
    return layout.is_laid_out(name)


def _prunes(column: ColumnRef, values: exp.Expr, null_safe: bool, layout: TableLayout, scope: Scope) -> bool:
    """Whether a list of the values in ON makes the engine skip files, for certain.

    Values whose type is not known are taken to be of the column's: the runner has them before it writes the list.
    """
    own = leaf_type(layout, column.path)
    if own is None:
        format = layout.capabilities
        any_transform = format is not None and format.partition_transforms
        is_field = layout.partition_field(column.column) is not None
        return (any_transform and is_field) or layout.is_partition(column.column) is True
    return _listed_values(column, values, null_safe, layout, scope).prunes is True


def _listed_values(column: ColumnRef, values: exp.Expr, null_safe: bool, layout: TableLayout, scope: Scope) -> Outcome:
    """What a list of the values in ON does to the scan."""
    value = Constant(_source_type(values, scope) or leaf_type(layout, column.path))
    tests: list[Predicate] = [Comparison(column, "in", (value, value))]
    target_column = layout.column(column.column)
    if null_safe and (target_column is None or target_column.nullable is not False):
        tests.append(Comparison(column, "is null"))
    return pruning_model(layout).conjunct(disjunction(tests))


def _source_type(values: exp.Expr, scope: Scope) -> DataType | None:
    """The type of an expression on the source's side; None where it is not known."""
    types = (
        {column.name.casefold(): Typed(column.data_type) for column in scope.source.columns or ()}
        if scope.source.complete
        else {}
    )

    def typed(node: exp.Expr) -> Typed:
        reference = scope.reference(node)
        if reference is None or len(reference.path) > 1:
            return Typed()
        return types.get(reference.column.casefold(), Typed())

    return expression_type(values, typed).data_type


def _is_deterministic(tree: exp.Expr) -> bool:
    """Whether it gives the same for the same row, in another statement as well."""
    for node in tree.walk():
        if isinstance(node, (exp.Subquery, exp.Select, exp.Dot)):
            return False
        if isinstance(node, exp.Anonymous):
            if node.name.lower() not in SCALAR:
                return False
        elif isinstance(node, exp.Func) and node.sql_name().lower() in NON_DETERMINISTIC | CLOCK:
            return False
    return True
