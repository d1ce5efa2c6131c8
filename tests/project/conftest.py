"""Projects as small trees of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.project.load.files import ProjectFiles
from merge_runner.project.load.load import read

PYPROJECT = '[tool.merge-runner]\nname = "shop"\n'
PROFILES = "shop:\n  outputs:\n    local: {schema: shop}\n"


def load(root: Path, **arguments) -> ProjectFiles:
    """Return a project without problems; raise ProblemsError with all problems of any other one."""
    problems = Problems()
    files = read(root, problems, **arguments)
    problems.check()
    return files


class Project:
    """A project in a folder: loads it, or tells what is wrong with it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, files: Mapping[str, str | bytes]) -> Project:
        for path, content in files.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else dedent(content).encode())
        return self

    def load(self, **arguments) -> ProjectFiles:
        return load(self.root, **{"env": {"HOME": str(self.root / "home")}, **arguments})

    def problems(self, **arguments) -> tuple[Problem, ...]:
        with pytest.raises(ProblemsError) as caught:
            self.load(**arguments)
        return caught.value.problems

    def messages(self, **arguments) -> list[str]:
        return [str(problem) for problem in self.problems(**arguments)]


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Project]:
    """Writes a project: a good pyproject.toml and profiles.yml, and the files given by path."""

    def write(files: Mapping[str, str | bytes] | None = None) -> Project:
        return Project(tmp_path).write({"pyproject.toml": PYPROJECT, "profiles.yml": PROFILES, **(files or {})})

    return write
