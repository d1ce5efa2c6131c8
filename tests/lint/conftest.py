"""A few rules, so that what stands around them can be tested without them."""

import pytest

from merge_runner.lint.rule import Rule

NAMES = {
    "C001": "one-sided-filter",
    "C003": "source-not-unique",
    "E001": "unknown-property",
    "P001": "unbounded-target",
    "P003": "filter-in-when",
    "S001": "unused-suppression",
}
SEVERITIES = {"C001": "error", "E001": "error", "P001": "error"}


@pytest.fixture(scope="session")
def known():
    """Rules as there are, in the order of their codes."""
    return tuple(Rule(code, name, SEVERITIES.get(code, "warning"), "") for code, name in NAMES.items())
