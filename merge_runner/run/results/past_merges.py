"""How long the MERGEs of earlier runs took, and what they scanned: from the runs that are kept in the target folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merge_runner.engine.context import PastMerge
from merge_runner.pages.runs.history import kept_runs

RUNS = 10
"""Kept runs that are looked at."""


def past_merges(target: Path, name: str) -> dict[str, tuple[PastMerge, ...]]:
    """Return the earlier runs of each MERGE, newest first, by node id; `name` is the target of the profile."""
    merges: dict[str, tuple[PastMerge, ...]] = {}
    for run in kept_runs(target, RUNS):
        if run.record["target"] == name:
            for entry in run.record["nodes"]:
                past_merge = _past_merge(entry)
                if past_merge is not None:
                    merges[entry["id"]] = (*merges.get(entry["id"], ()), past_merge)
    return merges


def _past_merge(entry: Mapping[str, Any]) -> PastMerge | None:
    """Return the MERGE of a node that has ended well; None where its figures are not known."""
    response = entry.get("response") or {}
    size, milliseconds = response.get("bytes_scanned"), response.get("execution_ms")
    if entry["status"] != "success" or size is None or milliseconds is None:
        return None
    return PastMerge(int(size), milliseconds / 1000)
