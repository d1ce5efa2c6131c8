"""The outcome of a stream's batches: the last result of every model, sums over all, and how long batches took."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from merge_runner.run.results.results import FAILED, Result

_SUMMED = ("rows_inserted", "rows_updated", "rows_deleted")


@dataclass
class _Batches:
    """Batches of one stream; `seconds` has each of them, for its percentiles."""

    rows: int = 0
    seconds: list[float] = field(default_factory=list)


class StreamTotals:
    """Adds up results as they come, from whatever thread."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = tuple(ids)
        self._last: dict[str, Result] = {}
        self._sums: dict[str, dict[str, Any]] = {}
        self._streams: dict[str, _Batches] = {}
        self._guard = threading.Lock()

    def add(self, results: Sequence[Result]) -> None:
        """Adds the results of one batch."""
        with self._guard:
            for result in results:
                self._last[result.unique_id] = result
                sums = self._sums.setdefault(result.unique_id, {"batches": 0, "seconds": 0.0})
                if result.status in FAILED or result.status == "skipped":
                    continue
                sums["batches"] += 1
                sums["seconds"] = round(sums["seconds"] + result.execution_time, 3)
                figures = result.response.merge
                for key in _SUMMED if figures is not None else ():
                    if (count := getattr(figures, key)) is not None:
                        sums[key] = sums.get(key, 0) + count

    def add_batch(self, stream: str, rows: int, seconds: float) -> None:
        """Adds a batch as a whole."""
        with self._guard:
            batches = self._streams.setdefault(stream, _Batches())
            batches.rows += rows
            batches.seconds.append(seconds)

    def results(self) -> list[Result]:
        """The last result of every model with `totals` of the batches that it came through; `no-op`: none came."""
        with self._guard:
            return [self._result(unique_id) for unique_id in self._ids]

    def _result(self, unique_id: str) -> Result:
        last = self._last.get(unique_id)
        if last is None:
            return Result(unique_id, "no-op", message="no rows came")
        return replace(last, response=replace(last.response, totals=self._sums[unique_id]))

    def of_stream(self, stream: str) -> dict[str, Any]:
        """Batches, their rows, and the median and the 99th percentile of their seconds (None without any)."""
        with self._guard:
            batches = self._streams.get(stream, _Batches())
            ordered = sorted(batches.seconds)
            return {
                "batches": len(ordered),
                "rows": batches.rows,
                "p50": _percentile(ordered, 50),
                "p99": _percentile(ordered, 99),
            }


def _percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The nearest rank: a time that a batch really took."""
    return round(ordered[-(-len(ordered) * percent // 100) - 1], 3) if ordered else None
