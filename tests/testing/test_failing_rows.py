"""What a person sees of the failing rows of a data test, and what the artifacts keep of them."""

from pathlib import Path

import pytest

from merge_runner.testing.failing_rows import LONGEST_VALUE, cut_rows, named_columns, read_rows, table_lines
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("failing_rows.yml"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_table(case):
    rows = read_rows(case["rows"], case.get("first", ()))
    lines = list(table_lines(rows, case.get("width", 100)))
    assert "\n".join(lines) + "\n" == case["table"]


def test_a_secret_is_hidden_before_a_value_is_cut():
    secret = "s3cret-word"
    long = "x" * (LONGEST_VALUE - 5) + secret
    rows = read_rows([f'{{"a":"{secret}","b":["{secret}"],"c":{{"{secret}":1}},"d":"{long}","e":null,"f":1}}'])
    [row] = cut_rows(rows, lambda text: text.replace(secret, "*****"))
    assert row == {"a": "*****", "b": ["*****"], "c": {"*****": 1}, "d": long[:-11] + "*****", "e": None, "f": 1}
    [row] = cut_rows(read_rows([f'{{"a":"{long}{long}","b":["{long}"]}}']), str)
    assert len(row["a"]) == len(row["b"]) == LONGEST_VALUE


def test_the_columns_that_an_expression_names():
    assert named_columns(["id", "Amount", "net"], ["amount >= 0 and network = 1"]) == ["Amount"]
