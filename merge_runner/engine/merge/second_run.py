"""Asks the engine whether a MERGE that has just run would change a row if it ran again.

The query is made of the statement's own text, over what the run has left: which rows of the source and the target meet,
which clause counts for them (as in dry_run.py), and for an UPDATE whether it sets a column to anything but what the
table has by now. So a value that the table keeps otherwise than the statement writes it (another scale, an empty text
as a partition, a generated column that follows) is seen, whatever the reason is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from merge_runner.engine.merge.duplicate_matches import ROW, numbered_target, target_filters
from merge_runner.engine.spark.declared_type import declared_type, is_exact
from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.sql import analyse, run_statement
from merge_runner.merge.statement import Clause, MergeStatement
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.predicate.tautology import assigned
from merge_runner.relation import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import ArrayType, DataType, StructField, StructType

_INSERTS = "merge_runner_inserts"
"""Whether a row of the source would be inserted where no row of the target matches it."""

_FLOATING = frozenset(("float", "double"))
"""Types that are compared as texts: 0.0 and -0.0 are equal, and NaN is not, as numbers."""


class _NotComparedError(Exception):
    """The question cannot be asked; the message says why."""


def second_run(session: SparkSession, step: RunMerge, runtime_filter: str | None) -> str | None:
    """Return why another run of a MERGE may change rows or fail; None: the engine says that it changes none.

    `runtime_filter` is that of the first run: the source still gives the same rows, so that no other rows of the target
    match. It is left out where the source reads the target. Raises EngineError where Spark refuses the query.
    """
    filters = [] if runtime_filter is None or step.judged.reads_target else [runtime_filter]
    try:
        query = _SecondRun(session, step, filters).query()
    except _NotComparedError as reason:
        return f"whether a second run would change rows is not known: {reason}"
    return "a second run would change rows" if run_statement(session, query) else None


class _SecondRun:
    """Makes the query about one MERGE."""

    def __init__(self, session: SparkSession, step: RunMerge, filters: Sequence[str]) -> None:
        self._session = session
        self._table = step.target
        self._statement: MergeStatement = step.judged.statement
        self._scope: Scope = step.judged.scope
        self._filters = filters
        self._target = self._statement.target.qualifier or step.target.identifier
        with engine_errors():
            fields = session.table(str(step.target)).schema.fields
        self._columns: dict[str, StructField] = {field.name.casefold(): field for field in fields}
        self._has_twins = len(self._columns) < len(fields)

    def query(self) -> str:
        """Return a query that gives a row where the MERGE would change one, or fail. Raises _NotComparedError."""
        if self._has_twins:
            raise _NotComparedError("two columns differ in case alone")
        parts = []
        if self._clauses("matched") or self._clauses("not_matched"):
            parts.append(self._rows_of_source())
        if self._clauses("not_matched_by_source"):
            parts.append(self._rows_of_target())
        return f"{self._statement.with_text}{' UNION ALL '.join(parts)} LIMIT 1"

    def _rows_of_source(self) -> str:
        """Return the query about rows of the source, with the row of the target that matches each."""
        source = self._statement.source
        inserts = _case(self._statement, [(clause, "true") for clause in self._clauses("not_matched")])
        of_source = f"(SELECT *, {inserts} AS {_INSERTS} FROM {source.span.of(self._statement.text)}\n)"
        changes = _case(self._statement, [(clause, self._change(clause)) for clause in self._clauses("matched")])
        # Two source rows for one target row are an error of the engines, where a clause is about matched rows.
        several = f" OR ({ROW} IS NOT NULL AND count(*) > 1)" if self._clauses("matched") else ""
        return (
            f"SELECT 1 AS changes FROM (SELECT {ROW}, "
            f"CASE WHEN {ROW} IS NULL THEN {_INSERTS} ELSE {changes} END AS changes\n"
            f"FROM {of_source} AS {quote(source.qualifier or 'merge_runner_source')}\n"
            f"LEFT JOIN {numbered_target(self._table, self._statement, self._filters_of_target())}\n"
            f"ON {self._on()}\n) GROUP BY {ROW} HAVING bool_or(changes){several}"
        )

    def _rows_of_target(self) -> str:
        """Return the query about rows of the target that no row of the source matches."""
        clauses = [(clause, self._change(clause)) for clause in self._clauses("not_matched_by_source")]
        return (
            f"SELECT 1 AS changes FROM {self._table} AS {quote(self._target)}\n"
            f"LEFT ANTI JOIN {self._statement.source.span.of(self._statement.text)}\nON {self._on()}\n"
            f"WHERE {_case(self._statement, clauses)}"
        )

    def _filters_of_target(self) -> list[str]:
        return [*target_filters(self._statement, self._scope), *self._filters]

    def _on(self) -> str:
        return self._statement.on_span.of(self._statement.text)

    def _clauses(self, kind: str) -> list[Clause]:
        return [clause for clause in self._statement.clauses if clause.kind == kind]

    def _change(self, clause: Clause) -> str:
        """Return the condition that a clause changes a row. Raises _NotComparedError and EngineError."""
        if clause.action == "delete":
            return "true"
        sets = self._star() if clause.star else self._sets(clause)
        if not sets:
            return "false"
        return " OR ".join(self._differs(path, value) for path, value in sets)

    def _star(self) -> list[tuple[tuple[str, ...], str]]:
        """Return what UPDATE SET * sets: the columns that the source has too."""
        source = self._statement.source
        text = f"{self._statement.with_text}SELECT * FROM {source.span.of(self._statement.text)}"
        names = [field.name for field in analyse(self._session, text).fields]
        qualifier = quote(source.qualifier or "merge_runner_source")
        return [
            ((name.casefold(),), f"{qualifier}.{quote(name)}") for name in names if name.casefold() in self._columns
        ]

    def _sets(self, clause: Clause) -> list[tuple[tuple[str, ...], str]]:
        return [(assigned(assignment, self._scope), assignment.value.text) for assignment in clause.assignments]

    def _differs(self, path: tuple[str, ...], value: str) -> str:
        """Return the condition that a value is not what the table has. Raises _NotComparedError and EngineError."""
        field = self._columns.get(path[0])
        if field is None or (len(path) > 1 and declared_type(field)):
            raise _NotComparedError(f"{path[0]} is no column of its table")
        kind = field.dataType
        column_path, parents = f"{quote(self._target)}.{quote(field.name)}", ""
        for name in path[1:]:
            parents += f"{column_path} IS NULL OR "  # setting a field makes a struct of NULL
            inner = {
                field_of_struct.name.casefold(): field_of_struct for field_of_struct in getattr(kind, "fields", ())
            }.get(name)
            if inner is None:
                raise _NotComparedError(f"{'.'.join(path)} is no field of a struct")
            kind, column_path = inner.dataType, f"{column_path}.{quote(inner.name)}"
        return f"{parents}NOT ({self._same(column_path, value, kind, declared_type(field))})"

    def _same(self, column_path: str, value: str, kind: DataType, limited: str) -> str:
        """Return the condition that a value and a stored one of a type are the same, bit for bit."""
        name = kind.simpleString()
        if name in _FLOATING:
            return f"cast({column_path} AS string) <=> cast(cast(({value}\n) AS {name}) AS string)"
        if not _is_exact(kind) or limited.startswith("char"):
            raise _NotComparedError(f"values of the type {limited or name} are not compared")
        if is_exact(name):
            return f"{column_path} <=> cast(({value}\n) AS {name})"
        if self._type(value) != name:  # a cast goes by the order of fields, a MERGE may go by their names
            raise _NotComparedError(f"a value has another type than {column_path}")
        return f"{column_path} <=> ({value}\n)"

    def _type(self, value: str) -> str:
        source = self._statement.source.span.of(self._statement.text)
        join = f"FROM {source}\nJOIN {self._table} AS {quote(self._target)}\nON {self._on()}"
        text = f"{self._statement.with_text}SELECT ({value}\n) AS value {join}"
        return str(analyse(self._session, text).fields[0].dataType.simpleString())


def _is_exact(kind: DataType) -> bool:
    """Return whether two equal values of a type are the same; of a struct or an array that is so for what is inside."""
    name = kind.simpleString()
    if name.startswith("struct<"):
        return all(_is_exact(field.dataType) for field in cast("StructType", kind).fields)
    if name.startswith("array<"):
        return _is_exact(cast("ArrayType", kind).elementType)
    return is_exact(name)


def _case(statement: MergeStatement, cases: Sequence[tuple[Clause, str]]) -> str:
    """Return the answer of the first clause whose condition is true; false where there is none."""
    whens = ""
    for clause, answer in cases:
        condition = (
            f"({clause.condition.span.of(statement.text)}\n) IS TRUE" if clause.condition is not None else "true"
        )
        whens += f" WHEN {condition} THEN {answer}"
    return f"CASE{whens} ELSE false END" if whens else "false"
