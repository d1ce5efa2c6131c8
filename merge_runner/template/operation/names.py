"""The names that a macro has in an operation alone: with them it executes statements and reads their rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from merge_runner.template.limits import Limits
from merge_runner.template.operation.table import Operation, Table
from merge_runner.template.outcome import RefusedError


class OperationNames:
    """The names that a macro has in an operation alone."""

    def __init__(self, operation: Operation, limits: Limits) -> None:
        self._limits = limits
        self._operation = operation
        self._results: dict[str, dict[str, Any]] = {}

    def names(self) -> dict[str, Callable[..., Any]]:
        """Return each of them by the name that dbt gives it."""
        return {"run_query": self.run_query, "statement": self.statement, "load_result": self.load_result}

    def run_query(self, sql: Any) -> Table:
        """`run_query(sql)`: execute a statement and return its rows."""
        table = self._run(sql)
        self._keep("run_query_statement", table)
        return table

    def statement(
        self, name: Any = None, fetch_result: Any = False, auto_begin: Any = True, *, caller: Callable[[], Any]
    ) -> str:
        """`{% call statement('name', fetch_result=true) %}`: execute the block, keep its rows for `load_result`."""
        table = self._run(caller())
        self._keep(name, table if fetch_result else Table())
        return ""

    def load_result(self, name: Any) -> dict[str, Any] | None:
        """`load_result('name')` with `data` (lists of values), `table` and `response`; None where there is none."""
        return self._results.get(name)

    def _keep(self, name: Any, table: Table) -> None:
        self._results[name] = {"data": [row.values() for row in table], "table": table, "response": "OK"}

    def _run(self, sql: Any) -> Table:
        text = str(sql).strip()
        if not text:
            raise RefusedError("jinja-runtime", "the statement is empty")
        begun = time.monotonic()
        table = self._operation.run(text)
        self._limits.waited(time.monotonic() - begun)
        return table
