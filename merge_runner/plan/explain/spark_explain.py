"""What a running engine says of a MERGE that it does not run (`explain --spark`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from merge_runner.plan.explain.shuffle_remedies import ShuffleRemedies
from merge_runner.plan.steps.prediction import Prediction


@dataclass(frozen=True)
class TargetFiles:
    """How many files the target has, and how many of them the MERGE would read (None: unknown)."""

    total: int
    read: int | None

    def __str__(self) -> str:
        count = "an unknown number" if self.read is None else f"{self.read:,}"
        return f"files of the target that it would read: {count} of {self.total:,}"


@dataclass(frozen=True)
class EngineReport:
    """The engine's own plan of a MERGE, and the files of its target. `notes` say why a value is missing.

    `shuffles` are the shuffles and sorts of the plan with what takes each away; None where the plan does not show them,
    as Delta's. `error` is why the engine refuses the statement, with its place in the author's file.
    """

    plan: str | None = None
    files: TargetFiles | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None
    shuffles: tuple[ShuffleRemedies, ...] | None = None
    predicted: Prediction | None = None

    def lines(self) -> list[str]:
        """All of it as text."""
        lines = f"error: {self.error}".splitlines() if self.error is not None else []
        lines += [str(self.files)] if self.files is not None else []
        lines += self.notes
        if self.shuffles is not None:
            lines.append(f"in the engine's plan: {_count('Exchange', self.shuffles)}, {_count('Sort', self.shuffles)}")
            lines += (f"  {entry}" for entry in self.shuffles)
        if self.plan is not None:
            lines += ["the engine's plan:", *(f"  {line}".rstrip() for line in self._annotate(self.plan))]
        return lines

    def _annotate(self, plan: str) -> Iterator[str]:
        """The lines of the plan; those of shuffles and sorts say what they are for."""
        words = {entry.shuffle.line: entry.shuffle.words for entry in self.shuffles or ()}
        lines = plan.rstrip().splitlines()
        first = next((number for number, line in enumerate(lines) if line.strip()), 0)
        for number, line in enumerate(lines[first:], start=first):
            yield f"{line}   <-- {words[number]}" if number in words else line


def _count(kind: str, shuffles: tuple[ShuffleRemedies, ...]) -> str:
    return f"{sum(entry.shuffle.kind == kind for entry in shuffles)} {kind}"


def report_as_json(report: EngineReport | None) -> dict[str, Any]:
    """The keys that `explain --spark` adds to a node; None where it has no MERGE."""
    report = report or EngineReport()
    files = {"total": report.files.total, "read": report.files.read} if report.files is not None else None
    return {
        "spark_plan": report.plan,
        "files": files,
        "shuffles": None if report.shuffles is None else [entry.as_json() for entry in report.shuffles],
        "spark_notes": list(report.notes),
        "spark_error": report.error,
    }
