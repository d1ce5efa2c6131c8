"""Which values of SET grow with each run: those that add to what the target holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from merge_runner.merge.statement import Assignment, Clause, Expr, MergeStatement
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.predicate.tautology import Path, assigned
from merge_runner.sql.names import fold

_APPENDING = (exp.Concat, exp.ConcatWs, exp.DPipe, exp.ArrayAppend, exp.ArrayPrepend, exp.ArrayConcat)
_SAME = (exp.Paren, exp.Cast, exp.TryCast, exp.Coalesce)
"""What gives the value of its argument, or another one where that is NULL."""


def accumulating_updates(statement: MergeStatement, scope: Scope) -> Iterator[tuple[Clause, list[Assignment]]]:
    """The UPDATE clauses that add to values of the target, each with the assignments that do so.

    Left out are clauses that a second run with the same rows need not enter: a condition of ON, of the clause or of a
    former one is about a column that the clause sets.
    """
    for clause in statement.clauses:
        if clause.action != "update" or clause.star:
            continue
        assignments = [assignment for assignment in clause.assignments if _adds_to_itself(assignment, scope)]
        if assignments and not _is_guarded(clause, statement, scope):
            yield clause, assignments


def _adds_to_itself(assignment: Assignment, scope: Scope) -> bool:
    tree, own = assignment.value.expression, assigned(assignment, scope)
    if tree is None or tree.find(exp.Query, exp.Lambda) is not None:
        return False
    alike = [path for path in _of_target([tree], scope) if path == own]
    return len(alike) == 1 and _adds(tree, own, scope, adding=False)


def _adds(node: exp.Expr, own: Path, scope: Scope, *, adding: bool) -> bool:
    """Whether the value is the target's own with something added; `adding`: something is added around it already."""
    reference = scope.reference(node)
    if reference is not None:
        return adding and reference.side == "target" and fold(reference.path) == own
    if isinstance(node, exp.Case | exp.If):
        return not adding and _in_branches(node, own, scope)
    if isinstance(node, exp.Sub):
        return _adds(node.this, own, scope, adding=True)
    if isinstance(node, (exp.Add, *_APPENDING)):
        return any(_adds(part, own, scope, adding=True) for part in node.iter_expressions())
    if isinstance(node, _SAME):
        return any(_adds(part, own, scope, adding=adding) for part in node.iter_expressions())
    return False


def _in_branches(node: exp.Expr, own: Path, scope: Scope) -> bool:
    """The same for CASE and IF, unless what decides between the branches is a column of the target."""
    branches = [node] if isinstance(node, exp.If) else list(node.args.get("ifs") or ())
    tests = [node.this] if isinstance(node, exp.Case) and node.this is not None else []
    tests += [branch.this for branch in branches]
    if any(True for _ in _of_target(tests, scope)):
        return False
    values = [value for branch in branches for key in ("true", "false") if (value := branch.args.get(key)) is not None]
    values += [node.args["default"]] if node.args.get("default") is not None else []
    return any(_adds(value, own, scope, adding=False) for value in values)


def _is_guarded(clause: Clause, statement: MergeStatement, scope: Scope) -> bool:
    conditions: list[Expr] = list(statement.on)
    for earlier in statement.clauses:
        if earlier.kind == clause.kind and earlier.condition is not None:
            conditions.append(earlier.condition)
        if earlier is clause:
            break
    trees = [expr.expression for expr in conditions if expr.expression is not None]
    if len(trees) < len(conditions):
        return True
    assigned_columns = {assigned(assignment, scope)[0] for assignment in clause.assignments}
    return any(path[0] in assigned_columns for path in _of_target(trees, scope))


def _of_target(trees: Sequence[exp.Expr], scope: Scope) -> Iterator[Path]:
    """The columns of the target in expressions, and those that may be the target's."""
    for tree in trees:
        for reference in scope.columns(tree):
            if reference.side != "source":
                yield fold(reference.path)
