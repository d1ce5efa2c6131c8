"""The batches of a model, for what schedules them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from merge_runner.plan.batches.window import window_start
from merge_runner.project.syntax.point_in_time import read_time


def first_batch(config: Mapping[str, Any]) -> datetime | None:
    """Return when the first batch of a model begins (UTC), by its config in manifest.json; None: it has no batches."""
    size, begin = config.get("batch_size"), config.get("begin")
    return None if size is None or begin is None else window_start(read_time(begin), size)
