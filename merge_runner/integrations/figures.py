"""What a node has done, as flat figures that an orchestrator shows, and plots where they are numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Figure = str | int | float | bool

_COUNTS = (
    *("rows_source", "rows_inserted", "rows_updated", "rows_deleted", "rows_copied", "rows_affected"),
    *("files_scanned", "files_total", "bytes_scanned"),
    *("files_added", "files_removed", "bytes_added", "bytes_removed"),
    *("scan_ms", "rewrite_ms", "execution_ms", "attempts", "lag_ms"),
)
"""Keys of `adapter_response` that are numbers."""
_TEXTS = ("operation", "verdict", "branch")
ENDED_WELL = frozenset({"success", "pass", "warn", "no-op"})
"""The statuses of a node that did what it should."""
FAILED = ("error", "fail", "partial success")
"""The statuses of a node that failed, the worst first."""


def figures(result: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of an entry of run_results.json.

    Rows by clause, files, bytes, milliseconds and attempts as in `adapter_response`; `seconds` is the time of the node,
    `files_skipped_percent` what data skipping left out, `runtime_filter` a text like `flight_date: 2 values`, `batches`
    how many batches of the model ran, `batches_done` how many of them succeeded. What the engine does not report is
    left out.
    """
    response = result.get("adapter_response") or {}
    values: dict[str, Figure] = {"status": str(result["status"]), "seconds": round(float(result["execution_time"]), 3)}
    values |= {key: response[key] for key in _COUNTS if isinstance(response.get(key), (int, float))}
    values |= {key: str(response[key]) for key in _TEXTS if response.get(key)}
    if isinstance(response.get("verdict_held"), bool):
        values["verdict_held"] = response["verdict_held"]
    total, scanned = values.get("files_total"), values.get("files_scanned")
    if isinstance(total, int) and isinstance(scanned, int) and total:
        values["files_skipped_percent"] = round(100 * (total - scanned) / total, 1)
    if response.get("bounds"):
        values["runtime_filter"] = ", ".join(f"{column}: {what}" for column, what in response["bounds"].items())
    if response.get("batches"):
        done = sum(batch["status"] in ENDED_WELL for batch in response["batches"])
        values |= {"batches": len(response["batches"]), "batches_done": done}
    if response.get("table_version") is not None:
        values["table_version"] = str(response["table_version"])
    if result.get("failures") is not None:
        values["failures"] = int(result["failures"])
    if result.get("message"):
        values["message"] = str(result["message"])
    return values


def failed_expectation(result: Mapping[str, Any]) -> bool:
    """Return whether the node is an error because its MERGE would have gone, or has gone, beyond `expect_merge`."""
    return result["status"] == "error" and any(
        f"[{code}]" in (result.get("message") or "") for code in ("expect-merge", "expect-merge-committed")
    )
