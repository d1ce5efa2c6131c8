"""The runs for which a model's template may render different texts, and the findings of all of them as one list.

A finding that is the same for every text is reported once; one that only some texts have names their runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from merge_runner.graph.build import Invocation
from merge_runner.lint.finding import Finding


@dataclass(frozen=True)
class Run:
    """A kind of run: its name for messages ("only in a full refresh"), and the invocation that renders for it."""

    name: str
    invocation: Callable[[Invocation], Invocation]


RUNS = (
    Run("an ordinary run", lambda invocation: replace(invocation, full_refresh=False)),
    Run("a full refresh", lambda invocation: replace(invocation, full_refresh=True)),
)
"""All kinds of runs, in the order in which messages name them. The same findings are found whichever of them is asked
for, so that a baseline that was written without `--full-refresh` also counts with it."""

BRANCHING = ("is_full_refresh",)
"""The Jinja functions that return different values in different runs: a template without them renders one text."""


def merged(found: Sequence[tuple[Sequence[str], Sequence[Finding]]]) -> tuple[Finding, ...]:
    """Return the findings of several texts of one model without duplicates; each text has the names of its runs.

    Findings are the same where rule, start and message are: end, hint, fix, and the excerpt that a baseline knows a
    finding by, are those of the first text.
    """
    first: dict[tuple[object, ...], Finding] = {}
    runs: dict[tuple[object, ...], dict[str, None]] = {}
    for names, findings in found:
        for finding in findings:
            key = (finding.code, finding.place.path, finding.place.line, finding.place.column, finding.message)
            first.setdefault(key, finding)
            runs.setdefault(key, {}).update(dict.fromkeys(names))
    every = sum(len(names) for names, _ in found)
    return tuple(
        finding
        if len(runs[key]) == every
        else replace(finding, message=f"{finding.message} (only in {' and '.join(runs[key])})")
        for key, finding in first.items()
    )
