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

    def moved(path: str) -> str:
        return (prefix / path).as_posix()  # an absolute path stays

    def placed(place: Place) -> Place:
        return replace(place, path=moved(place.path))

    def with_paths(finding: Finding) -> Finding:
        fix = finding.fix
        if fix is not None:
            fix = replace(fix, edits=tuple(replace(edit, place=placed(edit.place)) for edit in fix.edits))
        return replace(finding, place=placed(finding.place), fix=fix)

    return replace(
        report,
        merges=tuple(replace(merge, path=moved(merge.path)) for merge in report.merges),
        findings=tuple(with_paths(finding) for finding in report.findings),
        not_judged=tuple(replace(item, place=placed(item.place)) for item in report.not_judged),
        sources={moved(path): text for path, text in report.sources.items()},
    )
