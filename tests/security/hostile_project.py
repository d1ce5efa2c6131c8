"""A project as a stranger may have made it, in a repository beside a secret."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.written_project import write_project

SECRET = "secret-of-this-machine"
FILES = {
    "models/a.sql": "select 1 as id",
    "models/models.yml": "models: [{name: a, description: d}]",
}
ROOT = Path(__file__).parents[2]


def write_hostile(tmp_path: Path, files: dict[str, str] | None = None) -> Path:
    """Write a project in a repository, with files of somebody else beside it; return its folder."""
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "secret.sql").write_text(f"select '{SECRET}' as id")
    (tmp_path / "others" / "secret.yml").write_text(f"{SECRET}: [")
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    return write_project(tmp_path / "repository" / "shop", "s", {**FILES, **(files or {})})


def run(project: Path, arguments: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder of a project; a command that waits for ever is stopped, and raises."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(home), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "merge_runner", *arguments]
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
