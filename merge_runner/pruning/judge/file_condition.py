"""A condition of ON as a question to a file of the target: may it hold a row that passes?

The engine's own answer is how many files it scanned. This one is worked out from the log without the engine's skipping,
so that the two can be compared.
"""

from __future__ import annotations

from merge_runner.merge.split import comparison_sides
from merge_runner.merge.statement import Conjunct
from merge_runner.merge.syntax.sql import tokenize
from merge_runner.pruning.judge.merge_analysis import JudgedMerge
from merge_runner.pruning.layout.statistics import leaf_type
from merge_runner.pruning.predicate.normalize import predicate
from merge_runner.pruning.predicate.predicate import All, Comparison, Other, Predicate, Some
from merge_runner.relation import quote, string_literal

PARTITION = "partitionValues"
"""The column of a file's partition values by name, a map of strings."""

STATISTICS = "stats"
"""The column of a file's statistics, a JSON text."""

_QUESTIONS = {
    "=": "{low} <= {constant} AND {high} >= {constant}",
    "<": "{low} < {constant}",
    "<=": "{low} <= {constant}",
    ">": "{high} > {constant}",
    ">=": "{high} >= {constant}",
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_EXACT = frozenset({"tinyint", "smallint", "int", "bigint", "decimal", "date"})
"""Types whose statistics are the values themselves; strings are cut and moments rounded."""


def file_conditions(merge: JudgedMerge) -> list[str] | None:
    """For each conjunct that prunes, SQL over PARTITION and STATISTICS that is true for the files it must keep.

    None where one of them is no question that a log can answer, or the statement is not pruned by ON.
    """
    if any(key.casefold() == "delta.columnmapping.mode" for key in merge.layout.properties):
        return None  # the log has physical names then
    filters = []
    pruning = [
        conjunct
        for conjunct, condition in zip(merge.statement.on, merge.judgement.on, strict=True)
        if condition.prunes is True
    ]
    for conjunct in pruning:
        file_filter = _of_partitions(conjunct, merge) or _of_statistics(conjunct, merge)
        if file_filter is None:
            return None
        filters.append(file_filter)
    return filters or None


def can_skip(merge: JudgedMerge) -> bool:
    """Whether each conjunct that is said to prune has a form by which files can be skipped at all."""
    for conjunct, condition in zip(merge.statement.on, merge.judgement.on, strict=True):
        shape = predicate(conjunct.expression, merge.scope)
        on_partitions = all(merge.layout.is_partition(column) for column in condition.columns)
        if condition.prunes is True and not on_partitions and not _has_values(shape):
            return False
    return True


def _has_values(shape: Predicate) -> bool:
    """Whether a predicate is made of comparisons of columns with constants."""
    if isinstance(shape, All):
        return any(_has_values(part) for part in shape.parts)
    if isinstance(shape, Some):
        return all(_has_values(part) for part in shape.parts)
    return not isinstance(shape, Other) or shape.name == "="  # Iceberg infers constants through a join


def _of_partitions(conjunct: Conjunct, merge: JudgedMerge) -> str | None:
    """The author's text with the partition values in the places of their columns."""
    sql = tokenize(conjunct.text)
    pieces: list[str] = []
    at = i = 0
    while i < len(sql.tokens):
        stop = i + 1
        if sql.kind(i) in ("word", "name"):
            while sql.key(stop) == "." and sql.kind(stop + 1) in ("word", "name"):
                stop += 2
            parts = tuple(sql.word(part).strip("`") for part in range(i, stop, 2))
            column = merge.scope.resolve(parts)
            if sql.key(stop) != "(" and sql.kind(stop) != "string" and column.side == "target":
                data_type = leaf_type(merge.layout, column.path)
                if not merge.layout.is_partition(column.column) or data_type is None:
                    return None
                value = f"cast({PARTITION}[{string_literal(_declared_name(column.column, merge))}] as {data_type})"
                pieces += [sql.text[at : sql.tokens[i].start], value]
                at = sql.tokens[stop - 1].end
        i = stop
    return "".join([*pieces, sql.text[at:]]) if pieces else None


def _of_statistics(conjunct: Conjunct, merge: JudgedMerge) -> str | None:
    """A comparison of one column with a constant, put to the smallest and largest value of the file."""
    shape = predicate(conjunct.expression, merge.scope)
    sides = comparison_sides(conjunct)
    if not isinstance(shape, Comparison) or shape.cast or shape.function or len(shape.column.path) > 1 or sides is None:
        return None
    data_type = leaf_type(merge.layout, shape.column.path)
    if data_type is None or data_type.name not in _EXACT:
        return None
    left, operator, right = sides
    text = merge.statement.text
    own = merge.scope.resolve(tuple(part.strip("` ") for part in left.of(text).split(".")))
    constant, operator = (right, operator) if own == shape.column else (left, _MIRRORED.get(operator, operator))
    question = _QUESTIONS.get("=" if operator == "==" else operator)
    if question is None:
        return None
    name = quote(_declared_name(shape.column.column, merge)).strip("`")
    values = {
        "low": f"cast(get_json_object({STATISTICS}, '$.minValues.{name}') as {data_type})",
        "high": f"cast(get_json_object({STATISTICS}, '$.maxValues.{name}') as {data_type})",
        "constant": f"({constant.of(text)})",
    }
    return f"coalesce({question.format(**values)}, true)"


def _declared_name(name: str, merge: JudgedMerge) -> str:
    """The column as its table spells it."""
    column = merge.layout.column(name)
    return column.name if column is not None else name
