"""The documents that an editor has open: which project each is in, and what is known of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.api.lint import linted
from merge_runner.api.logged_messages import LoggedMessages
from merge_runner.errors import ProblemsError
from merge_runner.lint.containers.registry import SUFFIXES
from merge_runner.lint.request import LintRequest
from merge_runner.lint.run.contents_linter import ContentsReader
from merge_runner.lint.run.plain_file import PlainFile, with_text
from merge_runner.lint.run.roots import project_of, within
from merge_runner.lsp.documents.described_tables import Folders
from merge_runner.lsp.documents.open_project import OpenProject
from merge_runner.lsp.documents.remark import Diagnosis, Remark, of_finding, of_problem
from merge_runner.merge.find import find_merge
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.template.templates import Templates
from merge_runner.text import Place, as_source

if TYPE_CHECKING:
    from merge_runner.lsp.documents.described_tables import DescribedTables
    from merge_runner.template.rendered_text import RenderedText

LONGEST = 2_000_000
"""Characters of a text that is looked at while it is typed; tables that are written as SQL have more."""


class OpenDocuments:
    """Looks at documents. `look` is called by one thread at a time, the others by any."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self._projects: dict[Path, OpenProject] = {}
        self._roots: dict[Path, Path | None] = {}

    @cached_property
    def _folders(self) -> Folders:
        return Folders(self.env)

    def locate(self, path: Path) -> tuple[OpenProject, str] | None:
        """Return the project that a file is in, and the path of the file there; None outside of any project."""
        folder = path.parent
        if folder not in self._roots:
            try:
                self._roots[folder] = project_of(None, [path])
            except ProblemsError:
                self._roots[folder] = None
        root = self._roots[folder]
        inner = within(root, path) if root is not None else None
        if root is None or inner is None:
            return None
        return self._projects.setdefault(root, OpenProject(root, self.env)), inner

    def is_shared(self, path: Path) -> bool:
        """Whether a file is one of a project that other documents may depend on: no model and no plain file."""
        location = self.locate(path)
        return location is not None and location[0].is_shared(location[1])

    def check_files(self) -> None:
        """See what has changed on disk when something is next asked: files may have, settings among them."""
        self._roots.clear()
        for project in self._projects.values():
            project.check_files()

    def look(self, path: Path, texts: Mapping[Path, str]) -> Diagnosis:
        """Return what is known of a document; `texts` are those of all open ones, this among them."""
        if len(texts[path]) > LONGEST:
            message = f"not looked at while it is open, it has more than {LONGEST:,} characters: merge-runner lint does"
            return Diagnosis([Remark(Place(str(path), 1, 1), "too-large", message, "info")])
        location = self.locate(path)
        if location is None:
            return _diagnosis(path, texts[path], self.env)
        project, inner = location
        project.update(self._texts_of(project, texts), inner)
        return project.look(inner)

    def tables(self, path: Path, texts: Mapping[Path, str]) -> DescribedTables:
        """Return the tables that the files in the folder of a document create, the open ones as they are written.

        Those of the project that it is in are among them, as it could last be loaded.
        """
        location = self.locate(path)
        return self._folders.tables(path, texts, location[0].project if location is not None else None)

    def merges(self, path: Path, text: str) -> list[RenderedText]:
        """Return the MERGEs of a document that is no model, with the macros and vars of the project that it is in."""
        location = self.locate(path)
        project = location[0].project if location is not None else None
        files = project.prepared.files if project is not None else None
        macros, vars = (files.macros, files.vars) if files is not None else ((), {})
        reader = ContentsReader(Templates(macros), vars, RecordingEnv(self.env))
        file_contents = reader.whole(with_text(PlainFile(str(path), path, None), as_source(text)))
        return [
            statement.rendered
            for statement in file_contents.contents.statements
            if find_merge(statement.rendered.text) is not None
        ]

    def _texts_of(self, project: OpenProject, texts: Mapping[Path, str]) -> dict[str, str]:
        located = {path: self.locate(path) for path, text in texts.items() if len(text) <= LONGEST}
        return {
            location[1]: as_source(texts[path])
            for path, location in located.items()
            if location is not None and location[0] is project
        }


def real_path(path: str) -> Path:
    """Return a path of the editor without `..`; links stay."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def _diagnosis(path: Path, text: str, env: Mapping[str, str]) -> Diagnosis:
    """Return what is known of the document `path` with this `text`: a plain file, or a model of a dbt project."""
    if path.suffix.lower() not in SUFFIXES:
        return Diagnosis()
    try:
        result = linted(LintRequest((path,), text, cache=False, processes=1), RecordingEnv(env), LoggedMessages("lsp"))
    except ProblemsError as error:
        return Diagnosis([of_problem(problem, Place(str(path), 1, 1)) for problem in error.problems])
    report = result.report
    remarks = [of_finding(item) for item in report.findings if real_path(str(result.folder / item.place.path)) == path]
    plain = (merge for merge in report.merges if merge.model is None)  # a model of dbt is judged as dbt compiled it
    return Diagnosis(remarks, [merge for merge in plain if real_path(str(result.folder / merge.path)) == path])
