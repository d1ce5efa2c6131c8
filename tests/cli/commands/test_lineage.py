"""`merge-runner lineage`: what it prints, and its exit status."""

import json

import pytest

STAGING = "{{ config(materialized='view') }} select id, amount * 2 as amount from {{ source('raw', 'orders') }}"
MERGE = """merge into {{ this }} as t using {{ ref('stg') }} as s on t.id = s.id
when matched then update set total = t.total + s.amount
when not matched then insert (id, total) values (s.id, s.amount)
"""
FILES = {
    "models/stg.sql": STAGING,
    "models/fct.sql": MERGE,
    "models/raw.yml": "sources: [{name: raw, tables: [{name: orders, columns: [{name: id}, {name: amount}]}]}]\n",
}


@pytest.fixture
def root(make_project):
    return make_project(FILES)


def test_one_column_as_text(call, root):
    ended = call("lineage", "fct.total", "--direction", "up", cwd=root)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[:5] == [
        "fct.total",
        "  comes from",
        "  ├─ fct.total (transformation) (itself)",
        "  └─ stg.amount (identity and transformation)",
        "     └─ raw.orders.amount (transformation)",
    ]


def test_all_columns_as_json(call, root):
    ended = call("lineage", "--output", "json", "--direct", cwd=root)
    assert ended.returncode == 0
    columns = json.loads(ended.stdout)["columns"]
    assert [(each["model"], each["column"]) for each in columns] == [
        *(("stg", "id"), ("stg", "amount")),
        *(("fct", "id"), ("fct", "total")),
    ]
    assert [each["subtype"] for each in columns[3]["inputs"]] == ["transformation", "identity", "transformation"]


def test_a_drawing(call, root):
    ended = call("lineage", "fct", "--output", "dot", cwd=root)
    assert ended.returncode == 0
    assert ended.stdout.startswith("digraph lineage {\n")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fact", 'there is no model, seed or source "fact" [unknown-model]\n    did you mean "fct"?'),
        ("fct.totals", '"fct" has no column "totals" [unknown-lineage-column]\n    did you mean "total"?'),
    ],
)
def test_a_name_that_is_none(call, root, name, expected):
    ended = call("lineage", name, cwd=root)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert expected in ended.stderr


def test_a_model_that_cannot_be_read(call, make_project):
    root = make_project({**FILES, "models/broken.sql": "merge into {{ this }} using"})
    ended = call("lineage", cwd=root)
    assert ended.returncode == 1
    assert "models/broken.sql:1:" in ended.stdout
    assert call("lineage", "fct.total", cwd=root).returncode == 0
