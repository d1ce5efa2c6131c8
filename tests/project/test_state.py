"""The state of a project's files: what has not changed since is not read again, and whatever has changed is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from merge_runner.project.load.state import STAMPS, ProjectState

LOOK = """
import sys, time
from pathlib import Path
from merge_runner.project.load.state import ProjectState
root, target, later = sys.argv[1:]
state = ProjectState.of(Path(root), target, [], lambda: time.time_ns() + int(later) * 1_000_000_000)
state.keep()
print(state.digest.hex(), *sorted(path for path in state.contents.read if path.endswith(".sql")))
"""


def look(root: Path, target: str = "target", later: int = 0) -> tuple[str, list[str]]:
    """Return the digest that another process finds, and the SQL files that it has read; its clock is ahead."""
    command = [sys.executable, "-c", LOOK, str(root), target, str(later)]
    digest, *read = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return digest, read


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.merge-runner]\nname = "shop"\n')
    (tmp_path / "models").mkdir()
    for name in ("m", "n"):
        (tmp_path / "models" / f"{name}.sql").write_text("select 1")
    return tmp_path


def test_a_file_that_is_the_same_is_not_read_again(project):
    first = ProjectState.of(project, None, [], lambda: 2**62)
    assert first is not None
    (project / "models" / "m.sql").chmod(0o600)
    again = first.again()
    assert again is not None
    assert again.digest == first.digest
    assert again.contents["models/n.sql"] is first.contents["models/n.sql"]
    assert again.contents["models/m.sql"] is not first.contents["models/m.sql"]


def test_a_later_process_reads_what_has_another_stamp(project):
    first, read = look(project, later=10)
    assert read == ["models/m.sql", "models/n.sql"]
    assert look(project) == (first, [])
    model = project / "models" / "m.sql"
    times = model.stat()
    model.write_text("select 2")
    os.utime(model, ns=(times.st_atime_ns, times.st_mtime_ns))  # its size and time are as before
    second, read = look(project, later=10)
    assert (second != first, read) == (True, ["models/m.sql"])
    model.unlink()
    (project / "models" / "n.sql").replace(model)
    third, read = look(project)
    assert (third not in (first, second), read) == (True, ["models/m.sql"])


def test_what_has_just_changed_is_read_again(project):
    first = look(project)
    assert look(project) == first


@pytest.mark.parametrize("damage", [lambda content: content[:40], lambda content: content[:-1] + b"x", lambda _: b""])
def test_stamps_that_cannot_be_read_cost_time_alone(project, damage):
    first = look(project, later=10)
    file = project / "target" / STAMPS
    file.write_bytes(damage(file.read_bytes()))
    assert look(project) == first


def test_stamps_of_another_project_do_not_count(project, tmp_path_factory):
    target = str(tmp_path_factory.mktemp("shared"))
    _, read = look(project, target, later=10)
    assert read
    other = tmp_path_factory.mktemp("other")
    (project / "pyproject.toml").rename(other / "pyproject.toml")
    (project / "models").rename(other / "models")  # the files are the same ones
    assert look(other, target)[1] == read


def test_a_file_that_changes_after_its_stamp_was_taken_is_not_there(project):
    look(project, later=10)
    digest, read = look(project)
    assert read == []
    state = ProjectState.of(project, "target", [])
    assert state is not None
    assert state.digest.hex() == digest
    (project / "models" / "m.sql").write_text("select 22")
    assert state.contents.get("models/m.sql") is None
    assert state.contents.get("models/n.sql") == b"select 1"
    assert "models/m.sql" in state.contents
    assert "models/o.sql" not in state.contents


def test_a_change_counts_that_keeps_size_and_time(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.merge-runner]\nname = "shop"\n')
    (tmp_path / "models").mkdir()
    model = tmp_path / "models" / "m.sql"
    model.write_text("select 1")
    os.utime(model, (1, 1))
    first = ProjectState.of(tmp_path, None, [])
    assert first is not None
    assert first.again() == first
    model.write_text("select 2")
    os.utime(model, (1, 1))
    again = first.again()
    assert again is not None
    assert again.digest != first.digest
    assert again.contents["models/m.sql"] == b"select 2"
