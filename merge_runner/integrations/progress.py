"""The tables of a build as they are done: a table is, once it and its tests have ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from merge_runner.integrations.figures import ENDED_WELL, FAILED, Figure, figures
from merge_runner.integrations.manifest import ProjectTables

_GOES_ON = frozenset(
    {None, "scheduled", "queued", "running", "restarting", "deferred", "up_for_retry", "up_for_reschedule"}
)
"""States of a task of Airflow that is not at its end; None: not scheduled yet."""
Next = Literal["wait", "done", "failed", "left out"]


@dataclass(frozen=True)
class Outcome:
    """How a table has ended in a build.

    `status` is that of the model, or that of the worst of its tests where one has not passed. `final`: no other attempt
    of the same run follows. `generation` is how often a user had the run begin again.
    """

    status: str
    message: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    final: bool = True
    generation: int = 0

    @property
    def ended_well(self) -> bool:
        """Return whether what reads the table may run."""
        return self.status in ENDED_WELL

    def as_json(self) -> dict[str, Any]:
        """Return it as a value that JSON can hold."""
        return asdict(self)


class Progress:
    """Collects results, and says which tables are done."""

    def __init__(self, tables: ProjectTables, *, final: bool, generation: int) -> None:
        """Take the tables, and what is said of all outcomes."""
        self._tables = tables.tables
        self._of_test = {check.unique_id: table for table in self._tables.values() for check in table.checks}
        self._results: dict[str, Mapping[str, Any]] = {}
        self._done: set[str] = set()
        self._final = final
        self._generation = generation

    def add(self, result: Mapping[str, Any]) -> Iterator[tuple[str, Outcome]]:
        """Take an entry of run_results.json; yield the table that is done with it, if one is, with its outcome."""
        unique_id = result["unique_id"]
        self._results[unique_id] = result
        table = self._tables.get(unique_id) or self._of_test.get(unique_id)
        if table is None or table.unique_id not in self._results or table.unique_id in self._done:
            return
        well = self._results[table.unique_id]["status"] in ENDED_WELL
        if not well or all(check.unique_id in self._results for check in table.checks):
            yield table.unique_id, self._outcome(table.unique_id)

    def end(self) -> Iterator[tuple[str, Outcome]]:
        """Yield the other tables that were built: those with tests that were not selected."""
        for unique_id in self._tables:
            if unique_id in self._results and unique_id not in self._done:
                yield unique_id, self._outcome(unique_id)

    def _outcome(self, unique_id: str) -> Outcome:
        self._done.add(unique_id)
        own = self._results[unique_id]
        tests = [
            self._results[check.unique_id]
            for check in self._tables[unique_id].checks
            if check.unique_id in self._results
        ]
        outcome_figures = figures(own)
        if tests:
            passed_count = sum(test["status"] in ("pass", "no-op") for test in tests)
            outcome_figures |= {"tests": len(tests), "tests_passed": passed_count}
        worst = _worst([own, *tests])
        lines = [_line(test) for test in tests if test["status"] not in ("pass", "no-op", "skipped")]
        message = "\n".join(lines) if lines else _line(own)
        return Outcome(worst, message, outcome_figures, self._final, self._generation)


def _worst(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the status of one that failed, else `skipped`, else `warn` where one is that, else that of the model."""
    statuses = [str(result["status"]) for result in results]
    for status in (*FAILED, "skipped", "warn"):
        if status in statuses:
            return status
    return statuses[0]


def _line(result: Mapping[str, Any]) -> str:
    """Return the message of a result, after the name of a test."""
    message = str(result.get("message") or "")
    if not result["unique_id"].startswith(("test.", "unit_test.")):
        return message
    head = f"{result['unique_id']} {result['status']}"
    return f"{head}: {message}" if message else head


def what_next(outcome: Outcome | None, state: str | None, generation: int) -> Next:
    """Return what the task of a table does, given its outcome, if any, and the state of the task that builds.

    An outcome of another generation is one that the build will replace, unless that has ended. A failure that another
    attempt may mend is waited for.
    """
    running = state in _GOES_ON
    if outcome is None or (running and outcome.generation != generation):
        return "wait" if running else "left out" if state == "success" else "failed"
    if outcome.ended_well:
        return "done"
    return "wait" if running and not outcome.final else "failed"
