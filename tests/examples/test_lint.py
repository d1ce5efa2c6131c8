"""Every example is what lint would have it be."""

import pytest

from merge_runner import Project
from tests.examples.conftest import EXAMPLES

NAMES = sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / "profiles.yml").exists())


@pytest.mark.parametrize("name", NAMES)
def test_lint_finds_nothing(name):
    report = Project.load(EXAMPLES / name).lint()
    assert report.merges
    assert [str(finding) for finding in report.findings] == []
