"""Checks of the set-up, without a project that can be loaded; tests/cli has how they are shown."""

from __future__ import annotations

import pytest

from merge_runner import Project
from merge_runner.api import debug, make_archive
from merge_runner.errors import ProblemsError


def test_a_project_that_cannot_be_loaded_is_loaded_once_and_reported_by_each_check_that_needs_it(tmp_path):
    loaded = []

    def load():
        loaded.append(1)
        return Project.load(tmp_path / "nowhere")

    checks = {check.name: check for check in debug(load)}
    assert [*checks] == ["versions", "java", "jars", "project", "merges", "catalogs", "home", "archive"]
    assert checks["versions"].ok
    problems = {checks[name].problems for name in ("project", "merges", "catalogs", "home", "archive")}
    assert len(problems) == len(loaded) == 1


def test_a_build_writes_the_class_data_archive():
    with pytest.raises(ProblemsError, match="make_archive is gone") as error:
        make_archive(iceberg=True)
    assert "MERGE_RUNNER_CDS=1" in error.value.problems[0].hint
