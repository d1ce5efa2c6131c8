"""The value of a mark: computed before the MERGE, and compared with the mark by the MERGE itself.

A mark is one row of aggregates of the target that the source reads, as `(select max(ts) from {{ this }})`. The source
is read with that row as it was; the MERGE reads the row once more, in its transaction, and fails where another writer
has changed it in between. Then it has written nothing, and runs again as the author wrote it.

Measured on Delta 4.4.0 and Iceberg 1.12.0 with Spark 4.1.4, copy-on-write, merge-on-read and with deletion vectors: the
comparison is made before a row is written. On Delta the MERGE has read the whole target by it, so that every commit of
another writer during the MERGE conflicts with it, as with the author's text. On Iceberg a MERGE conflicts with commits
to what its ON selects, and with nothing that its source has read (`Capabilities.conflicts_with_source_reads`): where
other processes may write the table, it runs on a branch, and main is moved to it if main is as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import analyse, run_statement
from merge_runner.plan.steps.merge_variants import CHANGED
from merge_runner.pruning.runtime_filter.bound_literal import OutOfRangeError, exact_type, literal_type
from merge_runner.relation import quote
from merge_runner.text import Span

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.merge.statement import MergeStatement
    from merge_runner.pruning.runtime_filter.target_reads import Mark

_RAISED = "USER_RAISED_EXCEPTION"


@dataclass(frozen=True)
class MarkValue:
    """A mark with its value. `query` is the author's; `condition` is true, or raises an error where it has another."""

    span: Span
    query: str
    condition: str

    @property
    def edit(self) -> tuple[Span, str]:
        """What the mark becomes in the statement: the same row, compared with its value."""
        return self.span, f"SELECT * FROM ({self.query}\n) WHERE {self.condition}"

    @property
    def check(self) -> str:
        """The comparison where the statement does not have the mark: a scalar subquery."""
        return f"(SELECT {self.condition} FROM ({self.query}\n))"


def mark_value(session: SparkSession, statement: MergeStatement, mark: Mark) -> MarkValue:
    """Return a mark with the value that it has now. Raises EngineError, also where no literal can express the value."""
    query = mark.query.of(statement.text)
    columns = []
    for field in analyse(session, f"SELECT * FROM ({query}\n)").fields:
        type_ = exact_type(field.dataType.simpleString())
        kind = literal_type(type_, type_) if type_ is not None else None
        if kind is None:
            raise EngineError("mark-type", f"no literal is exactly a {field.dataType.simpleString()} of the target")
        columns.append((quote(field.name), kind, f"CAST(NULL AS {type_})"))
    keys = ", ".join(kind.key.format(value=name) for name, kind, _ in columns)
    row = run_statement(session, f"SELECT {keys} FROM ({query}\n)")[0]
    try:
        literals = [
            null if key is None else kind.literal(key) for key, (_, kind, null) in zip(row, columns, strict=True)
        ]
    except OutOfRangeError as error:
        raise EngineError("mark-type", f"no literal can express a value of the target: {error}") from error
    equal = " AND ".join(f"{name} <=> {literal}" for (name, *_), literal in zip(columns, literals, strict=True))
    return MarkValue(mark.query, query, f"IF({equal}, true, raise_error('{CHANGED}'))")


def is_changed_mark(error: EngineError) -> bool:
    """Whether a statement failed because a mark had another value than before."""
    return error.code == _RAISED and CHANGED in error.message
