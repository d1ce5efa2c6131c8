"""The names by which a template asks the engine: `run_query`, `statement`, `load_result`, `load_relation`.

They work where the engine can be asked: in a macro that runs as an operation, and in a node that is rendered while it
runs. Elsewhere a call is the problem `asks-engine`, and rendering goes on to find what else the template says.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from merge_runner.relation import Relation
from merge_runner.template.kind import kind
from merge_runner.template.operation.table import Operation, Table
from merge_runner.template.outcome import RefusedError
from merge_runner.template.undefined import ReportedUndefined

if TYPE_CHECKING:
    from merge_runner.template.current_rendering import CurrentRendering

_Answer = TypeVar("_Answer")

_MESSAGE = "the text depends on what a query returns, and no query runs here"
_HINT = "`build` runs it in the model's turn, and parses and judges the text then"


class Queries:
    """What one rendering asks, and the rows of its statements by their names."""

    def __init__(self, rendering: CurrentRendering) -> None:
        self._rendering = rendering
        self._operation = rendering.context.operation
        self._results: dict[Any, Any] = {}

    def names(self) -> dict[str, Callable[..., Any]]:
        """Return each function by the name that dbt gives it."""
        return {
            "run_query": self.run_query,
            "statement": self.statement,
            "load_result": self.load_result,
            "load_relation": self.load_relation,
            "load_cached_relation": self.load_relation,
        }

    def run_query(self, sql: Any) -> Any:
        """`run_query(sql)`: execute a statement and return its rows."""
        table = self._run(sql)
        self._keep("run_query_statement", table)
        return table

    def statement(
        self, name: Any = None, fetch_result: Any = False, auto_begin: Any = True, *, caller: Callable[[], Any]
    ) -> str:
        """`{% call statement('name', fetch_result=true) %}`: execute the block, keep its rows for `load_result`."""
        table = self._run(caller())
        self._keep(name, table if fetch_result or not isinstance(table, Table) else Table())
        return ""

    def load_result(self, name: Any) -> Any:
        """`load_result('name')` with `data` (lists of values), `table` and `response`; None where there is none."""
        return self._results.get(name)

    def load_relation(self, relation: Any) -> Any:
        """`load_relation(ref('m'))`: the table or view, None where there is none of its name."""
        if not isinstance(relation, Relation):
            raise RefusedError("jinja-runtime", f"load_relation takes a table, not a value of type {kind(relation)}")
        if self._operation is None:
            return self._needs_engine()
        return relation if self._run_timed(lambda operation: operation.exists(relation)) else None

    def _keep(self, name: Any, table: Any) -> None:
        is_table = isinstance(table, Table)
        data = {"data": [row.values() for row in table], "table": table, "response": "OK"} if is_table else table
        self._results[name] = data

    def _run(self, sql: Any) -> Any:
        """Return the rows of a statement; where the engine cannot be asked, a value to go on with."""
        text = str(sql).strip()
        if self._operation is None:
            return self._needs_engine()
        if not text:
            raise RefusedError("jinja-runtime", "the statement is empty")
        return self._run_timed(lambda operation: operation.run(text))

    def _needs_engine(self) -> ReportedUndefined:
        self._rendering.add("asks-engine", _MESSAGE, self._rendering.call_place(), _HINT)
        return self._rendering.placeholder("run_query")

    def _run_timed(self, ask: Callable[[Operation], _Answer]) -> _Answer:
        """Return an answer of the engine; its time is not that of the rendering."""
        assert self._operation is not None
        start = time.monotonic()
        answer = ask(self._operation)
        self._rendering.limits.waited(time.monotonic() - start)
        return answer
