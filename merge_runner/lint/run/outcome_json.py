"""Findings and verdicts out of the plain data that is kept of them, without loading what judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merge_runner.lint.finding import Edit, Finding, Fix
from merge_runner.lint.report import ReportedClause, ReportedConjunct, ReportedMerge
from merge_runner.text import Place


def merge_of_json(entry: Mapping[str, Any]) -> ReportedMerge:
    """Return the verdict that `asdict` took apart. Raises KeyError or TypeError for anything else."""
    clauses = tuple(ReportedClause(**clause) for clause in entry["clauses"])
    conjuncts = tuple(ReportedConjunct(**conjunct) for conjunct in entry["conjuncts"])
    return ReportedMerge(**{**entry, "clauses": clauses, "conjuncts": conjuncts})


def finding_of_json(entry: Mapping[str, Any]) -> Finding:
    """Return the finding that `asdict` took apart. Raises KeyError or TypeError for anything else."""
    merge = Place(**entry["merge"]) if entry["merge"] is not None else None
    replaced = tuple((code, Place(**place)) for code, place in entry["replaced"])
    own = {"place": Place(**entry["place"]), "fix": _fix(entry["fix"]), "replaced": replaced}
    return Finding(**{**entry, **own, "merge": merge})


def _fix(entry: Mapping[str, Any] | None) -> Fix | None:
    if entry is None:
        return None
    edits = tuple(Edit(Place(**edit["place"]), edit["content"]) for edit in entry["edits"])
    return Fix(entry["message"], edits, entry["applicability"])
