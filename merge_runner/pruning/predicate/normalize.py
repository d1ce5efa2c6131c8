"""Reads a condition's tree as Spark's optimizer leaves it: NOT pushed inward, constants folded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from merge_runner.formats.types import DataType
from merge_runner.pruning.predicate.chosen_value import chosen_value
from merge_runner.pruning.predicate.constant_folding import CASTS, Constant, constant
from merge_runner.pruning.predicate.predicate import (
    FALSE,
    NEGATED,
    TRUE,
    All,
    Comparison,
    Operator,
    Other,
    Predicate,
    Some,
    Truth,
    conjunction,
    disjunction,
)
from merge_runner.pruning.predicate.scope import ColumnRef, Scope
from merge_runner.pruning.predicate.shape import (
    MIRRORED,
    boolean_case,
    compared_constants,
    comparison_operator,
    function_name,
    is_cast,
    is_condition,
    iter_legs,
    truth_of,
    unwrap,
)
from merge_runner.pruning.predicate.spark_type import spark_type

_DEEPEST = 400
"""Levels of a condition that are looked into; Spark's own parser gives up at 300 to 500 parentheses."""


def predicate(tree: exp.Expr | None, scope: Scope) -> Predicate:
    """What Spark's optimizer makes of a condition. An opaque one (None) is `unreadable`."""
    return Other("unreadable", ()) if tree is None else scope.once(_predicate, tree, scope)


def _predicate(tree: exp.Expr, scope: Scope) -> Predicate:
    try:
        return _Reader(scope).read(tree, False, 0)
    except RecursionError:
        return Other("unreadable", ())


class _Reader:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def read(self, tree: exp.Expr, negated: bool, depth: int) -> Predicate:
        """The predicate of a tree, or of its negation."""
        if depth > _DEEPEST:
            raise RecursionError
        if isinstance(tree, exp.Paren):
            return self.read(tree.this, negated, depth + 1)
        if isinstance(tree, exp.Not):
            return self.read(tree.this, not negated, depth + 1)
        if isinstance(tree, (exp.And, exp.Or)):
            parts = [self.read(leg, negated, depth + 1) for leg in iter_legs(tree, type(tree))]
            return conjunction(parts) if isinstance(tree, exp.And) is not negated else disjunction(parts)
        if isinstance(tree, exp.Between):
            return self._between(tree, negated, depth)
        branch = self._chosen(tree, depth)
        if branch is not tree:
            return self.read(branch, negated, depth + 1)
        folded = constant(tree)
        if folded is not None:
            return truth_of(folded, negated)
        tested = self._equals_truth(tree)
        if tested is not None:
            return self.read(tested[0], negated is tested[1], depth + 1)
        tested = self._asks_truth(tree)
        if tested is not None:
            inner = self.read(tested[0], negated is tested[1], depth + 1)
            never_null = self._is_never_null(inner)
            if never_null is not False:
                return inner if never_null else self._other("nullable", tree, function_name(tree))
        return self._leaf(tree, negated is not bool(tree.args.get("negate")))

    def _chosen(self, tree: exp.Expr, depth: int = 0) -> exp.Expr:
        """What is left of an IF, CASE or struct of which one value is taken."""
        if not isinstance(tree, (exp.If, exp.Case, exp.Dot)):
            return tree
        return chosen_value(tree, lambda condition: self.read(condition, False, depth + 1))

    def _equals_truth(self, tree: exp.Expr) -> tuple[exp.Expr, bool] | None:
        """The condition of `(condition) = true`, and what it is to be; None for anything else."""
        if isinstance(tree, (exp.EQ, exp.NEQ)):
            for inner, other in ((tree.left, tree.right), (tree.right, tree.left)):
                if isinstance(other, exp.Boolean) and is_condition(inner):
                    return inner, bool(other.this) is isinstance(tree, exp.EQ)
        return None

    def _asks_truth(self, tree: exp.Expr) -> tuple[exp.Expr, bool] | None:
        """The same of what differs from a condition where that is NULL only: IS TRUE, `coalesce(…, false)`, CASE."""
        inner, value = boolean_case(tree)
        if isinstance(tree, (exp.Is, exp.NullSafeEQ)):
            inner, value = tree.this, tree.expression
            if isinstance(inner, exp.Boolean):
                inner, value = value, inner
        elif isinstance(tree, exp.Coalesce) and len(tree.expressions) == 1:
            inner, value = tree.this, exp.true() if isinstance(tree.expressions[0], exp.Boolean) else None
        if not isinstance(value, exp.Boolean) or inner is None or not is_condition(inner):
            return None
        return inner, bool(value.this)

    def _is_never_null(self, predicate: Predicate) -> bool | None:
        """Whether a condition is TRUE or FALSE for every row, so that Spark drops a question for NULL."""
        if isinstance(predicate, Truth):
            return predicate.is_known and predicate.value is not None
        if isinstance(predicate, Other):
            if predicate.kind in ("nullable", "casts"):
                return None
            return predicate.name == "IS" and predicate.kind in ("negation", "wrapped")
        if isinstance(predicate, (All, Some)):
            answers = [self._is_never_null(part) for part in predicate.parts]
            return False if False in answers else None if None in answers else True
        if predicate.operator in ("is null", "is not null", "<=>", "not <=>"):
            return True
        plain = predicate.cast is None and predicate.function is None and len(predicate.column.path) == 1
        if not plain or any(item.is_null for item in predicate.constants):
            return False
        column = self.scope.target.column(predicate.column.column) if predicate.column.side == "target" else None
        if column is None or column.nullable is not False:
            return None if column is None or column.nullable is None else False
        return True if all(item.is_known for item in predicate.constants) else None

    def _between(self, tree: exp.Between, negated: bool, depth: int) -> Predicate:
        low = self._leaf(exp.GTE(this=tree.this.copy(), expression=tree.args["low"].copy()), negated)
        high = self._leaf(exp.LTE(this=tree.this.copy(), expression=tree.args["high"].copy()), negated)
        return disjunction([low, high]) if negated else conjunction([low, high])

    def _leaf(self, tree: exp.Expr, negated: bool) -> Predicate:
        if any(isinstance(node, (exp.Subquery, exp.Select, exp.Exists)) for node in tree.walk()):
            return self._other("forbidden", tree, "a subquery")
        operator = comparison_operator(tree)
        if operator is not None:
            return self._comparison(tree, operator, negated)
        if isinstance(tree, exp.In):
            return self._in(tree, negated)
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
            return self._against(tree.this, "is not null" if negated else "is null", (), tree)
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Boolean):
            value = Constant(DataType("boolean"), bool(tree.expression.this), is_known=True)
            if self.scope.reference(unwrap(tree.this)) is not None:
                return self._against(tree.this, "not <=>" if negated else "<=>", (value,), tree)
            return self._other("negation" if negated else "wrapped", tree, "IS")
        if (
            isinstance(tree, exp.Anonymous)
            and tree.name.lower() in ("isnull", "isnotnull")
            and len(tree.expressions) == 1
        ):
            asks_null = (tree.name.lower() == "isnull") is not negated
            return self._against(tree.expressions[0], "is null" if asks_null else "is not null", (), tree)
        if isinstance(tree, exp.Like):
            return self._likes(tree, negated)
        if isinstance(tree, exp.StartsWith):
            prefix = constant(tree.expression)
            if prefix is not None:
                return self._against(tree.this, "not like" if negated else "startswith", (prefix,), tree)
        reference = self.scope.reference(tree)
        if reference is not None:  # a boolean column by itself
            return Comparison(reference, "=", (Constant(DataType("boolean"), not negated, is_known=True),), tree=tree)
        return self._other("wrapped", tree, function_name(tree))

    def _comparison(self, tree: exp.Expr, operator: Operator, negated: bool) -> Predicate:
        left, right = self._chosen(unwrap(tree.this)), self._chosen(unwrap(tree.expression))
        left_constant, right_constant = constant(left), constant(right)
        if left_constant is not None and right_constant is not None:
            return compared_constants(left_constant, operator, right_constant, negated)
        if left_constant is not None:
            left, right_constant = right, left_constant
            operator = MIRRORED.get(operator, operator)
        if right_constant is not None:
            if right_constant.is_null and operator == "<=>":
                predicate = self._against(left, "is not null" if negated else "is null", (), tree)
                data_type = right_constant.data_type
                typed = (
                    isinstance(predicate, Comparison)
                    and predicate.cast is None
                    and data_type
                    and data_type.name != "void"
                )
                return replace(predicate, cast=data_type) if isinstance(predicate, Comparison) and typed else predicate
            if right_constant.is_null:
                return Truth(None)
            return self._against(left, NEGATED[operator] if negated else operator, (right_constant,), tree)
        first, second = self.scope.reference(unwrap(left)), self.scope.reference(unwrap(right))
        if first is not None and first == second and operator in ("=", "<=", ">=", "<=>"):
            return self._with_itself(first, operator, negated, tree)
        if self.scope.side(tree) == "both":
            equal = operator in ("=", "<=>")
            predicate = self._other("two-sides", tree, "=" if equal and not negated else operator)
            # `t.id = s.id` and `s.id = t.id` say the same, and are a factor that legs of an OR can have in common.
            return replace(predicate, tree=(operator, frozenset((left, right)))) if equal else predicate
        return self._other("columns", tree, operator)

    def _with_itself(self, column: ColumnRef, operator: Operator, negated: bool, tree: exp.Expr) -> Predicate:
        """`t.k = t.k`: true, but for NULL."""
        target_column = (
            self.scope.target.column(column.column) if column.side == "target" and len(column.path) == 1 else None
        )
        if operator == "<=>" or (target_column is not None and target_column.nullable is False):
            return FALSE if negated else TRUE
        return self._other("columns", tree, operator)

    def _in(self, tree: exp.In, negated: bool) -> Predicate:
        values = tree.expressions
        constants = [constant(value) for value in values]
        if not values or any(item is None for item in constants):
            left = self.scope.side(tree)
            return self._other("two-sides" if left == "both" else "columns", tree, "IN")
        listed_values = tuple(item for item in constants if item is not None and not item.is_null)
        if not listed_values:
            return Truth(None)
        if negated and len(listed_values) < len(constants):
            return self._other("never", tree, "NOT IN")
        operator: Operator = "not in" if negated else "in"
        distinct = {item.value if item.is_known else object() for item in listed_values}
        if len(distinct) == 1 and len(listed_values) == len(constants):  # next to NULL it stays a list
            operator = "<>" if negated else "="
            listed_values = listed_values[:1]
        folded = constant(tree.this)
        if folded is not None:
            return Truth(None, is_known=False)
        return self._against(tree.this, operator, listed_values, tree)

    def _likes(self, tree: exp.Like, negated: bool) -> Predicate:
        """LIKE, and LIKE ALL and ANY of several patterns; `x NOT LIKE ANY (…)` asks for one that does not match."""
        several = tree.expression
        if not isinstance(several, (exp.All, exp.Any)):
            return self._like(tree, tree.expression, negated)
        patterns = several.this.expressions if isinstance(several.this, exp.Tuple) else [unwrap(several.this)]
        parts = [self._like(tree, pattern, negated) for pattern in patterns]
        around = negated is not bool(tree.args.get("negate"))
        return conjunction(parts) if isinstance(several, exp.All) is not around else disjunction(parts)

    def _like(self, tree: exp.Like, against: exp.Expr, negated: bool) -> Predicate:
        """LIKE as Spark simplifies it: a prefix, an exact text, a prefix with a suffix."""
        pattern = constant(against)
        if pattern is not None and pattern.is_null:
            return Truth(None)
        if pattern is None or not pattern.is_known or not isinstance(pattern.value, str):
            return self._other("pattern" if pattern is None or negated else "computed", tree, "LIKE")
        text = pattern.value
        head, percent, tail = text.partition("%")
        tail = tail.lstrip("%")
        other = self._other("negation" if negated else "pattern", tree, f"LIKE '{text}'")
        if "_" in text or "\\" in text or "%" in tail or (percent and not head):
            return other
        if not percent:
            return self._against(tree.this, "<>" if negated else "=", (pattern,), tree)
        prefix = (Constant(DataType("string"), head, is_known=True),)
        if not tail:
            return self._against(tree.this, "not like" if negated else "startswith", prefix, tree)
        return other if negated else conjunction([self._against(tree.this, "startswith", prefix, tree), other])

    def _against(
        self, tree: exp.Expr, operator: Operator, constants: tuple[Constant, ...], whole: exp.Expr
    ) -> Predicate:
        """A comparison of `tree` with constants: of a column, of a cast or a call around one, or of anything else."""
        inner = self._plain(self._chosen(unwrap(tree)))
        reference = self.scope.reference(inner)
        if reference is not None:
            return self._checked(Comparison(reference, operator, constants, tree=whole))
        if isinstance(inner, exp.Anonymous) and len(inner.expressions) == 1 and inner.name.lower() in CASTS:
            below = self.scope.reference(unwrap(inner.expressions[0]))
            if below is not None:
                return Comparison(below, operator, constants, cast=CASTS[inner.name.lower()], tree=whole)
            if is_cast(unwrap(inner.expressions[0])):
                return self._other("casts", whole, "cast")
        if isinstance(inner, (exp.Cast, exp.TryCast, exp.TsOrDsToDate)):
            below = self.scope.reference(self._plain(unwrap(inner.this)))
            to = DataType("date") if isinstance(inner, exp.TsOrDsToDate) else spark_type(inner.to)
            is_date = isinstance(inner, exp.TsOrDsToDate) and not inner.args.get("format")
            if below is not None and to is not None and (is_date or not isinstance(inner, exp.TsOrDsToDate)):
                safe = isinstance(inner, exp.TryCast)
                return Comparison(
                    below, operator, constants, cast=to, function="try_cast" if safe else None, tree=whole
                )
            if is_cast(self._plain(unwrap(inner.this))):
                return self._other("casts", whole, "cast")
        if isinstance(inner, exp.Coalesce) and self._may_drop(inner):
            return self._other("nullable", whole, "coalesce")
        call = self._transform(inner)
        if call is not None:
            column, name, parameter = call
            return Comparison(column, operator, constants, function=name, parameter=parameter, tree=whole)
        return self._other("wrapped", whole, function_name(inner))

    def _checked(self, comparison: Comparison) -> Predicate:
        """IS NULL and IS NOT NULL of a column that cannot be NULL are no question."""
        reference = comparison.column
        if (
            comparison.operator in ("is null", "is not null")
            and reference.side == "target"
            and len(reference.path) == 1
        ):
            column = self.scope.target.column(reference.column)
            if column is not None and column.nullable is False:
                return TRUE if comparison.operator == "is not null" else FALSE
        return comparison

    def _plain(self, tree: exp.Expr) -> exp.Expr:
        """What is left of `coalesce(column, …)` where the column cannot be NULL: Spark drops the call."""
        if isinstance(tree, exp.Coalesce):
            first: exp.Expr = tree.this
            reference = self.scope.reference(first)
            if reference is not None and not tree.expressions:
                return first
            column = self.scope.target.column(reference.column) if reference and reference.side == "target" else None
            if column is not None and column.nullable is False and reference is not None and len(reference.path) == 1:
                return first
        return tree

    def _may_drop(self, tree: exp.Coalesce) -> bool:
        """Whether Spark may drop a coalesce, for all that is known of its column."""
        reference = self.scope.reference(tree.this)
        if reference is None or reference.side != "target":
            return False
        column = self.scope.target.column(reference.column)
        return column is None or column.nullable is None

    def _transform(self, tree: exp.Expr) -> tuple[ColumnRef, str, int | None] | None:
        """Iceberg's `system.days(t.ts)`, `catalog.system.bucket(8, t.id)`: the column, the transform and its number."""
        if not isinstance(tree, exp.Dot) or not isinstance(tree.expression, exp.Anonymous):
            return None
        namespace = tree.this
        last = namespace.expression if isinstance(namespace, exp.Dot) else namespace
        if not isinstance(last, exp.Identifier) or last.name.lower() != "system":
            return None
        call = tree.expression
        references = [reference for part in call.expressions if (reference := self.scope.reference(part)) is not None]
        numbers = [int(part.name) for part in call.expressions if isinstance(part, exp.Literal) and part.name.isdigit()]
        if len(references) != 1 or len(references) + len(numbers) != len(call.expressions):
            return None
        return references[0], call.name.lower(), numbers[0] if numbers else None

    def _other(self, kind: Any, tree: exp.Expr, name: str) -> Other:
        return Other(kind, tuple(self.scope.columns(tree)), name, tree)
