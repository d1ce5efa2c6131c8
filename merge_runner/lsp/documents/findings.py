"""What lint says of the text of one document outside of any project, which the editor may not have saved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from merge_runner.api.lint import linted
from merge_runner.api.logged_messages import LoggedMessages
from merge_runner.errors import ProblemsError
from merge_runner.lint.containers.registry import SUFFIXES
from merge_runner.lint.request import LintRequest
from merge_runner.lsp.documents.remark import Diagnosis, of_finding, of_problem
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.text import Place


def look(path: Path, text: str, env: Mapping[str, str]) -> Diagnosis:
    """Return what is known of the document `path` with this `text`: a plain file, or a model of a dbt project."""
    if path.suffix.lower() not in SUFFIXES:
        return Diagnosis()
    try:
        result = linted(LintRequest((path,), text, cache=False, processes=1), RecordingEnv(env), LoggedMessages("lsp"))
    except ProblemsError as error:
        return Diagnosis([of_problem(problem, Place(str(path), 1, 1)) for problem in error.problems])
    report = result.report
    remarks = [of_finding(item) for item in report.findings if _same(result.folder / item.place.path, path)]
    plain = (merge for merge in report.merges if merge.model is None)  # a model of dbt is judged as dbt compiled it
    return Diagnosis(remarks, [merge for merge in plain if _same(result.folder / merge.path, path)])


def _same(path: Path, other: Path) -> bool:
    # `..` ends, links stay: a model may be a link
    return os.path.abspath(path) == os.path.abspath(other)  # noqa: PTH100
