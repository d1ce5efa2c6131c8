"""Different keys of the source that ON takes for one: by a function, by a type, or by an OR of two keys."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.merge.statement import Conjunct, MergeStatement
from merge_runner.pruning.judge.insert_consistency import SOURCE, TARGET, Matching, on_terms
from merge_runner.pruning.judge.key_functions import (
    Form,
    TypeOf,
    form_of,
    is_computed,
    is_grouped_by,
    is_narrower,
    merging_call,
)
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.logic.canonical import condition
from merge_runner.pruning.logic.term import Call, Col, Term, columns, conjuncts
from merge_runner.pruning.predicate.expression_type import UNKNOWN, Typed
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import Lookup, SourceFacts


@dataclass(frozen=True)
class MergedKeys:
    """Columns of the source whose different values are one key for ON, and the function or type that makes it so."""

    columns: tuple[str, ...]
    by: str


def merged_keys(
    matching: Matching,
    statement: MergeStatement,
    layout: TableLayout,
    scope: Scope,
    source: SourceFacts,
    lookup: Lookup,
) -> MergedKeys | None:
    """Return why several rows of a source without duplicates may have one key of ON; None: nothing is known to.

    A source that computes the column may give the values in one form already.
    """

    def type_of(column: Col) -> Typed:
        column_facts = source.column(column.name)
        return Typed(column_facts.data_type, column_facts.nullable) if column_facts is not None else UNKNOWN

    apart: set[str] = set()
    merged: list[MergedKeys] = []
    for own, other in matching.pairs:
        names = {column.name for column in columns(own)}
        by = _merging_expression(own, other, layout, type_of, statement, lookup)
        if by is None:
            apart |= names
        else:
            merged.append(MergedKeys(tuple(sorted(names)), by))
    distinct = frozenset(apart)
    is_unique = source.is_unique(distinct) or (not matching.null_safe and source.is_unique_not_null(distinct))
    return merged[0] if merged and not is_unique else None


def _merging_expression(
    own: Term, other: Term, layout: TableLayout, type_of: TypeOf, statement: MergeStatement, lookup: Lookup
) -> str | None:
    """What makes different values of the source's side equal, in a word."""
    call = merging_call(own, type_of)
    if call is not None:
        form = form_of(own)
        if is_grouped_by(own, statement, lookup):
            return None
        if form is not None and is_computed(form.column, statement, lookup, (Form(form.column), form)):
            return None
        name = call.name.partition(":")[0]
        return f"{_NAMES.get(name, name)}(…)"
    target_column = layout.column(other.name) if isinstance(other, Col) and not other.path else None
    data_type = type_of(own).data_type if isinstance(own, Col) else None
    if (
        data_type is None
        or target_column is None
        or target_column.data_type is None
        or not target_column.data_type.is_numeric
    ):
        return None
    if not isinstance(own, Col) or not data_type.is_text or is_computed(own, statement, lookup):
        return None
    return (
        f"the comparison of {data_type} with {target_column.data_type}"
        if is_narrower(data_type, target_column.data_type)
        else None
    )


_NAMES = {
    **{"trunc": "date_trunc", "concatws": "concat_ws", "dpipe": "||", "regexpreplace": "regexp_replace"},
    **{"regexpextract": "regexp_extract", "splitpart": "split_part", "try_cast": "cast"},
}


def either_key(statement: MergeStatement, scope: Scope) -> Conjunct | None:
    """Return the condition of ON that joins by one key or by another one; None: there is none.

    Each leg of its OR has an equality of its own between target and source.
    """
    for conjunct in statement.on:
        test = condition(conjunct.expression, on_terms(scope)) if conjunct.expression is not None else None
        if not isinstance(test, Call) or test.name != "or":
            continue
        legs = [{part for part in conjuncts(leg) if _is_tie(part)} for leg in test.args]
        if all(legs) and not set.intersection(*legs):
            return conjunct
    return None


def _is_tie(part: Term) -> bool:
    if not isinstance(part, Call) or part.name not in ("=", "<=>"):
        return False
    sides = [{column.relation for column in columns(side)} for side in part.args]
    return sides in ([{TARGET}, {SOURCE}], [{SOURCE}, {TARGET}])
