"""What a condition does to a scan, before it is placed in a statement; and what the formats have in common."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.formats.types import DataType
from merge_runner.pruning.predicate.predicate import Other, Predicate, Some, Truth, columns_of
from merge_runner.pruning.predicate.scope import ColumnRef, is_qualified_variable
from merge_runner.pruning.verdict import Cause, Side, listed


@dataclass(frozen=True)
class Outcome:
    """Whether a condition prunes, and why. `pattern` is the obstacle.

    `pushed`: the format reads it, though it does not prune, so that the conditions next to it still do.
    """

    prunes: bool | None
    cause: Cause
    reason: str
    pattern: str = ""
    pushed: bool = False
    legs: tuple[tuple[Predicate, Outcome], ...] = ()


def side_of(predicate: Predicate) -> Side:
    """Which side the columns of a predicate belong to."""
    if isinstance(predicate, Other) and predicate.kind == "unreadable":
        return "unknown"
    sides = {column.side for column in columns_of(predicate)}
    if not sides:
        return "none"
    if {"target", "source"} <= sides or "both" in sides:
        return "both"
    if "unknown" in sides:
        return "unknown"
    return next(iter(sides))


def target_columns(predicate: Predicate) -> tuple[str, ...]:
    """Names of the target's columns in a predicate, each once."""
    names = {column.column.casefold(): column.column for column in columns_of(predicate) if column.side == "target"}
    return tuple(names.values())


def outside_the_target(predicate: Predicate) -> Outcome | None:
    """What holds in every format: constants, conditions on the source, on both sides, and what cannot be read."""
    if isinstance(predicate, Truth):
        return _truth(predicate)
    side = side_of(predicate)
    if isinstance(predicate, Other) and predicate.kind == "forbidden":
        return Outcome(False, "forbidden", f"{predicate.name} is not allowed in a condition of a MERGE", predicate.name)
    if isinstance(predicate, Other) and predicate.kind == "unreadable":
        return Outcome(None, "unreadable", "lint cannot read this expression")
    if side == "source":
        return Outcome(False, "source-only", "it names the source alone, so it skips no file of the target")
    if side == "none":
        return Outcome(None, "unreadable", "it names no column of the target, and its value is known at run time only")
    if side == "unknown":
        column = next(column for column in columns_of(predicate) if column.side == "unknown")
        reason = f"`{column.dotted}` may belong to target or source: qualify it with the target's alias"
        if column.variable is not None:
            reason = _of_variable(column)
        elif is_qualified_variable(column.path):
            first = column.column
            reason = f"`{column.dotted}` is a session variable unless target or source have a column `{first}`"
        return Outcome(None, "unreadable", reason)
    if side == "both" and isinstance(predicate, Some):
        return Outcome(False, "or", "a leg of the OR names the source, so the whole skips no file", "mixed")
    if side == "both" and isinstance(predicate, Other):
        return _both_sides(predicate)
    return None


def _of_variable(column: ColumnRef) -> str:
    """Why a name that is declared as a variable is not certain to be it: columns come first."""
    if column.variable == "session" and len(column.path) == 1:
        return f"`{column.dotted}` is a column, or the variable `session.{column.dotted}`: say which"
    return f"`{column.dotted}` is a column, or a variable of the script: list the columns of the source in USING"


def _truth(predicate: Truth) -> Outcome:
    if not predicate.is_known:
        return Outcome(None, "unreadable", "it names no column, and its value is known at run time only")
    if predicate.value is True:
        return Outcome(False, "always-true", "it is true for every row, so it excludes nothing")
    return Outcome(True, "always-false", "it is true for no row, so no file is read")


def never_or_always(passes: bool, name: str, data_type: DataType) -> Outcome:
    """What a comparison with a number that the type cannot hold does."""
    if passes:
        return Outcome(False, "always-true", f"every value of {name}, {data_type}, passes it: it excludes nothing")
    return Outcome(True, "always-false", f"no value of {name}, {data_type}, passes it: no file is read")


def _both_sides(predicate: Other) -> Outcome:
    columns = target_columns(predicate)
    names = listed(columns) or "the target"
    if predicate.name == "=":
        reason = f"it joins {names} to the source: which values match is known only when the source is read"
        return Outcome(False, "join", reason)
    reason = f"it compares {names} with the source, whose values are known only when it is read"
    return Outcome(False, "both-sides", reason)


def quote_column(column: ColumnRef) -> str:
    """A column as messages name it."""
    return f"`{column.dotted}`"


def strongest_outcome(outcomes: list[tuple[Predicate, Outcome]]) -> Outcome:
    """The outcome of conditions that AND joins: one that prunes is enough."""
    for prunes in (True, None, False):
        for _, outcome in outcomes:
            if outcome.prunes is prunes:
                return outcome
    raise ValueError("no conditions")
