"""Findings and verdicts out of the plain data that is kept of them, without loading what judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from merge_runner.errors import Problem
from merge_runner.lint.finding import Edit, Finding, Fix
from merge_runner.lint.report import JudgementGap, Report, ReportedClause, ReportedConjunct, ReportedMerge
from merge_runner.text import Place


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    """The names of the fields of a dataclass; none for any other type."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def as_json(value: Any) -> Any:
    """Return what `asdict` makes of a finding or a verdict, in a fifth of the time: their leaves need no copies."""
    kind: Any = type(value)
    if names := _names(kind):
        return {name: as_json(getattr(value, name)) for name in names}
    return [as_json(item) for item in value] if isinstance(value, tuple) else value


def report_of_json(entry: Mapping[str, Any], sources: Mapping[str, str]) -> Report:
    """Return the report that `as_json` took apart, with the texts for its excerpts."""
    own = {
        "merges": tuple(map(merge_of_json, entry["merges"])),
        "findings": tuple(map(finding_of_json, entry["findings"])),
        "not_judged": tuple(map(not_judged_of_json, entry["not_judged"])),
    }
    return Report(**{**entry, **own, "sources": sources})


def problem_of_json(entry: Mapping[str, Any]) -> Problem:
    """Return the problem that `as_json` took apart."""
    place = Place(**entry["place"]) if entry["place"] is not None else None
    return Problem(**{**entry, "place": place, "calls": tuple(entry["calls"])})


def merge_of_json(entry: Mapping[str, Any]) -> ReportedMerge:
    """Return the verdict that `asdict` took apart. Raises KeyError or TypeError for anything else."""
    clauses = tuple(ReportedClause(**clause) for clause in entry["clauses"])
    conjuncts = tuple(ReportedConjunct(**conjunct) for conjunct in entry["conjuncts"])
    return ReportedMerge(**{**entry, "clauses": clauses, "conjuncts": conjuncts})


def not_judged_of_json(entry: Mapping[str, Any]) -> JudgementGap:
    """Return the MERGE without a verdict that `asdict` took apart. Raises KeyError or TypeError for anything else."""
    return JudgementGap(**{**entry, "place": Place(**entry["place"]), "rules": tuple(entry["rules"])})


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
