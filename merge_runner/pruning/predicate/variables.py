"""Session variables: what DECLARE VARIABLE declares, and where a MERGE names one.

Spark reads a name as a variable where no column has it, and folds it to its value before files are chosen: Delta skips
files by it. Into an Iceberg table no MERGE with one runs (UNRESOLVED_COLUMN on Spark 4.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, TypeVar

from sqlglot import exp

from merge_runner.formats.types import parse_type
from merge_runner.merge.read_query import read_expression
from merge_runner.merge.statement import Expr, MergeStatement
from merge_runner.pruning.predicate.constant_folding import constant
from merge_runner.pruning.predicate.scope import Scope, Variable
from merge_runner.sql.names import name_parts

_Read = TypeVar("_Read", bound=Expr)

_DECLARE = re.compile(
    r"\s*declare\s+(?:or\s+replace\s+)?(?:variable\s+)?(?P<names>[\w.`]+(?:\s*,\s*[\w.`]+)*)(?P<type>.*?)"
    r"(?:(?:\bdefault\b|=)(?P<value>.*?))?;?\s*\Z",
    re.IGNORECASE | re.DOTALL,
)


def declared_variables(statements: Iterable[str], kind: Literal["session", "local"] = "session") -> dict[str, Variable]:
    """Return the variables that those of the statements declare that are DECLARE VARIABLE."""
    variables: dict[str, Variable] = {}
    for text in statements:
        match = _DECLARE.match(text)
        if match is None:
            continue
        data_type = parse_type(match["type"].strip())
        if data_type is None and match["value"] and not match["type"].strip():
            tree = read_expression(match["value"].strip()).expression
            value = constant(tree) if tree is not None else None
            data_type = value.data_type if value is not None else None
        for name in match["names"].split(","):
            variables[name.strip().rpartition(".")[2].strip("`").casefold()] = Variable(data_type, kind)
    return variables


def with_variables(statement: MergeStatement, scope: Scope) -> MergeStatement:
    """Return the statement with the variables of ON and WHEN as parameters, where a name is certain to be one."""
    clauses = tuple(
        replace(clause, condition=as_parameters(clause.condition, scope)) if clause.condition is not None else clause
        for clause in statement.clauses
    )
    return replace(statement, on=tuple(as_parameters(conjunct, scope) for conjunct in statement.on), clauses=clauses)


def as_parameters(expr: _Read, scope: Scope) -> _Read:
    """Return the expression with the variables in it as parameters, where a name is certain to be one."""
    tree = expr.expression
    if tree is None or not (scope.variables or "session" in expr.text.casefold()):
        return expr
    if tree.find(exp.Query, exp.Lambda) is not None:
        return expr
    return replace(expr, expression=tree.copy().transform(lambda node: _parameter(node, scope), copy=False))


def _parameter(node: exp.Expr, scope: Scope) -> exp.Expr:
    parts = name_parts(node) if isinstance(node, exp.Column | exp.Dot) else None
    if not parts or not scope.is_variable(parts):
        return node
    parameter = exp.Parameter(this=exp.var(parts[-1]))
    parameter.meta["type"] = variable.data_type if (variable := scope.variables.get(parts[-1].casefold())) else None
    return parameter
