"""The batches of a model as time partitions, which begin at `begin` and are UTC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

import dagster as dg

from merge_runner.integrations.manifest import Table

_CRONS = {
    "hour": ("0 * * * *", "%Y-%m-%d-%H:%M"),
    "day": ("0 0 * * *", "%Y-%m-%d"),
    "month": ("0 0 1 * *", "%Y-%m-%d"),
    "year": ("0 0 1 1 *", "%Y-%m-%d"),
}
"""When a batch of each size begins, and its key: that of Dagster's own hourly, daily and monthly partitions."""


def batch_partitions(table: Table) -> dg.TimeWindowPartitionsDefinition | None:
    """Return a partition for each batch of a model; None: it has no batches."""
    start = table.first_batch
    if start is None:
        return None
    cron, format = _CRONS[table.config["batch_size"]]
    return dg.TimeWindowPartitionsDefinition(start=start, fmt=format, cron_schedule=cron, timezone="UTC")


def done_partitions(
    partitions: dg.TimeWindowPartitionsDefinition, result: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the partitions of the batches that have succeeded, of an entry of run_results.json, each with its batch."""
    for batch in (result.get("adapter_response") or {}).get("batches") or ():
        if batch["status"] in ("success", "no-op"):
            window = dg.TimeWindow(_time(batch["start"]), _time(batch["end"]))
            for key in partitions.get_partition_keys_in_time_window(window):
                yield key, batch


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
