"""How long nodes took the last time: what the scheduler's critical path is measured in."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path


def recorded_durations(run_results: Path) -> dict[str, float]:
    """Seconds by node id of the nodes that ran to their end in an earlier run_results.json; empty without one.

    A file that cannot be read costs the better order and nothing else.
    """
    try:
        entries = json.loads(run_results.read_text(encoding="utf-8"))["results"]
        found = {
            str(entry["unique_id"]): float(entry["execution_time"])
            for entry in entries
            if entry["status"] in ("success", "pass", "warn", "no-op")
        }
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return {}
    return {node: seconds for node, seconds in found.items() if isfinite(seconds)}
