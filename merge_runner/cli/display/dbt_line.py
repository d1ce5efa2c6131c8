"""A line of dbt's structured log: `{"info": …, "data": …}` (docs.getdbt.com/reference/events-logging)."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Literal

from merge_runner.columns import printable_json
from merge_runner.graph.artifact import utc

_CODES = {
    "MainReportVersion": "A001",
    "LogTestResult": "Q007",
    "LogStartLine": "Q011",
    "LogModelResult": "Q012",
    "LogSeedResult": "Q016",
    "LogFreshnessResult": "Q018",
    "NodeStart": "Q024",
    "NodeFinished": "Q025",
    "ConcurrencyLine": "Q027",
    "SkippingDetails": "Q034",
    "CommandCompleted": "Q039",
    "MainEncounteredError": "Z002",
    "RunResultWarning": "Z021",
    "RunResultFailure": "Z022",
    "StatsLine": "Z023",
    "RunResultError": "Z024",
    "Note": "Z050",
    "ListCmdOut": "Z049",
}
"""dbt's codes of the events that are written."""


def dbt_line(
    name: str,
    text: str,
    level: Literal["debug", "info", "warn", "error"],
    invocation_id: str,
    data: Mapping[str, Any] | None = None,
    thread: str = "",
) -> str:
    """Return a line, without newline. `data` None: the text alone."""
    info = {
        "name": name,
        "code": _CODES[name],
        "msg": text,
        "level": level,
        "invocation_id": invocation_id,
        "pid": os.getpid(),
        "thread": thread or threading.current_thread().name,
        "ts": utc(datetime.now(timezone.utc)),
        "extra": {},
        "category": "",
    }
    return printable_json(json.dumps({"info": info, "data": {"msg": text} if data is None else data}, default=str))
