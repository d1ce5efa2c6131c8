"""What a comparison says: as text, JSON and Markdown."""

from datetime import date

import pytest

from merge_runner.comparison.columns import SchemaDifference
from merge_runner.comparison.report import (
    DiffReport,
    Example,
    FailedComparison,
    FilesRead,
    RowCounts,
    TableDifference,
)

EQUAL = TableDifference("dim", "dev.dim", "prod.dim", ("id",), RowCounts(3, 3), files=FilesRead(0, 0, 2))
CHANGED = TableDifference(
    "fct",
    "dev.fct",
    "prod.fct",
    ("id",),
    RowCounts(1200, 1199, only_left=2, only_right=1, changed=3),
    {"amount": 3, "day": 1},
    SchemaDifference(("extra",), (), {"n": ("int", "bigint")}),
    {"partition_by": ("day", "")},
    (
        Example("changed", {"id": 7}, {"amount": 1.5, "day": None}, {"amount": 2.5, "day": date(2024, 1, 2)}),
        Example("changed", {"id": 8}, {"amount": 1.5}, {"amount": None}),
        Example("only_left", {"id": 9}, {"amount": 1.0}, {}),
        Example("only_right", {"id": 10}, {}, {"amount": 2.0}),
    ),
    FilesRead(1, 2, 364),
)
FAILED = FailedComparison("old", "dev.old has not been built yet")


def test_the_text_says_what_differs_and_shows_examples():
    assert list(DiffReport((EQUAL, CHANGED, FAILED)).lines(100)) == [
        "dim: dev.dim and prod.dim: equal rows (3)",
        "  files read: 0 and 0; 2 that both have were not read",
        "fct: dev.fct and prod.fct: 3 changed, 2 only in dev.fct, 1 only in prod.fct (of 1,200 and 1,199 rows)",
        "  columns only in dev.fct: extra",
        "  type of n: int and bigint",
        "  partition_by: day and none",
        "  changed rows by column: amount 3, day 1",
        "  files read: 1 and 2; 364 that both have were not read",
        "  changed:",
        "  | id | amount     | day               |",
        "  | -- | ---------- | ----------------- |",
        "  |  7 | 1.5 → 2.5  | NULL → 2024-01-02 |",
        "  |  8 | 1.5 → NULL | =                 |",
        "  only in dev.fct:",
        "  | id | amount |",
        "  | -- | ------ |",
        "  |  9 |    1.0 |",
        "  only in prod.fct:",
        "  | id | amount |",
        "  | -- | ------ |",
        "  | 10 |    2.0 |",
        "old: not compared: dev.old has not been built yet",
    ]


def test_json_has_what_the_interface_promises():
    document = DiffReport((CHANGED, FAILED)).as_json()
    assert document["version"] == 1
    changed, failed = document["models"]
    assert changed == {
        "model": "fct",
        "left": "dev.fct",
        "right": "prod.fct",
        "key": ["id"],
        "equal": False,
        "rows": {"left": 1200, "right": 1199, "only_left": 2, "only_right": 1, "changed": 3},
        "columns": {"amount": 3, "day": 1},
        "schema": {"only_left": ["extra"], "only_right": [], "types": {"n": ["int", "bigint"]}},
        "layout": {"partition_by": ["day", ""]},
        "examples": [
            {
                "kind": "changed",
                "key": {"id": 7},
                "left": {"amount": 1.5, "day": None},
                "right": {"amount": 2.5, "day": "2024-01-02"},
            },
            {"kind": "changed", "key": {"id": 8}, "left": {"amount": 1.5}, "right": {"amount": None}},
            {"kind": "only_left", "key": {"id": 9}, "left": {"amount": 1.0}, "right": {}},
            {"kind": "only_right", "key": {"id": 10}, "left": {}, "right": {"amount": 2.0}},
        ],
        "files_read": {"left": 1, "right": 2, "shared": 364},
    }
    assert failed == {"model": "old", "equal": None, "error": "dev.old has not been built yet"}


def test_markdown_has_a_row_for_each_model_and_details_of_those_that_differ():
    lines = list(DiffReport((EQUAL, CHANGED, FAILED)).markdown())
    assert lines[:5] == [
        "| model |  | only left | only right | changed | columns |",
        "| --- | --- | --: | --: | --: | --- |",
        "| dim | equal | 0 | 0 | 0 |  |",
        "| fct | different | 2 | 1 | 3 | amount 3, day 1 |",
        r"| old | not compared |  |  |  | dev.old has not been built yet |",
    ]
    assert "**fct**: dev.fct and prod.fct" in lines
    assert "| 7 | 1.5 → 2.5 | NULL → 2024-01-02 |" in lines
    assert "**dim**: dev.dim and prod.dim" not in lines


def test_no_value_of_a_row_is_read_as_markdown():
    example = Example("only_left", {"id": "<b>|`x`"}, {"name": "[a](javascript:1)"}, {})
    model = TableDifference("m", "a.m", "b.m", ("id",), RowCounts(1, 0, only_left=1), examples=(example,))
    text = "\n".join(DiffReport((model,)).markdown())
    assert r"&lt;b&gt;\|\`x\`" in text
    assert r"\[a\](javascript:1)" in text


@pytest.mark.parametrize(
    ("models", "status"),
    [
        ((), 0),
        ((EQUAL,), 0),
        ((EQUAL, CHANGED), 1),
        ((EQUAL, FAILED), 2),
        ((CHANGED, FAILED), 2),
        ((TableDifference("m", "a", "b", (), RowCounts(1, 1), schema=SchemaDifference(("c",))),), 1),
        ((TableDifference("m", "a", "b", (), RowCounts(1, 1), layout={"cluster_by": ("a", "b")}),), 0),
    ],
)
def test_the_exit_status(models, status):
    assert DiffReport(models).exit_status == status
