"""The state of a project's files: it is another one whenever any of them is."""

from __future__ import annotations

import os

from merge_runner.project.load.state import ProjectState


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
