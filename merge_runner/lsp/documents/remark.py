"""What is to be said of a document: findings of lint and problems of the project, and verdicts on its MERGEs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from merge_runner.errors import Problem
from merge_runner.lint.finding import Finding, Fix, Severity
from merge_runner.lint.report import ReportedMerge
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


@dataclass(frozen=True)
class Diagnosis:
    """What is known of the text of a document: remarks, and the verdicts on its MERGEs where it is no model.

    `conceal` hides the secrets in a text that is shown of them.
    """

    remarks: Sequence[Remark] = ()
    merges: Sequence[ReportedMerge] = ()
    conceal: Callable[[str], str] = str


def of_finding(finding: Finding) -> Remark:
    """Return a finding with its hint."""
    message = finding.message if finding.hint is None else f"{finding.message}\n{finding.hint}"
    url, merge = finding.url or None, finding.merge
    return Remark(finding.place, finding.code, message, finding.severity, url, finding.fix, True, merge)


def of_problem(problem: Problem, place: Place) -> Remark:
    """Return a problem with its advice, at a place of the document."""
    message = problem.message if problem.advice is None else f"{problem.message}\n{problem.advice}"
    return Remark(place, problem.code, message, "error")
