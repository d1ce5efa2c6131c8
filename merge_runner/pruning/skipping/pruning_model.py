"""How a table format decides which files a condition of ON skips: one method for each kind of condition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlglot import exp

from merge_runner.formats import Format
from merge_runner.formats.facts.literals import LITERALS, REFUSED_LITERALS
from merge_runner.formats.facts.operators import TEXTS
from merge_runner.formats.facts.statistics import STATISTICS
from merge_runner.formats.lines import Line
from merge_runner.formats.types import DataType
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.predicate.predicate import All, Comparison, Other, Predicate, Some, Truth
from merge_runner.pruning.skipping.pruning_result import (
    Outcome,
    never_or_always,
    outside_the_target,
    quote_column,
    strongest_outcome,
    target_columns,
)
from merge_runner.pruning.skipping.type_coercion import by_cast, by_literal, compared_type, out_of_range
from merge_runner.pruning.verdict import listed


def _repeats_percent(tree: Any) -> bool:
    """Whether a condition is LIKE with a pattern that has %%."""
    return isinstance(tree, exp.Like) and any("%%" in str(literal.this) for literal in tree.find_all(exp.Literal))


def _has_text(predicate: Comparison) -> bool:
    return any(item.data_type is not None and item.data_type.is_text for item in predicate.constants)


@dataclass(frozen=True)
class PruningModel(ABC):
    """The pruning of one table: a format has a subclass, which overrides what it does otherwise.

    `no_statistics` is the reason for a column of a type without smallest and largest value, of its `name` and `type`.
    """

    layout: TableLayout
    format: ClassVar[Format]
    no_statistics: ClassVar[str]

    @property
    def line(self) -> Line:
        """The Spark that merges into the table."""
        return self.layout.line

    def conjunct(self, predicate: Predicate) -> Outcome:
        """Return what a conjunct of ON does to the scan: each of its ANDs prunes by itself."""
        if isinstance(predicate, All):
            return strongest_outcome([(part, self.conjunct(part)) for part in predicate.parts])
        return self.whole(predicate)

    def whole(self, predicate: Predicate) -> Outcome:
        """Return what a condition does that is not split at its ANDs, as those of WHEN clauses."""
        return self.part(predicate)

    def part(self, predicate: Predicate) -> Outcome:
        """Return what a condition does inside another one, or by itself."""
        outside = outside_the_target(predicate)
        if outside is not None:
            return outside
        if isinstance(predicate, Some):
            return self.disjunction(predicate)
        if isinstance(predicate, All):
            return self.conjunction(predicate)
        if isinstance(predicate, Comparison):
            return self.comparison(predicate)
        if isinstance(predicate, Truth):
            raise TypeError(predicate)
        return self.other(predicate)

    @abstractmethod
    def comparison(self, predicate: Comparison) -> Outcome:
        """Return what a comparison of one column with constants does."""

    def conjunction(self, predicate: All) -> Outcome:
        """Return what an AND inside an OR does: one part that prunes is enough."""
        return strongest_outcome([(part, self.part(part)) for part in predicate.parts])

    def disjunction(self, predicate: Some) -> Outcome:
        """Return what an OR does: a leg that keeps every file decides, then one of which that is not known."""
        legs = tuple((leg, self.part(leg)) for leg in predicate.parts)
        for _, leg in legs:
            if leg.prunes is False:
                reason = f"one leg of the OR cannot prune, so the whole does not: {leg.reason}"
                return Outcome(False, "or", reason, "or", legs=legs)
        for _, leg in legs:
            if leg.prunes is None:
                reason = f"one leg of the OR cannot be judged: {leg.reason}"
                return Outcome(None, leg.cause, reason, leg.pattern, legs=legs)
        return Outcome(True, "prunes", "every leg of the OR prunes", legs=legs)

    def other(self, predicate: Other) -> Outcome:
        """Return what a condition does that is no comparison of one column with constants."""
        columns = target_columns(predicate)
        names = listed(columns)
        if predicate.kind == "nullable":
            return Outcome(None, "unknown-type", f"it prunes if {names} cannot be NULL, which lint does not know")
        if predicate.kind == "computed":
            reason = f"the pattern for {names} is computed, and what it begins with is not known"
            return Outcome(None, "unreadable", reason)
        if predicate.kind == "casts":
            reason = f"whether Spark makes one of the casts around {names} is not known"
            return Outcome(None, "unknown-type", reason, "cast")
        if predicate.kind == "columns":
            comparand = "each other" if len(columns) > 1 else "a new value for each row"
            return Outcome(
                False, "columns", f"it compares {names} with {comparand}, not with a constant", predicate.name
            )
        if predicate.kind == "never":
            reason = "NULL is among its values: it is true for no row, but no file is skipped for that"
            return Outcome(False, "negation", reason, "not in")
        if predicate.kind == "negation":
            reason = f"nearly every file holds a value of {names} that passes it"
            return Outcome(False, "negation", reason, predicate.name)
        if predicate.kind == "pattern":
            return Outcome(False, "wrapped", f"{predicate.name} has no fixed beginning to look for", predicate.name)
        reason = f"{names} is inside {predicate.name}: only the bare column can be held against file statistics"
        return Outcome(False, "wrapped", reason, predicate.name)

    def not_null(self, predicate: Comparison) -> Outcome:
        """Return what IS NOT NULL does where the NULLs of the column are counted: of a NOT NULL column it is true."""
        column, name = self.layout.column(predicate.column.column), quote_column(predicate.column)
        if len(predicate.column.path) == 1 and (column is None or column.nullable is None):
            reason = f"it skips files that hold only NULLs, if {name} can be NULL, which lint does not know"
            return Outcome(None, "unknown-type", reason, predicate.operator, pushed=True)
        return Outcome(True, "prunes", f"null counts: files that hold only NULLs in {name} are skipped")

    def by_types(self, predicate: Comparison, data_type: DataType | None) -> Outcome | None:
        """Return what the types of column and constants decide; None where they leave the bare column comparable."""
        name = quote_column(predicate.column)
        if data_type is None:
            useless = self._useless_constant(predicate)
            if useless is not None:
                return Outcome(False, "no-statistics", f"no file is skipped by a {useless}", useless)
            return Outcome(None, "unknown-type", f"the type of {name} is unknown: declare it, or give its layout")
        if STATISTICS.answer(data_type.name, self.format, self.line) != "yes":
            reason = self.no_statistics.format(name=name, type=data_type)
            return Outcome(False, "no-statistics", reason, data_type.name)
        otherwise = self._by_line(predicate, data_type)
        if otherwise is not None:
            return otherwise
        compared = compared_type(predicate, data_type)
        typed = by_cast(predicate, data_type, self.format, self.line)
        typed = typed or by_literal(predicate, compared, self.format, self.line)
        if typed is not None:
            return typed
        passes = out_of_range(predicate, compared)
        return never_or_always(passes, name, data_type) if passes is not None else None

    def _by_line(self, predicate: Comparison, data_type: DataType) -> Outcome | None:
        """Return what this Spark does with a condition that others prune by; None where it is no such condition."""
        patterns, texts = (TEXTS.answer(text, self.format, self.line) == "yes" for text in ("like %%", "in strings"))
        if not patterns and predicate.operator == "startswith" and _repeats_percent(predicate.tree):
            return Outcome(False, "wrapped", f"{self.line} finds no prefix in a pattern with %%", "LIKE")
        if not texts and predicate.operator in ("in", "not in") and not data_type.is_text and _has_text(predicate):
            name = quote_column(predicate.column)
            reason = f"{name} is {data_type}: {self.line} casts it to string to compare it with a list of strings"
            return Outcome(False, "literal-type", reason, "string")
        return None

    def _useless_constant(self, predicate: Comparison) -> str | None:
        """Return the type of the constants where no column that can be compared with it has statistics to use."""
        types = {item.data_type.name if item.data_type is not None else None for item in predicate.constants}
        type_name = types.pop() if len(types) == 1 and predicate.cast is None else None
        if type_name is None or STATISTICS.answer(type_name, self.format, self.line) is None:
            return None
        comparable = {column for column, other in LITERALS.rows if other == type_name} | {type_name}
        useful = (
            STATISTICS.answer(column, self.format, self.line) == "yes"
            and (column == type_name or LITERALS.answer((column, type_name), self.format, self.line) == "yes")
            for column in comparable
            if (column, type_name) not in REFUSED_LITERALS
        )
        return None if any(useful) else type_name
