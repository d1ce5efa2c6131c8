"""The record of a run for its page: results, with what only events say of them: retries, waits, the start of Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from merge_runner.engine.response import MERGE_FIGURES
from merge_runner.graph.artifact import utc
from merge_runner.graph.graph import ModelNode, Node
from merge_runner.pages.runs.timeline import NodeTime, timeline
from merge_runner.run.results.event_types import (
    BatchFinished,
    NodeRetried,
    NodeWaiting,
    Running,
    SparkStarted,
    StreamFinished,
    TableCompared,
    TableVersionsRead,
)
from merge_runner.run.results.events import Event
from merge_runner.run.results.results import Result, RunResults

_LONGEST = 600
_FIGURES = (
    *("operation", "verdict", "verdict_held", "attempts", "bounds", "created", "batch_id", "stream", "is_incremental"),
    "predicted",
    *MERGE_FIGURES,
)
_BATCHES = 2_000
"""Batches of one stream that a record has: the last ones."""


class RunRecorder:
    """Listens to the events of one invocation."""

    def __init__(self) -> None:
        self._retries: dict[str, list[dict[str, Any]]] = {}
        self._waits: dict[str, list[dict[str, Any]]] = {}
        self._batches: dict[str, list[tuple[datetime, BatchFinished]]] = {}
        self._streams: list[dict[str, Any]] = []
        self._versions: dict[str, TableVersionsRead] = {}
        self._differences: dict[str, TableCompared] = {}
        self._threads: int | None = None
        self._spark: tuple[datetime, float] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, NodeRetried):
            entry = {key: getattr(event, key) for key in ("code", "kind", "message", "attempt", "pause")}
            self._retries.setdefault(event.node, []).append({"at": event.at, **entry})
        elif isinstance(event, NodeWaiting):
            self._waits.setdefault(event.node, []).append({"at": event.at, "message": event.message})
        elif isinstance(event, TableVersionsRead):
            self._versions[event.node] = event
        elif isinstance(event, TableCompared):
            self._differences[event.node] = event
        elif isinstance(event, Running):
            self._threads = event.threads
        elif isinstance(event, SparkStarted):
            self._spark = self._spark or (event.at, event.seconds)
        elif isinstance(event, BatchFinished):
            batches = self._batches.setdefault(event.stream, [])
            batches.append((event.at, event))
            del batches[:-_BATCHES]
        elif isinstance(event, StreamFinished):
            self._streams.append({key: getattr(event, key) for key in ("stream", "batches", "rows", "p50", "p99")})

    def record(
        self,
        run: RunResults,
        nodes: Mapping[str, Node],
        waits_for: Mapping[str, Collection[str]],
        project: str,
        target: str,
    ) -> dict[str, Any]:
        """Return the record of a run that has ended, as JSON values; times are seconds since it began.

        `waits_for` are the nodes that each has waited for.
        """

        def seconds(at: datetime) -> float:
            return round((at - run.started_at).total_seconds(), 3)

        spans = [
            NodeTime(result.unique_id, seconds(phase.started_at), seconds(phase.completed_at), result.thread_id,
                tuple(sorted(waits_for.get(result.unique_id, ()))), result.status == "no-op")
            for result in run.results
            for phase in result.timing
            if phase.name == "execute"
        ]  # fmt: skip
        places = timeline(spans)
        times = {span.id: span for span in spans}
        entries = []
        for result in run.results:
            entry = self._node(result, nodes[result.unique_id], seconds)
            if result.unique_id in places:
                place, time = places[result.unique_id], times[result.unique_id]
                entry |= {"start": time.start, "end": time.end, "lane": place.lane, "ready": place.ready}
                if place.critical:
                    entry |= {"critical": True, "after": place.after, "by": place.by}
            entries.append({key: value for key, value in entry.items() if value not in (None, "", [], {})})
        record = {
            "id": run.invocation_id,
            "project": project,
            "target": target,
            "command": run.command,
            "args": dict(run.args),
            "started_at": utc(run.started_at),
            "seconds": seconds(run.completed_at),
            "ok": run.ok,
            "threads": self._threads,
            "spark": None if self._spark is None else {"at": seconds(self._spark[0]), "seconds": self._spark[1]},
            "nodes": entries,
        }
        if self._batches:
            record["streams"] = [self._stream(name, seconds) for name in self._batches]
        return record

    def _node(self, result: Result, node: Node, seconds: Any) -> dict[str, Any]:
        response, event = result.adapter_response, self._versions.get(result.unique_id)
        compared = self._differences.get(result.unique_id)
        return {
            "id": result.unique_id,
            "name": node.full_name,
            "kind": node.resource_type,
            "materialized": node.materialized,
            "status": result.status,
            "seconds": round(result.execution_time, 3) if result.timing else None,
            "message": (result.message or "")[:_LONGEST],
            "failures": result.failures,
            "warnings": [warning[:_LONGEST] for warning in result.warnings],
            "cause": result.cause,
            "response": {key: response[key] for key in _FIGURES if response.get(key) is not None},
            "retries": [{**retry, "at": seconds(retry["at"])} for retry in self._retries.get(result.unique_id, ())],
            "waits": [{**wait, "at": seconds(wait["at"])} for wait in self._waits.get(result.unique_id, ())],
            "versions": event.versions if event is not None else None,
            "versions_cut": event.cut or None if event is not None else None,
            "difference": compared.difference if compared is not None else None,
            "batch_size": node.config.batch_size if isinstance(node, ModelNode) else None,
            "batches": [_batch(batch) for batch in response.get("batches", ())],
        }

    def _stream(self, name: str, seconds: Any) -> dict[str, Any]:
        total = next((totals for totals in self._streams if totals["stream"] == name), {"stream": name})
        batches = [
            {
                "id": event.batch_id,
                "at": seconds(at),
                "rows": event.rows,
                "seconds": round(event.seconds, 3),
                "ok": event.ok,
                "lag": max(
                    (target["lag_ms"] for target in event.targets if target.get("lag_ms") is not None), default=None
                ),
            }
            for at, event in self._batches[name]
        ]
        return {**total, "recent": batches}


def _batch(batch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a batch as a page shows it. The id of an Iceberg snapshot is a larger number than JavaScript has."""
    version = str(batch["version"]) if batch["version"] is not None else None
    return {**batch, "message": (batch["message"] or "")[:_LONGEST] or None, "version": version}
