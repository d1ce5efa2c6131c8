"""Which columns of a table a query may read."""

from pathlib import Path

import pytest

from merge_runner.merge.read_query import read_query
from merge_runner.pruning.query.read_columns import read_columns
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("read_columns.yml"))
COLUMNS = ("day", "k", "n", "a b")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['query']} {case.get('view', '')}")
def test_case(case):
    texts = [case["query"], *([case["view"]] if "view" in case else [])]
    is_read = read_columns(texts, [read_query(text) for text in texts], lambda parts: parts == ("c",))
    found = "all" if is_read is None else [name for name in COLUMNS if is_read(name)]
    assert found == (case["read"] if case["read"] == "all" else [*case["read"], "a b"])
