"""What lint says of the text of one document, which the editor may not have saved."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from merge_runner.api.lint import linted
from merge_runner.api.logged_messages import LoggedMessages
from merge_runner.errors import Problem, Problems, ProblemsError, joined_hints
from merge_runner.lint.finding import Finding, Severity
from merge_runner.lint.paths.named import project_of
from merge_runner.lint.paths.request import ArgumentsError, LintRequest
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.project.syntax.read_text import read_text
from merge_runner.text import Place, as_source

_CODE = (".sql", ".py", ".scala")
_YAML = (".yml", ".yaml")
_AS_SAVED = ("profiles.yml", "catalog.yml")
"""YAML whose unsaved text lint cannot be given."""


@dataclass(frozen=True)
class Remark:
    """A finding or a problem of the document. `url` None: nothing explains the code."""

    place: Place
    code: str
    message: str
    severity: Severity
    url: str | None = None


def remarks(path: Path, text: str, env: Mapping[str, str]) -> list[Remark]:
    """Return what is wrong in the document `path` with this `text`; what else the project reads is as saved.

    Lint takes the unsaved text of models and plain files. Of others, such as macros and property files, it reads what
    is on disk: nothing is returned of what has a place in a text that the editor no longer shows.

    Where the project cannot be loaded because of another file, the first remark names the cause.
    """
    if not _is_linted(path):
        return []
    text = as_source(text)
    try:
        root = project_of(None, [path])
        if root is None and path.suffix.lower() in _YAML:
            return []
        request = LintRequest((path,), text, cache=False, processes=1)
        found = linted(request, RecordingEnv(env), LoggedMessages("lsp"))
    except ProblemsError as error:
        return list(_of_problems(error.problems, path, root, saved=_saved(path) == text))
    except ArgumentsError as error:
        return [Remark(Place(str(path), 1, 1), "arguments", str(error), "error")]
    here = [item for item in found.report.findings if _same(found.folder, item.place, path)]
    sources = found.report.sources
    return [_of_finding(item) for item in here if sources.get(item.place.text_name, text) == text]


def _is_linted(path: Path) -> bool:
    suffix = path.suffix.lower()
    return suffix in _CODE or (suffix in _YAML and path.name not in _AS_SAVED)


def _saved(path: Path) -> str | None:
    source = read_text(path, path.as_posix(), Problems())
    return None if source is None else source.text


def _same(folder: Path, place: Place, path: Path) -> bool:
    # `..` ends, links stay: a model may be a link
    return os.path.abspath(folder / place.path) == os.path.abspath(path)  # noqa: PTH100


def _of_finding(finding: Finding) -> Remark:
    message = finding.message if finding.hint is None else f"{finding.message}\n{finding.hint}"
    return Remark(finding.place, finding.code, message, finding.severity, finding.url or None)


def _of_problems(problems: tuple[Problem, ...], path: Path, root: Path | None, *, saved: bool) -> Iterator[Remark]:
    elsewhere: list[Problem] = []
    for problem in problems:
        if saved and problem.place is not None and _same(root or path.parent, problem.place, path):
            message = problem.message if problem.advice is None else f"{problem.message}\n{problem.advice}"
            yield Remark(problem.place, problem.code, message, "error")
        else:
            elsewhere.append(problem)
    if elsewhere:
        first = elsewhere[0]
        where = "" if first.place is None else f"{first.place}: "
        more = None if len(elsewhere) == 1 else f"{len(elsewhere) - 1} more: `merge-runner parse` lists them"
        hints = joined_hints([first.advice, more])
        message = f"not linted, the project cannot be loaded: {where}{first.message}" + (f"\n{hints}" if hints else "")
        yield Remark(Place(path.as_posix(), 1, 1), first.code, message, "error")
