"""Good code has no error: merges as people write them, in tests/lint/clean_merges.sql."""

from pathlib import Path

from merge_runner.lint.run.lint_files import Surroundings, lint_files
from merge_runner.lint.run.lint_project import LintOptions
from merge_runner.lint.run.plain_files import plain_files

FILE = Path(__file__).parent / "clean_merges.sql"


def test_lint_warns_of_scans_at_most():
    report = lint_files(list(plain_files([FILE], FILE.parent)), LintOptions(), {}, Surroundings(FILE.parent))
    errors = [finding for finding in report.findings if finding.severity == "error"]
    assert [f"{each.place}: {each.code} {each.message}" for each in errors if not each.code.startswith("P")] == []
    assert len(report.merges) >= 50
