"""What an orchestrator shows of a node, as data: figures.yml."""

from pathlib import Path

import pytest

from merge_runner.integrations.figures import failed_expectation, figures
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "figures.yml")


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_figures(case):
    found = figures(case["result"])
    assert found == case["figures"]
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in case["figures"].items()
    }


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (
            "error",
            "models/m.sql:1:1: the MERGE would go beyond `expect_merge` [expect-merge]\n    raise the limit",
            True,
        ),
        ("error", "rows went beyond a limit [expect-merge-committed]", True),
        ("error", "main has moved [expect-merge-conflict]", False),
        ("error", "Division by zero", False),
        ("error", None, False),
        ("skipped", "below a model that failed [expect-merge]", False),
    ],
)
def test_an_expectation_fails_only_where_its_limits_do(status, message, expected):
    assert failed_expectation({"status": status, "message": message}) is expected
