"""What a step says of rows that are left out, and where nothing is said: by the config key, the table and the statement."""

import pytest

from merge_runner import Project
from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.plan.steps.skip_unchanged import skipping
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.pruning.query.source import KnownTable

COLUMNS = (TableColumn("id", parse_type("int")), TableColumn("n", parse_type("int")))
NEWER = "when matched and s.n > t.n then update set *"
EVERY = "when matched then update set *"
VECTORS = {"delta.enableDeletionVectors": "true"}


@pytest.mark.parametrize(
    ("wanted", "clauses", "table_format", "properties", "text"),
    [
        ("auto", NEWER, "delta", {}, "source rows are left out where earlier merges had many"),
        ("on", NEWER, "iceberg", {}, "source rows are left out that match without a change"),
        ("on", NEWER, "delta", VECTORS, "source rows are left out that match without a change"),
        ("auto", NEWER, "delta", VECTORS, None),
        ("auto", NEWER, "iceberg", {}, None),
        ("off", NEWER, "delta", {}, None),
        ("auto", EVERY, "delta", {}, None),
        (
            *("on", EVERY, "delta", {}),
            "no unchanged rows are left out: WHEN MATCHED without a condition changes every row that matches; "
            "`skip_unchanged: equal_rows` compares what it sets",
        ),
        (
            *("equal_rows", EVERY, "delta", {}),
            "source rows are left out that match without a change, or set equal values",
        ),
    ],
)
def test_what_is_planned(wanted, clauses, table_format, properties, text):
    layout = TableLayout(table_format, COLUMNS, complete=True, properties=properties)
    known = KnownTable(TableLayout("delta", COLUMNS, complete=True))
    merge = judge_merge(parse(f"merge into t using src s on t.id = s.id {clauses}"), layout, lambda _: known)
    found = skipping(merge, wanted)
    assert (str(found) if found is not None else None) == text


def test_a_change_feed_has_changed_rows_alone():
    layout = TableLayout("delta", COLUMNS, complete=True)
    merge = judge_merge(parse(f"merge into t using src s on t.id = s.id {NEWER}"), layout, lambda _: KnownTable(layout))
    assert skipping(merge, "auto", feed=True) is None
    assert skipping(merge, "on", feed=True).left_out == "the source is what has changed in another table"


@pytest.mark.parametrize(
    ("wanted", "clause", "possible"),
    [
        ("auto", NEWER, True),
        ("off", NEWER, True),
        ("on", EVERY, False),
        ("equal_rows", EVERY, True),
        ("auto", EVERY, False),
    ],
)
def test_explain_says_whether_it_is_possible_as_the_config_asks(make_project, wanted, clause, possible):
    columns = "columns: [{name: id, data_type: int}, {name: n, data_type: int}]"
    files = {
        "models/src.sql": "{{ config(materialized='table') }} select 1 as id, 2 as n",
        "models/m.sql": f"{{{{ config(skip_unchanged='{wanted}') }}}} merge into {{{{ this }}}} as t "
        f"using {{{{ ref('src') }}}} as s on t.id = s.id {clause}",
        "models/m.yml": f"{{version: 2, models: [{{name: m, {columns}}}, {{name: src, {columns}}}]}}",
    }
    levels = Project.load(make_project(files)).explain().as_json()["levels"]
    (found,) = (node["skip_unchanged"] for level in levels for node in level if node["name"] == "m")
    assert found["possible"] is possible
    assert (found["reason"] is None) is possible
