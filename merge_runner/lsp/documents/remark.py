"""What is to be said of a place in a document: a finding of lint, or a problem of the project."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.errors import Problem
from merge_runner.lint.finding import Finding, Fix, Severity
from merge_runner.text import Place


@dataclass(frozen=True)
class Remark:
    """A finding or a problem of a document. `url` None: nothing explains the code.

    `fix` ends it. `suppressible`: a noqa comment hides it. `merge` is where the MERGE begins that it is about.
    """

    place: Place
    code: str
    message: str
    severity: Severity
    url: str | None = None
    fix: Fix | None = None
    suppressible: bool = False
    merge: Place | None = None


def of_finding(finding: Finding) -> Remark:
    """Return a finding with its hint."""
    message = finding.message if finding.hint is None else f"{finding.message}\n{finding.hint}"
    url, merge = finding.url or None, finding.merge
    return Remark(finding.place, finding.code, message, finding.severity, url, finding.fix, True, merge)


def of_problem(problem: Problem, place: Place) -> Remark:
    """Return a problem with its advice, at a place of the document."""
    message = problem.message if problem.advice is None else f"{problem.message}\n{problem.advice}"
    return Remark(place, problem.code, message, "error")
