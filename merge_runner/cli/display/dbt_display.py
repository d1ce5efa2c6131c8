"""`--log-format dbt-json`: what happens as dbt's event lines, `{"info": …, "data": …}`, for tools that run dbt.

Names, keys and levels are those of dbt-core 1.11 (dbt/events/types.py). Read are, by dagster-dbt 0.29 and
astronomer-cosmos 1.15: `info.name`, `msg`, `level`, `ts` and `invocation_id`; `data.node_info`, `run_result`, `status`,
`execution_time`, `num_failures` and `msg`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from merge_runner.cli.display.dbt_line import dbt_line
from merge_runner.cli.display.messages import set_style
from merge_runner.graph.artifact import utc
from merge_runner.graph.graph import DataTestNode, Graph, RefNode
from merge_runner.graph.manifest import path_in_folder
from merge_runner.plain_json import plain
from merge_runner.run.results.event_types import (
    FreshnessFinished,
    FreshnessStarted,
    InvocationFinished,
    InvocationStarted,
    NodeBatchFinished,
    NodeFinished,
    NodeStarted,
    Running,
)
from merge_runner.run.results.events import Event, Level
from merge_runner.version import version

if TYPE_CHECKING:
    from merge_runner.api import Driver

_STATS = {
    **{"success": "pass", "pass": "pass", "warn": "warn", "skipped": "skip"},
    **{"error": "error", "fail": "error", "partial success": "error"},
}
"""dbt's counts at the end, by our statuses; `no-op` has its own."""
_PROBLEMS = {"error": "RunResultError", "partial success": "RunResultError", "fail": "RunResultFailure"}
_END_STATUSES = {"no-op": "success", "partial success": "error"}
"""What `NodeFinished` has in place of statuses that Cosmos does not know: it would wait for one that it does."""


class DbtDisplay:
    """Every event that dbt has as well, as one line of dbt's on standard output; other messages as `Note`."""

    def __init__(self, graph: Graph, quiet: bool) -> None:
        self._graph = graph
        self._quiet = quiet
        self._invocation_id = ""
        self._command = ""
        self._began = datetime.now(timezone.utc)
        self._started: dict[str, str] = {}
        self._total = 0
        self._begun = 0
        self._done = 0
        self._lines: dict[type[Event], Callable[[Any], Iterator[_Line]]] = {
            InvocationStarted: self._on_invocation,
            FreshnessStarted: self._on_invocation,
            Running: self._on_running,
            NodeStarted: self._on_started,
            NodeBatchFinished: _on_batch,
            NodeFinished: self._on_finished,
            InvocationFinished: self._on_end,
            FreshnessFinished: self._on_end,
        }

    def __call__(self, event: Event) -> None:
        for name, text, level, data in self._lines.get(type(event), _note)(event):
            if not self._quiet or level in ("warn", "error") or name == "CommandCompleted":
                thread = event.result["thread_id"] if isinstance(event, NodeFinished) else ""
                sys.stdout.write(dbt_line(name, text, level, self._invocation_id, data, thread) + "\n")
        sys.stdout.flush()

    def observe(self, driver: Driver) -> None:
        """Nothing to show of a driver."""

    def close(self) -> None:
        """Nothing to close."""

    def _on_invocation(self, event: InvocationStarted | FreshnessStarted) -> Iterator[_Line]:
        self._invocation_id, self._began = event.invocation_id, event.at
        self._command = event.command if isinstance(event, InvocationStarted) else "source freshness"
        set_style(invocation_id=event.invocation_id)
        own_version = version()
        yield (
            "MainReportVersion",
            f"Running with merge-runner={own_version}",
            "info",
            {"version": own_version, "log_version": 3},
        )

    def _on_running(self, event: Running) -> Iterator[_Line]:
        self._total, self._begun, self._done = event.nodes, 0, 0
        data = {"num_threads": event.threads, "node_count": event.nodes, "target_name": ""}
        yield "ConcurrencyLine", f"Concurrency: {event.threads} threads", "info", data

    def _on_started(self, event: NodeStarted) -> Iterator[_Line]:
        self._begun += 1
        self._started[event.node] = utc(event.at)
        node_info = self._node_info(event.node, "started")
        data = {"description": event.label, "index": self._begun, "total": self._total, "node_info": node_info}
        yield "LogStartLine", f"{self._begun} of {self._total} START {event.label}", "info", data
        if self._graph.nodes[event.node].resource_type in _WITH_END:
            yield "NodeStart", f"Began running node {event.node}", "debug", {"node_info": node_info}

    def _on_finished(self, event: NodeFinished) -> Iterator[_Line]:
        self._done += 1
        result = event.result
        status = result["status"]
        node_info = self._node_info(event.node, status, utc(event.at))
        if status == "skipped" and "cause" in result["adapter_response"]:
            yield self._skipped(event, node_info)
        elif status != "skipped":
            yield self._result(event, node_info)
        for warning in event.warnings:
            yield "RunResultWarning", warning, "warn", {"msg": warning, "node_info": node_info}
        name = _PROBLEMS.get(status)
        if name is not None:
            message = result["message"] or status
            yield name, message, "error", {"msg": message, "node_info": node_info}
        if self._graph.nodes[event.node].resource_type in _WITH_END:
            node_info = {**node_info, "node_status": _END_STATUSES.get(status, status)}
            data = {"node_info": node_info, "run_result": _run_result(result), "num_failures": result["failures"]}
            yield "NodeFinished", f"Finished running node {event.node}", "debug", data

    def _skipped(self, event: NodeFinished, node_info: Mapping[str, Any]) -> _Line:
        data = {
            "resource_type": node_info.get("resource_type", ""),
            "schema": (node_info.get("node_relation") or {}).get("schema", ""),
            "node_name": event.name,
            **self._counts("total"),
            "node_info": node_info,
        }
        return "SkippingDetails", f"{self._done} of {self._total} SKIP {event.label}", "info", data

    def _result(self, event: NodeFinished, node_info: Mapping[str, Any]) -> _Line:
        result, relation = event.result, node_info.get("node_relation") or {}
        kind, status, seconds = event.node.partition(".")[0], result["status"], result["execution_time"]
        status_word = {"success": "OK"}.get(status, status.upper())
        first_line = (result["message"] or status_word).partition("\n")[0]
        text = f"{self._done} of {self._total} {status_word} {event.label} [{first_line} in {seconds:.2f}s]"
        data: dict[str, Any] = {"status": status, "execution_time": seconds, "node_info": node_info}
        if kind == "seed":
            message, table = result["message"] or status_word, relation.get("alias", "")
            data |= {"result_message": message, "schema": relation.get("schema", ""), "relation": table}
            return "LogSeedResult", text, "info", {**data, **self._counts("total")}
        if kind in ("test", "unit_test"):
            data |= {"name": event.name, "num_failures": result["failures"] or 0, **self._counts("num_models")}
            return "LogTestResult", text, "info", data
        if kind == "source":
            source, _, table = event.label.rpartition(".")
            data |= {"source_name": source, "table_name": table, **self._counts("total")}
            return "LogFreshnessResult", text, "info", data
        description = f"sql {node_info.get('materialized', '')} model {relation.get('relation_name') or event.name}"
        return "LogModelResult", text, "info", {**data, "description": description, **self._counts("total")}

    def _counts(self, total: str) -> dict[str, int]:
        return {"index": self._done, total: self._total}

    def _on_end(self, event: InvocationFinished | FreshnessFinished) -> Iterator[_Line]:
        stats = {"pass": 0, "warn": 0, "error": 0, "skip": 0, "no-op": 0}
        for status, count in event.counts.items():
            stats[_STATS.get(status, status)] += count
        stats["total"] = sum(stats.values())
        counts = " ".join(f"{name.upper()}={count}" for name, count in stats.items())
        yield "StatsLine", f"Done. {counts}", "info", {"stats": stats}
        elapsed = (event.at - self._began).total_seconds()
        outcome = "succeeded" if event.ok else "failed"
        text = f"Command `{self._command}` {outcome} at {utc(event.at)} after {elapsed:.2f} seconds"
        yield "CommandCompleted", text, "debug", {"command": self._command, "success": event.ok, "elapsed": elapsed}

    def _node_info(self, unique_id: str, status: str, finished: str = "") -> dict[str, Any]:
        node = self._graph.nodes[unique_id]
        relation = node.relation if isinstance(node, RefNode) else None
        kind = {"test": "test", "unit_test": "unit", "seed": "seed"}.get(node.resource_type, node.materialized or "")
        return {
            "node_path": path_in_folder(node),
            "node_name": node.name,
            "unique_id": unique_id,
            "resource_type": node.resource_type,
            "materialized": kind,
            "node_status": status,
            "node_started_at": self._started.get(unique_id, ""),
            "node_finished_at": finished,
            "meta": plain(node.meta),
            "node_checksum": node.checksum,
            "node_relation": {
                "database": (relation.catalog if relation else None) or "",
                "schema": (relation.schema if relation else None) or "",
                "alias": relation.identifier if relation else node.name,
                "relation_name": str(relation) if relation and relation.sql is None else "",
            },
            **({"attached_node": _attached(node)} if isinstance(node, DataTestNode) else {}),
        }


_Line = tuple[str, str, Level, dict[str, Any]]
"""The name of dbt's event, its text, level and data."""
_WITH_END = ("model", "seed", "test")
"""What has a `NodeFinished`: dagster-dbt looks each node of it up in `nodes` of the manifest."""


def _note(event: Event) -> Iterator[_Line]:
    message = event.data.get("message")
    if message:
        yield "Note", message, event.level, {"msg": message}


def _on_batch(event: NodeBatchFinished) -> Iterator[_Line]:
    batch = event.batch
    text = f"{event.label} {batch['start']}/{batch['end']} {batch['status']}: {batch['message'] or ''}".rstrip(": ")
    yield "Note", text, event.level, {"msg": text}


def _attached(node: DataTestNode) -> str:
    return (node.generic_test.attached_node if node.generic_test is not None else None) or ""


def _run_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result as dbt's lines have it; values of `adapter_response` that are not flat are texts of JSON."""
    response = {
        key: json.dumps(value, default=str) if isinstance(value, (dict, list)) else value
        for key, value in result["adapter_response"].items()
    }
    return {
        "status": result["status"],
        "message": result["message"] or "",
        "timing_info": result["timing"],
        "thread": result["thread_id"],
        "execution_time": result["execution_time"],
        "adapter_response": response,
        "num_failures": result["failures"] or 0,
    }
