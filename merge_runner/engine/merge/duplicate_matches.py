"""Says which keys are to blame where several source rows match one target row: the engines do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_statement
from merge_runner.merge.statement import MergeStatement
from merge_runner.pruning.predicate.join_keys import target_sides
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.relation import Relation, quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.plan.steps.guardrails import Keys

MOST_SHOWN = 5
_LONGEST_VALUE = 40

ROW = "merge_runner_row"
"""A number for each row of the target. Hidden columns that identify a row are Iceberg's only (Delta 4.4.0)."""


@dataclass(frozen=True)
class DuplicateMatch:
    """The keys of a target row, as ON names them and as text (None: NULL), and how many source rows match the row.

    There are no keys where ON has no equality whose target side is certain.
    """

    keys: tuple[tuple[str, str | None], ...]
    count: int

    def __str__(self) -> str:
        keys = ", ".join(f"{name} = {_shorten(value)}" for name, value in self.keys)
        return f"{keys} ({self.count:,} source rows)" if keys else f"{self.count:,} source rows"


def several_matches(duplicates: Sequence[DuplicateMatch]) -> str:
    """The message of an error about target rows that several source rows match."""
    return f"several source rows match one target row: {'; '.join(map(str, duplicates))}"


def duplicate_matches(
    session: SparkSession, table: Relation, statement: MergeStatement, scope: Scope
) -> list[DuplicateMatch]:
    """Up to five keys whose target row is matched by several source rows, those with the most first.

    `scope` is the statement's. Empty where ON has no equality whose target side is certain, or no such row is found
    (the source may give other rows each time). Raises EngineError where the question cannot be asked of this statement.
    """
    names = _names(statement, scope)
    return _find(session, table, statement, scope, names) if names else []


def refuse_several_matches(session: SparkSession, table: Relation, statement: MergeStatement, scope: Scope) -> None:
    """Raises EngineError where several source rows match one target row, with the keys if ON has any.

    For statements of which the engine would keep the row once for each match (formats/merge_plans.py).
    """
    duplicates = _find(session, table, statement, scope, _names(statement, scope))
    if duplicates:
        raise EngineError(
            "MERGE_CARDINALITY_VIOLATION",
            several_matches(duplicates),
            hint="make the source unique on the keys of ON: Iceberg would keep the row once for each of them",
        )


def _names(statement: MergeStatement, scope: Scope) -> tuple[str, ...]:
    """The keys of ON on the target's side, as the author writes them."""
    spans = target_sides(statement.on, scope)
    return tuple(dict.fromkeys(" ".join(span.of(statement.text).split()) for span in spans))


def _find(
    session: SparkSession, table: Relation, statement: MergeStatement, scope: Scope, names: Sequence[str]
) -> list[DuplicateMatch]:
    rows = run_statement(session, duplicates_query(table, statement, names, target_filters(statement, scope)))
    return [DuplicateMatch(tuple(zip(names, row[:-1], strict=True)), row[-1]) for row in rows]


def duplicates_query(
    table: Relation, statement: MergeStatement, names: Sequence[str], filters: Sequence[str] = ()
) -> str:
    """The query for the keys (as text) and their numbers of source rows; without `names` for the largest number alone.

    `names` are expressions of the target, `filters` those conditions of ON that are about the target alone.
    """
    text = statement.text
    keys = [f"k{number}" for number in range(len(names))]
    columns = ", ".join(keys)
    selection = "".join(f"any_value({name}) AS {key}, " for name, key in zip(names, keys, strict=True))
    matched = (
        f"SELECT {selection}count(*) AS n\n"
        f"FROM {numbered_target(table, statement, filters)}\n"
        f"JOIN {statement.source.span.of(text)}\n"
        f"ON {statement.on_span.of(text)}\n"
        f"GROUP BY {ROW} HAVING count(*) > 1"
    )
    if not names:
        return f"{statement.with_text}SELECT max(n) FROM (\n{matched}\n) HAVING max(n) IS NOT NULL"
    text_columns = ", ".join(f"CAST({key} AS STRING)" for key in keys)
    return (
        f"{statement.with_text}SELECT {text_columns}, max(n) FROM (\n{matched}\n) GROUP BY {columns} "
        f"ORDER BY max(n) DESC, {columns} LIMIT {MOST_SHOWN}"
    )


def duplicate_keys(session: SparkSession, statement: MergeStatement, source: str, keys: Keys) -> list[DuplicateMatch]:
    """Up to five keys that several rows of the source have, as its own expressions name them, the commonest first.

    `source` is the text of the source as it is read. Raises EngineError.
    """
    texts = tuple(dict.fromkeys(span.of(statement.text) for span in keys.spans))
    strict = tuple(dict.fromkeys(span.of(statement.text) for span in keys.strict))
    rows = run_statement(session, keys_query(statement, source, texts, strict))
    names = [" ".join(text.split()) for text in texts]
    return [DuplicateMatch(tuple(zip(names, row[:-1], strict=True)), row[-1]) for row in rows]


def keys_query(statement: MergeStatement, source: str, texts: Sequence[str], strict: Sequence[str]) -> str:
    """The query for the keys (as text) and their numbers of rows; a NULL among `strict` is equal to nothing."""
    keys = [f"k{number}" for number in range(len(texts))]
    key_columns = ", ".join(f"({text}\n) AS {key}" for text, key in zip(texts, keys, strict=True))
    where = " WHERE " + " AND ".join(f"({text}\n) IS NOT NULL" for text in strict) if strict else ""
    text_columns = ", ".join(f"CAST({key} AS STRING)" for key in keys)
    columns = ", ".join(keys)
    return (
        f"{statement.with_text}SELECT {text_columns}, count(*) FROM (\nSELECT {key_columns} FROM {source}\n{where}\n) "
        f"GROUP BY {columns} HAVING count(*) > 1 ORDER BY count(*) DESC, {columns} LIMIT {MOST_SHOWN}"
    )


def target_filters(statement: MergeStatement, scope: Scope) -> list[str]:
    """Return the conditions of ON that are about the target alone.

    They have to be applied before its rows are numbered: the engine would not push them down there.
    """
    on = ((conjunct.text, conjunct.expression) for conjunct in statement.on)
    return [text for text, tree in on if tree is not None and scope.side(tree) == "target"]


def numbered_target(table: Relation, statement: MergeStatement, filters: Sequence[str]) -> str:
    """Return the target under its alias, with a number for each of its rows (ROW) that pass the filters."""
    alias = quote(statement.target.qualifier or table.identifier)
    where = " WHERE " + "\nAND ".join(f"({condition}\n)" for condition in filters) if filters else ""
    return f"(SELECT *, monotonically_increasing_id() AS {ROW} FROM {table} AS {alias}{where}) AS {alias}"


def _shorten(value: str | None) -> str:
    if value is None:
        return "NULL"
    one_line = " ".join(value.split()) if value.strip() else repr(value)
    return one_line if len(one_line) <= _LONGEST_VALUE else one_line[: _LONGEST_VALUE - 1] + "…"
