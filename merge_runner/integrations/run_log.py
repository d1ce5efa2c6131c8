"""What the log of an orchestrator's run shows of a build."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from merge_runner.integrations.figures import ENDED_WELL, FAILED
from merge_runner.integrations.process import Event


def failures(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each node that has failed."""
    return [
        f"{result['unique_id']}: {result.get('message') or result['status']}"
        for result in results
        if result["status"] in FAILED
    ]


def log_line(event: Event) -> tuple[str, str] | None:
    """Return the level and the text that the log of the run shows of an event; None: nothing."""
    kind = event["event"]
    if kind == "node_finished":
        result = event["result"]
        return _end(result, event["label"], result["execution_time"])
    if kind == "node_batch_finished":
        batch = event["batch"]
        return _end(batch, f"{event['label']} {batch['start']}/{batch['end']}", batch["seconds"])
    if kind in ("node_retried", "node_waiting", "message"):
        level = {"warn": "warning", "error": "error", "debug": "debug"}.get(str(event.get("level")), "info")
        return level, str(event["message"])
    if kind == "node_started":
        return "debug", f"started {event['label']}"
    if kind == "spark_started":
        return "info", f"Spark is up after {event['seconds']:.1f} s"
    return None


def _end(result: Mapping[str, Any], name: str, seconds: float) -> tuple[str, str]:
    level = "info" if result["status"] in ENDED_WELL else "error"
    text = f"{result['status']} {name} in {float(seconds):.2f} s"
    return level, f"{text}: {result['message']}" if result.get("message") else text
