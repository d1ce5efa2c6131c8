"""Fixes the source of a MERGE: what is asked of its rows now is asked of the rows that the MERGE will read.

It is read as of one version, or computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from merge_runner.engine.merge.target_mark import MarkValue, mark_value
from merge_runner.engine.spark.errors import engine_errors
from merge_runner.engine.spark.sql import temporary_confs
from merge_runner.relation import Relation, quote
from merge_runner.text import Span

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.engine.merge.statement import RewrittenMerge
    from merge_runner.engine.table_format.protocol import TableFormats
    from merge_runner.merge.statement import MergeStatement
    from merge_runner.pruning.runtime_filter.source_determinism import Scan
    from merge_runner.pruning.runtime_filter.target_reads import Mark

STAGED = "merge_runner_source"

_MATERIALIZE = "spark.databricks.delta.merge.materializeSource"
"""Whether Delta stores the rows of a source, which it reads twice; other formats have no such conf."""


class FixedSource:
    """The source of one statement in one session; what was done for it is recorded in `rewritten`."""

    def __init__(
        self, statement: MergeStatement, rewritten: RewrittenMerge, session: SparkSession, table_format: TableFormats
    ) -> None:
        self._statement = statement
        self._rewritten = rewritten
        self._session = session
        self._table_format = table_format
        self._rows: Any = None
        self._confs = ExitStack()

    def fix(self, scan: Scan | None, marks: Sequence[Mark]) -> None:
        """Makes sure that what is asked now is what the MERGE will read. Raises EngineError."""
        values = [mark_value(self._session, self._statement, mark) for mark in marks]
        self._rewritten.edits += [value.edit for value in values]
        if scan is not None:
            if scan.format is None:
                return
            table = Relation(scan.parts[-1], *reversed(scan.parts[:-1]))
            state = self._table_format(scan.format).state(self._session, table)
            if state.version is not None and state.has_present_columns:
                self._pin(scan, table, state.version)
                return
        self._stage(values)

    def release(self) -> None:
        """Unpersist a source that was materialized."""
        if self._rows is None:
            return
        with suppress(Exception):  # the driver may be gone, and with it what it held
            self._session.catalog.dropTempView(STAGED)
            self._confs.close()
            if hasattr(self._rows, "_jdf"):
                self._rows._jdf.queryExecution().logical().rdd().unpersist(False)

    def _pin(self, scan: Scan, table: Relation, version: int) -> None:
        source = self._statement.source
        self._rewritten.pins[table.name] = version
        if source.query is not None:
            self._rewritten.edits.append((Span(scan.span.end, scan.span.end), f" VERSION AS OF {version}"))
            return
        alias = "" if scan.aliased else f" AS {quote(source.parts[-1])}"
        name = scan.span.of(self._statement.text)
        self._rewritten.edits.append((scan.span, f"(SELECT * FROM {name} VERSION AS OF {version}){alias}"))

    def _stage(self, marks: Sequence[MarkValue]) -> None:
        source, ctes = self._statement.source, self._statement.with_span
        prefix = f"{self._rewritten.piece(ctes)}\n" if ctes is not None else ""
        with engine_errors():
            rows = self._session.sql(f"{prefix}SELECT * FROM {self._rewritten.piece(source.span)}").localCheckpoint()
            rows.createOrReplaceTempView(STAGED)
            self._rows = rows
            # Delta would store what is stored already.
            self._confs.enter_context(temporary_confs(self._session, {_MATERIALIZE: "none"}))
        self._rewritten.staged = True
        alias = f" AS {quote(source.parts[-1])}" if source.alias is None and source.parts else ""
        checks = " AND ".join(mark.check for mark in marks)
        staged = f"(SELECT * FROM {STAGED} WHERE {checks})" if checks else STAGED
        # The marks are in what the staged rows replace, or in CTEs that nothing reads any more.
        self._rewritten.edits[:] = [(source.relation, f"{staged}{alias}")]


def is_view(session: SparkSession, parts: Sequence[str]) -> bool:
    """Whether a name is that of a view. Raises EngineError."""
    name = ".".join(quote(part) for part in parts)
    with engine_errors():
        table = session.catalog.getTable(name)
    return table.isTemporary or "VIEW" in str(table.tableType).upper()
