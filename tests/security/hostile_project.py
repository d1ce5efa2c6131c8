"""A project as a stranger may have made it, in a repository beside a secret."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.security import bounded_run
from tests.written_project import write_project

SECRET = "secret-of-this-machine"
FILES = {
    "models/a.sql": "select 1 as id",
    "models/models.yml": "models: [{name: a, description: d}]",
}


def write_hostile(tmp_path: Path, files: dict[str, str] | None = None) -> Path:
    """Write a project in a repository, with files of somebody else beside it; return its folder."""
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "secret.sql").write_text(f"select '{SECRET}' as id")
    (tmp_path / "others" / "secret.yml").write_text(f"{SECRET}: [")
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    return write_project(tmp_path / "repository" / "shop", "s", {**FILES, **(files or {})})


def run(project: Path, arguments: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder of a project; a command that waits for ever is stopped, and raises."""
    return bounded_run.run(project, *arguments, env={"PATH": os.environ["PATH"], "HOME": str(home)})
