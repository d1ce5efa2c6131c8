"""Paths as a CI system wants them: relative to the root of the git repository, wherever the project lies in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from merge_runner.lint.finding import Finding
from merge_runner.lint.report import Report
from merge_runner.text import Place


def from_repository(report: Report, folder: Path) -> Report:
    """The report, whose paths are relative to `folder`, with paths from the repository that holds the folder."""
    here = folder.resolve()
    top = next((parent for parent in (here, *here.parents) if (parent / ".git").exists()), here)
    if top == here:
        return report
    prefix = PurePosixPath(here.relative_to(top).as_posix())

    def move_path(path: str) -> str:
        return (prefix / path).as_posix()  # an absolute path stays

    def move_place(place: Place) -> Place:
        return replace(place, path=move_path(place.path))

    def move_finding(finding: Finding) -> Finding:
        fix = finding.fix
        if fix is not None:
            fix = replace(fix, edits=tuple(replace(edit, place=move_place(edit.place)) for edit in fix.edits))
        return replace(finding, place=move_place(finding.place), fix=fix)

    return replace(
        report,
        merges=tuple(replace(merge, path=move_path(merge.path)) for merge in report.merges),
        findings=tuple(move_finding(finding) for finding in report.findings),
        not_judged=tuple(replace(item, place=move_place(item.place)) for item in report.not_judged),
        sources={move_path(path): text for path, text in report.sources.items()},
    )
