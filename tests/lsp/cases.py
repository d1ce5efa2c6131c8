"""Cases of the language server: a file of a project, an edit that is not saved, and a cursor `|` in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import Prepared, prepare_to_lint
from merge_runner.text import Place
from tests.yaml_data import read_yaml

ROOT = Path(__file__).parents[2]
ANSWERS = Path(__file__).parent / "answers"


@cache
def _prepared(project: str) -> Prepared:
    return prepare_to_lint(ROOT / project, Flags(), {}, cache=False)[0]


@cache
def saved(project: str = "") -> ProjectIndex:
    """A project of the repository as it is on disk; "" is flights."""
    return ProjectIndex(_prepared(project))


@dataclass(frozen=True)
class Opened:
    """A file that an editor has open: its text, and the offset of the cursor."""

    project: ProjectIndex
    path: str
    text: str
    offset: int

    @property
    def arguments(self) -> tuple[ProjectIndex, str, str, int]:
        return self.project, self.path, self.text, self.offset


def cases(name: str) -> list[Any]:
    """The cases of a file in `answers`, as parameters."""
    found = read_yaml(ANSWERS / f"{name}.yml")
    return [pytest.param(case, id=f"{case['file'].rpartition('/')[2]}-{case['at'].strip()}") for case in found]


def opened(case: dict[str, Any]) -> Opened:
    """The file of a case. `at` is a part of its text with the cursor; it takes the place of `instead`, where there is one.

    A file that the project does not have is new, and `at` is all of it.
    """
    project, path, at = saved(case.get("project", "")), case["file"], case["at"]
    before, _, after = at.partition("|")
    saved_text = project.text(path)
    replaced = case.get("instead", before + after if saved_text else "")
    assert replaced in saved_text, f"{path} has no {replaced!r}"
    text = saved_text.replace(replaced, before + after, 1)
    opened_project = ProjectIndex(project.prepared, {path: text}) if text != saved_text else project
    return Opened(opened_project, path, text, saved_text.index(replaced) + len(before))


def written(project: ProjectIndex, place: Place) -> str:
    """A place as a case has it: by its line, in pyproject.toml, which changes for other reasons, by that line's text."""
    if place.path != "pyproject.toml":
        return f"{place.path}:{place.line}:{place.column}"
    line = project.text(place.path).splitlines()[place.line - 1]
    return f"{place.path}: {line[place.column - 1 :].partition('#')[0].strip()}"
