"""Which columns two versions of a model's SQL make differently."""

from pathlib import Path

import pytest

from merge_runner.lineage.changed_columns import Version, changed_columns
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "changed_columns.yml")


def names(same=None):
    """Names of tables as they are, but for those that are the `same` as others."""
    return lambda parts: (same or {}).get(".".join(parts).casefold(), ".".join(parts).casefold())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_changed_columns(case):
    before, after = Version(case["before"], names(case.get("same"))), Version(case["after"], names())
    found = changed_columns(before, after, merge=case.get("merge", False))
    assert (found if found is None else sorted(found)) == (None if case["columns"] == "all" else case["columns"])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_version_does_not_differ_from_itself(case):
    version = Version(case["after"], names())
    readable = case["name"] not in ("what cannot be read", "no MERGE any more")
    assert changed_columns(version, version, merge=case.get("merge", False)) == (frozenset() if readable else None)
