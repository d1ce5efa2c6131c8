"""Keys that the source makes again in each run: no row keeps its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from merge_runner.formats.functions import NON_DETERMINISTIC
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.judge.visible_queries import computed_by
from merge_runner.pruning.predicate.join_keys import join_keys
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.source import Lookup
from merge_runner.text import Span

_TIME = "current_timestamp"
_NUMBERING = frozenset({"monotonically_increasing_id", "row_number"})


@dataclass(frozen=True)
class RemadeKey:
    """A column of the target that ON, or INSERT, takes from what is another value in each run.

    `at` is the source's side of ON, or the value in INSERT. `numbers`: the rows are numbered as they come, so that a
    number is another row's as soon as one is added; else the value is never the same again.
    """

    column: str
    at: Span
    by: str
    numbers: bool


def remade_keys(statement: MergeStatement, scope: Scope, lookup: Lookup) -> Iterator[RemadeKey]:
    """The keys of ON that USING, or INSERT, computes by a random value, a number of rows or the time.

    A MERGE that only inserts, with its time as the key, appends to a log on purpose.
    """
    is_log = statement.merge_class == "insert-only"
    for key in join_keys(statement.on, scope):
        names = {ref.column for ref in scope.columns(key.source) if ref.side == "source"}
        values = [value for name in names for value in computed_by(name, statement, lookup)]
        functions = [by for value in values if (by := _computing_function(value)) is not None]
        if is_log and _TIME in functions:
            continue
        if functions and len(functions) == len(values):
            yield RemadeKey(key.column.column, key.source_span, f"{functions[0]}()", functions[0] in _NUMBERING)
            continue
        for clause in statement.clauses:
            for assignment in clause.assignments if clause.action == "insert" else ():
                tree, name = assignment.value.expression, assignment.column[-1].casefold()
                by = _computing_function(tree) if tree is not None and name == key.column.column.casefold() else None
                if by is not None:
                    yield RemadeKey(key.column.column, assignment.value.span, f"{by}()", by in _NUMBERING)


def _computing_function(value: exp.Expr) -> str | None:
    """The function that gives an expression another value in each run, whatever the row holds."""
    inner = value
    while isinstance(inner, exp.Cast | exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.CurrentTimestamp):
        return _TIME
    windows = list(value.find_all(exp.Window))
    if any(window.args.get("partition_by") for window in windows):
        return None
    if any(column.find_ancestor(exp.Window) is None for column in value.find_all(exp.Column)):
        return None
    for node in value.find_all(exp.Func):
        name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).casefold()
        if name in NON_DETERMINISTIC or (name == "row_number" and isinstance(node.parent, exp.Window)):
            return name
    return None
