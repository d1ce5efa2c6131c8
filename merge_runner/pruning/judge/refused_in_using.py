"""What Spark refuses of the query of USING by the types of its columns alone: maps that it would compare or sort.

Run on Spark 4.1.4; `formats/syntax.py` has a probe of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from merge_runner.formats.syntax import MAPS
from merge_runner.merge.statement import Expr, MergeStatement
from merge_runner.pruning.judge.refused_types import COMPARED, Refusal, name_of, nodes, operands, place_of, unordered
from merge_runner.pruning.predicate.expression_type import UNKNOWN, Typed
from merge_runner.pruning.query.relation import ReadSelect
from merge_runner.sql.names import is_star, name_parts, star_qualifier

_SET_OPERATION = "UNION, INTERSECT and EXCEPT without ALL"
_COLLECTED = ("map",)
"""What collect_set() does not take."""
_ABOVE_OUTPUTS = ("order", "sort", "having")
"""The clauses in which a name means the output of the SELECT before a column of this name."""
_OF_ONE: Mapping[type[exp.Expr], str] = {
    exp.Max: "max()",
    exp.Min: "min()",
    exp.ArrayUniqueAgg: "collect_set()",
    exp.Ordered: "ORDER BY",
}
"""What compares or sorts the values of its operand, with its name for messages."""
_HINT = "make a string of it, `to_json(…)`, or take the values of keys"


def refusals_in_using(statement: MergeStatement, selects: Sequence[ReadSelect]) -> Iterator[Refusal]:
    """Give what is refused in the SELECTs that are written in the statement."""
    queries = [statement.source.query, *(cte.query for cte in statement.ctes)]
    queries_by_tree = {
        id(query.expression): query for query in queries if query is not None and query.expression is not None
    }
    for read in selects:
        query = queries_by_tree.get(id(read.select.root()))
        if query is not None and _reads_unordered(read):
            yield from _distinct_rows(query, read)
            yield from _values(query, read)


def _reads_unordered(select: ReadSelect) -> bool:
    """Whether a column that is read is known to be, or to hold, what has no order."""
    types = [column.data_type for relation in select.scope.relations for column in relation.rows.known_columns]
    return any(of is not None and of.holds(kind) for of in types for kind in COMPARED)


def _distinct_rows(query: Expr, select: ReadSelect) -> Iterator[Refusal]:
    """The first column of rows of which the same ones are made one."""
    operation = _distinct_operation(select.select)
    if operation is None:
        return
    for item in select.select.expressions:
        if is_star(item):
            star = item.this if isinstance(item, exp.Column) else item
            if any(star.args.get(key) for key in ("except_", "replace", "rename")):
                continue
            outputs = [column.column for column in select.star(star_qualifier(item))]
            columns = [column for column in outputs if column is not None]
            types = ((column.name, column.data_type) for column in columns if column.data_type is not None)
            unordered_part = next(((name, kind) for name, of in types for kind in COMPARED if of.holds(kind)), None)
            if unordered_part is not None:
                yield Refusal(MAPS, place_of(query, item), _message(*unordered_part, operation), _HINT)
                return
            continue
        for operand, kind in unordered([item.unalias()], select.typed, COMPARED):
            yield Refusal(MAPS, place_of(query, operand), _message(name_of(operand), kind, operation), _HINT)
            return


def _values(query: Expr, select: ReadSelect) -> Iterator[Refusal]:
    """What is compared, or sorted, in the expressions of a SELECT."""
    aliases = {item.alias.casefold() for item in select.select.expressions if item.alias}

    def typed_above(node: exp.Expr) -> Typed:
        parts = name_parts(node) or ()
        return UNKNOWN if len(parts) == 1 and parts[0].casefold() in aliases else select.typed(node)

    for key, arg in select.select.args.items():
        typed = typed_above if key in _ABOVE_OUTPUTS else select.typed
        for node in nodes(arg if isinstance(arg, list) else [arg]):
            operation, values = _ordering_operation(node)
            kinds = _COLLECTED if isinstance(node, exp.ArrayUniqueAgg) else COMPARED
            for operand, kind in unordered(values, typed, kinds):
                yield Refusal(MAPS, place_of(query, operand), _message(name_of(operand), kind, operation), _HINT)
                break


def _message(name: str, kind: str, operation: str) -> str:
    return f"{name} holds a {kind}, and {operation} {'take' if operation is _SET_OPERATION else 'takes'} none"


def _distinct_operation(select: exp.Select) -> str | None:
    """What makes the same rows of a SELECT one: DISTINCT, or a set operation that is not ALL; None: nothing does."""
    if select.args.get("distinct") is not None:
        return "DISTINCT"
    above: exp.Expr | None = select.parent
    while isinstance(above, (exp.SetOperation, exp.Subquery)):
        if isinstance(above, exp.SetOperation) and above.args.get("distinct") is not False:
            return _SET_OPERATION
        if isinstance(above, exp.Subquery) and not isinstance(above.parent, exp.SetOperation):
            return None  # what reads it may leave the column out
        above = above.parent
    return None


def _ordering_operation(node: exp.Expr) -> tuple[str, Sequence[exp.Expr]]:
    """What a node compares or sorts, with its name for messages."""
    name = _OF_ONE.get(type(node))
    if name is not None:
        return name, (node.this,)
    if isinstance(node, exp.Window):
        return "PARTITION BY", node.args.get("partition_by") or ()
    if isinstance(node, exp.ArgMax):
        return "max_by()", (node.expression,)
    if isinstance(node, exp.ArgMin):
        return "min_by()", (node.expression,)
    if isinstance(node, exp.Join) and node.args.get("using"):
        return "JOIN", [exp.column(name.copy()) for name in node.args["using"] if isinstance(name, exp.Identifier)]
    return (f"{node.name}()" if isinstance(node, exp.Anonymous) else "a comparison"), operands(node)
