"""The analysis of a MERGE: its text and the layout of its target give a verdict, with a reason for each condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import product

from merge_runner.formats import Format
from merge_runner.formats.lines import Line
from merge_runner.formats.merge_plans import marks
from merge_runner.formats.registry import FORMATS, capabilities
from merge_runner.merge.split import split
from merge_runner.merge.statement import Clause, Conjunct, MergeStatement
from merge_runner.merge.syntax.placeholder import as_written, has_placeholder, is_placeholder
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.predicate.normalize import predicate
from merge_runner.pruning.predicate.predicate import (
    TRUE,
    Comparison,
    Predicate,
    Some,
    Truth,
    conjunction,
    disjunction,
    parts_of,
)
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.predicate.variables import as_parameters
from merge_runner.pruning.query.source import SourceFacts
from merge_runner.pruning.runtime_filter.bounded_columns import Bounds, derivable_bounds, missing_bound
from merge_runner.pruning.skipping.pruning_result import Outcome, side_of, target_columns
from merge_runner.pruning.skipping.registry import pruning_model
from merge_runner.pruning.verdict import Bound, Condition, Judgement, Verdict, listed

_MORE_CLAUSES = "one of the clauses that are filled in at run time may be WHEN NOT MATCHED BY SOURCE"
_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE needs every row of the target, so it turns all pruning off"


def judge(
    statement: MergeStatement,
    layout: TableLayout,
    scope: Scope,
    bounds: Bounds,
    source: SourceFacts,
    left_out: str | None = None,
) -> Judgement:
    """Return the verdict on how the statement's target scan is bounded.

    `source` is what is known of the source's rows, `bounds` is what the runner may derive when it runs. `left_out` is
    why it derives none of them after all: the verdict is that of the text alone. Where the format is unknown, it is
    said what holds in both, and the rest is unknown.
    """
    on = [(conjunct, predicate(conjunct.expression, scope)) for conjunct in statement.on]
    measured = layout.line.formats
    names = (layout.format,) if layout.format is not None else tuple(measured) or FORMATS
    judgements = []
    for name in names:
        judgement = _Judge(statement, layout.with_format(name), name, scope, bounds, source, left_out).judge(on)
        judgements.append(judgement if name in measured else _unmeasured(judgement, name, layout.line))
    return reduce(_combine, judgements)


class _Judge:
    """Judges one statement in one format."""

    def __init__(
        self,
        statement: MergeStatement,
        layout: TableLayout,
        name: Format,
        scope: Scope,
        bounds: Bounds,
        source: SourceFacts,
        left_out: str | None,
    ) -> None:
        self.statement = statement
        self.layout = layout
        self.format = name
        self.scope = scope
        self.bounds = bounds
        self.source = source
        self.left_out = left_out
        kinds = {clause.kind for clause in statement.clauses}
        self.by_source = "not_matched_by_source" in kinds
        self.model = pruning_model(layout)
        self.when_counts = (
            kinds == {"matched"} and not statement.more_clauses and capabilities(name).when_conditions_prune
        )

        self.fixed_columns: set[str] = set()
        """Columns of the source to which ON gives one value."""

        whole = not (self.by_source or statement.more_clauses)
        self.infers = capabilities(name).infers_through_join and whole and self._joins_plainly()

    def judge(self, conjuncts: Sequence[tuple[Conjunct, Predicate]]) -> Judgement:
        self.fixed_columns = {
            shape.column.column.casefold()
            for _, shape in conjuncts
            if isinstance(shape, Comparison) and shape.column.side == "source" and shape.operator in ("=", "<=>")
        }
        on = tuple(self._condition(conjunct, shape) for conjunct, shape in conjuncts)
        clauses = [_conditions(clause, self.scope) for clause in self.statement.clauses]
        whole = self._whole_of_when(clauses)
        when = tuple(
            tuple(self._in_when(conjunct, shape, whole) for conjunct, shape in conditions) for conditions in clauses
        )
        bounds = derivable_bounds(self.statement, self.layout, self.scope, self.bounds)
        derived = bounds if self.left_out is None else ()
        verdict, reason = self._verdict(on, whole, derived)
        hole = next((conjunct for conjunct, _ in conjuncts if self._is_pasted(conjunct)), None)
        if verdict == "static" and hole is not None:
            verdict = "unknown"
            reason = f"an OR in what `{as_written(hole.text)}` is filled with would let rows past the other conditions"
        on = _with_bounds(on, derived, self.statement)
        if not self.by_source and (verdict == "none" or (verdict == "unknown" and self.left_out is not None)):
            on = tuple(
                self._explain_missing_bound(conjunct, condition, bounds)
                for (conjunct, _), condition in zip(conjuncts, on, strict=True)
            )
            reason += _missing_bounds(on)
        return Judgement(verdict, reason, on, when, bounds, self.left_out)

    def _is_pasted(self, conjunct: Conjunct) -> bool:
        """Whether a condition is filled in whole without its own parentheses: an OR in it reaches past its AND."""
        text, span = self.statement.text, conjunct.span
        enclosed = text[: span.start].rstrip().endswith("(") and text[span.end :].lstrip().startswith(")")
        return is_placeholder(conjunct.text) and not enclosed

    def _condition(self, conjunct: Conjunct, shape: Predicate) -> Condition:
        condition = self._plain(conjunct, shape, self.model.conjunct(shape))
        if self.infers and condition.cause == "join":
            condition = self._infer_constants(condition, conjunct)
        elif self.infers and condition.cause == "or" and condition.side == "both":
            condition = self._extract_from_legs(condition, shape)
        if self.by_source and condition.prunes is not False:
            return replace(condition, prunes=False, cause="by-source", reason=_BY_SOURCE)
        return condition

    def _explain_missing_bound(self, conjunct: Conjunct, condition: Condition, bounds: Sequence[Bound]) -> Condition:
        if condition.cause != "join":
            return condition
        if self.left_out is not None and any(_is_inside(condition, bound) and bound.prunes for bound in bounds):
            return replace(condition, unbounded=self.left_out)
        return replace(condition, unbounded=missing_bound(conjunct, self.layout, self.scope, self.bounds))

    def _joins_plainly(self) -> bool:
        """Whether Spark infers constants through the join of an Iceberg MERGE.

        It does where no clause can meet a row twice: it counts matches otherwise, and that count blocks what it infers.
        """
        matched_clauses = [clause for clause in self.statement.clauses if clause.kind == "matched"]
        if not matched_clauses:
            return True
        lone_delete = (
            len(matched_clauses) == 1 and matched_clauses[0].action == "delete" and matched_clauses[0].condition is None
        )
        return lone_delete and marks(self.format, self.layout.properties)

    def _infer_constants(self, condition: Condition, conjunct: Conjunct) -> Condition:
        """A join on a column that the source restricts by constants: Spark takes these for the target's column too."""
        tree = conjunct.expression
        own = [column.column for column in self.scope.columns(tree) if column.side == "target"] if tree else []
        bound = next(
            iter(derivable_bounds(replace(self.statement, on=(conjunct,)), self.layout, self.scope, own)), None
        )
        if bound is None or not bound.prunes or tree is None:
            return condition
        names = [column.column for column in self.scope.columns(tree) if column.side == "source"]
        if len(names) == 1 and self.source.is_bounded(names[0]):
            reason = (
                f"the source restricts `{names[0]}`, and Spark infers the same for `{bound.column}` in such a MERGE"
            )
            return replace(condition, prunes=True, cause="prunes", reason=reason)
        if len(names) == 1 and names[0].casefold() in self.fixed_columns:
            reason = f"ON gives `{names[0]}` one value: whether Spark infers it for `{bound.column}` is not known"
            return replace(condition, prunes=None, cause="unknown-type", reason=reason)
        return condition

    def _extract_from_legs(self, condition: Condition, shape: Predicate) -> Condition:
        """An OR of both sides: Spark may take out of its legs what each asks of the target."""
        own = _of_target(shape)
        if own is None or self.model.conjunct(own).prunes is False:
            return condition
        reason = "each leg of the OR asks something of the target: whether Spark takes that out is not known"
        return replace(condition, prunes=None, cause="unreadable", reason=reason)

    def _plain(self, conjunct: Conjunct, shape: Predicate, outcome: Outcome) -> Condition:
        side = side_of(shape)
        if outcome.cause == "unreadable" and conjunct.expression is None and has_placeholder(conjunct.text):
            outcome = replace(outcome, reason="a part of it is filled in at run time, and may be any expression")
        legs = tuple(self._plain(conjunct, leg, below) for leg, below in outcome.legs)
        return Condition(
            span=conjunct.span,
            text=conjunct.text,
            side=side,
            prunes=outcome.prunes,
            cause=outcome.cause,
            reason=outcome.reason,
            columns=target_columns(shape),
            filters=side == "target" and not isinstance(shape, Truth),
            pattern=outcome.pattern,
            legs=legs,
        )

    def _whole_of_when(self, clauses: Sequence[Sequence[tuple[Conjunct, Predicate]]]) -> Outcome | None:
        """What the conditions of all clauses together do to the scan; None where they do not count."""
        if not self.when_counts:
            return None
        shapes = []
        for conditions in clauses:
            own = [part for _, condition in conditions for part in parts_of(condition)]
            if any(side_of(part) == "unknown" for part in own):
                return Outcome(None, "unreadable", "a condition of WHEN MATCHED cannot be read")
            shapes.append(conjunction([part for part in own if side_of(part) in ("target", "none")]))
        # Delta joins the clauses' conditions by OR once Spark's optimizer is done: nothing folds any more.
        whole = Some(tuple(shapes)) if TRUE not in shapes and len(shapes) > 1 else disjunction(shapes)
        return None if whole == Truth(value=True) else self.model.whole(whole)

    def _in_when(self, conjunct: Conjunct, shape: Predicate, whole: Outcome | None) -> Condition:
        outcome = self.model.conjunct(shape)
        side = side_of(shape)
        if whole is not None and whole.prunes is False:
            whole = None
        if side == "target" and whole is not None:
            outcome = Outcome(whole.prunes, whole.cause, f"all clauses restrict the target: {whole.reason}")
        elif outcome.prunes is not False and (side in ("target", "unknown") or (side == "both" and whole is None)):
            reason = "a condition of WHEN is asked once the files are read: it skips none"
            cause = "in-when" if outcome.prunes is True else outcome.cause
            outcome = Outcome(False, cause, reason, outcome.pattern)
        return self._plain(conjunct, shape, outcome)

    def _verdict(self, on: Sequence[Condition], whole: Outcome | None, bounds: Sequence[Bound]) -> tuple[Verdict, str]:
        if self.by_source:
            return "none", _BY_SOURCE
        if self.statement.more_clauses and any(condition.prunes is not False for condition in on):
            return "unknown", _MORE_CLAUSES
        for condition in on:
            if condition.prunes is True:
                return "static", condition.reason
        if whole is not None and whole.prunes is True:
            return "static", f"all clauses restrict the target: {whole.reason}"
        pruning = [bound.column for bound in bounds if bound.prunes]
        if pruning:
            names = listed(pruning)
            return "runtime", f"a runtime filter restricts {names} to the values that the source holds"
        for unknown in [*(condition for condition in on if condition.prunes is None), whole]:
            if unknown is not None and unknown.prunes is None:
                return "unknown", unknown.reason
        return "none", "no condition of ON skips a file"


def _missing_bounds(on: Sequence[Condition]) -> str:
    """The end of a reason: why no bounds are derived, where ON joins a column that the table is laid out by."""
    missing: dict[str, list[str]] = {}
    for condition in on:
        if condition.unbounded is not None:
            missing.setdefault(condition.unbounded, []).extend(condition.columns)
    if not missing:
        return ""
    why, columns = next(iter(missing.items()))
    return f", and no bounds are derived for {listed(dict.fromkeys(columns))}: {why}"


def _conditions(clause: Clause, scope: Scope) -> list[tuple[Conjunct, Predicate]]:
    if clause.condition is None:
        return []
    whole = predicate(clause.condition.expression, scope)
    if all(side_of(part) in ("both", "source") and _of_target(part) is None for part in parts_of(whole)):
        return []  # as most are: nothing in it could say more of the target than ON does
    conjuncts = (as_parameters(conjunct, scope) for conjunct in split(clause.condition))
    return [(conjunct, predicate(conjunct.expression, scope)) for conjunct in conjuncts]


def _of_target(shape: Predicate) -> Predicate | None:
    """What an OR of both sides asks of the target in each of its legs; None where a leg asks nothing of it."""
    legs = shape.parts if isinstance(shape, Some) and side_of(shape) == "both" else ()
    own = [conjunction([part for part in parts_of(leg) if side_of(part) == "target"]) for leg in legs]
    return disjunction(own) if own and TRUE not in own else None


def _with_bounds(
    on: tuple[Condition, ...], bounds: Sequence[Bound], statement: MergeStatement
) -> tuple[Condition, ...]:
    """Says at the joins which of them have a runtime filter."""
    conditions = []
    for condition in on:
        bound = next((item for item in bounds if _is_inside(condition, item)), None)
        if bound is not None and bound.prunes and condition.cause == "join":
            values = bound.source.of(statement.text)
            reason = f"a runtime filter restricts `{bound.column}` to the values of {values}"
            conditions.append(replace(condition, reason=reason))
        else:
            conditions.append(condition)
    return tuple(conditions)


def _is_inside(condition: Condition, bound: Bound) -> bool:
    return condition.span.start <= bound.source.start and bound.source.end <= condition.span.end


def _unmeasured(judgement: Judgement, name: Format, line: Line) -> Judgement:
    """The judgement on a line of Spark for which a format has no build: what it would skip there was never seen."""
    reason = f"{capabilities(name).label} has no build for {line}: what a MERGE skips there is not known"

    def unknown(condition: Condition) -> Condition:
        return replace(condition, prunes=None, cause="unknown-layout", reason=reason, legs=(), unbounded=None)

    on = tuple(map(unknown, judgement.on))
    when = tuple(tuple(map(unknown, conditions)) for conditions in judgement.when)
    return Judgement("unknown", reason, on, when)


def _combine(one: Judgement, other: Judgement) -> Judgement:
    """What holds in both formats."""
    on = tuple(_combine_conditions(a, b) for a, b in zip(one.on, other.on, strict=True))
    when = tuple(
        tuple(_combine_conditions(a, b) for a, b in zip(first, second, strict=True))
        for first, second in zip(one.when, other.when, strict=True)
    )
    bounds = tuple(
        replace(mine, prunes=mine.prunes and its.prunes)
        for mine, its in product(one.bounds, other.bounds)
        if (mine.column, mine.source) == (its.column, its.source)
    )
    if one.verdict == other.verdict:
        return Judgement(one.verdict, one.reason, on, when, bounds, one.left_out)
    reason = "it depends on the format of the table, which lint does not know"
    return Judgement("unknown", reason, on, when, bounds, one.left_out)


def _combine_conditions(one: Condition, other: Condition) -> Condition:
    if one.prunes is other.prunes:
        return one
    decided = one if one.prunes is not None else other
    reason = f"it depends on the format of the table, which lint does not know ({decided.reason})"
    return replace(one, prunes=None, cause="unknown-layout", reason=reason)
