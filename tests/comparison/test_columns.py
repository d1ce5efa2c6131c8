"""Which columns of two tables are compared."""

import pytest

from merge_runner.comparison.columns import TypedColumn, match_columns


def columns(*types):
    return [TypedColumn(name, type, name) for name, _, type in (text.partition(" ") for text in types)]


@pytest.mark.parametrize(
    ("left", "right", "compared", "difference"),
    [
        (["a int"], ["A int"], ["a"], ((), (), {})),
        (["a int"], ["a bigint"], ["a"], ((), (), {"a": ("int", "bigint")})),
        (["a smallint"], ["a tinyint"], ["a"], ((), (), {"a": ("smallint", "tinyint")})),
        (["a int"], ["a string"], [], ((), (), {"a": ("int", "string")})),
        (["a float"], ["a double"], [], ((), (), {"a": ("float", "double")})),
        (
            ["a decimal(10,2)"],
            ["a decimal(12,2)"],
            ["a"],
            ((), (), {"a": ("decimal(10,2)", "decimal(12,2)")}),
        ),
        (
            ["a decimal(10,2)"],
            ["a decimal(10,3)"],
            [],
            ((), (), {"a": ("decimal(10,2)", "decimal(10,3)")}),
        ),
        (["a int", "b int"], ["c int", "a int"], ["a"], (("b",), ("c",), {})),
        (["a int", "skip int"], ["a int", "SKIP string"], ["a"], ((), (), {})),
    ],
)
def test_columns_are_matched_by_name_and_type(left, right, compared, difference):
    matched = match_columns(columns(*left), columns(*right), excluded=("Skip",))
    assert [pair.name for pair in matched.pairs] == compared
    schema = matched.schema
    assert (schema.only_left, schema.only_right, schema.types) == difference
    assert bool(schema) is any(map(bool, difference))
