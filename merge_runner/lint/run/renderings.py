"""The runs for which a model's template may render different texts, and the findings of all of them as one list.

A finding that is the same for every text is reported once; one that only some texts have names their runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from merge_runner.graph.invocation import Invocation
from merge_runner.lint.finding import Finding


@dataclass(frozen=True)
class Run:
    """A kind of run: its name for messages ("only in a full refresh"), and the invocation that renders for it.

    `scans`: its target holds rows. A first run and a full refresh write an empty table, and how much of that is scanned
    is no finding.
    """

    name: str
    invocation: Callable[[Invocation], Invocation]
    scans: bool = False


RUNS = (
    Run("an incremental run", lambda invocation: replace(invocation, full_refresh=False, incremental=True), scans=True),
    Run("a first run", lambda invocation: replace(invocation, full_refresh=False, incremental=False)),
    Run("a full refresh", lambda invocation: replace(invocation, full_refresh=True)),
)
"""All kinds of runs, in the order in which messages name them. The same findings are found whichever of them is asked
for, so that a baseline that was written without `--full-refresh` also counts with it."""

_ABOUT_SCANS = ("P", "K")
"""How the codes of the rules begin that are about what the target's scan skips."""


@dataclass
class Text:
    """One text of a model: the runs that render it, and what was found in it."""

    runs: list[Run]
    findings: Sequence[Finding]

    def counted(self) -> Iterator[Finding]:
        """The findings that count: those about scans only where the target holds rows."""
        scans = any(run.scans for run in self.runs)
        return (finding for finding in self.findings if scans or not finding.code.startswith(_ABOUT_SCANS))


def merge_findings(texts: Sequence[Text]) -> tuple[Finding, ...]:
    """Return the findings of several texts of one model without duplicates.

    A finding that not all texts have names the runs of those that have it, unless it is about scans. Findings are the
    same where rule, start and message are: end, hint, fix, and the excerpt that a baseline knows a finding by, are
    those of the first text.
    """
    first: dict[tuple[object, ...], Finding] = {}
    runs: dict[tuple[object, ...], dict[str, None]] = {}
    for text in texts:
        for finding in text.counted():
            key = (finding.code, finding.place.path, finding.place.line, finding.place.column, finding.message)
            first.setdefault(key, finding)
            runs.setdefault(key, {}).update(dict.fromkeys(run.name for run in text.runs))
    every = sum(len(text.runs) for text in texts)
    return tuple(
        finding
        if len(runs[key]) == every or finding.code.startswith(_ABOUT_SCANS)
        else replace(finding, message=f"{finding.message} (only in {' and '.join(runs[key])})")
        for key, finding in first.items()
    )
