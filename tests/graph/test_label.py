"""How result lines name tests."""

import pytest

from merge_runner.api import Project
from merge_runner.graph.label import label

YML = """
sources: [{name: raw, tables: [{name: orders, format: delta, columns: [{name: id, data_tests: [unique, {not_null: {name: filled}}]}]}]}]
models:
  - name: fct
    columns:
      - {name: id, data_tests: [unique, {not_null: {name: always_filled}}]}
unit_tests:
  - {name: a_late_correction_wins, model: fct, given: [{input: "source('raw', 'orders')", rows: []}], expect: {rows: []}}
"""
FILES = {
    "models/fct.sql": "select id from {{ source('raw', 'orders') }}",
    "models/m.yml": YML,
    "tests/one.sql": "select * from {{ ref('fct') }}",
    "tests/two.sql": "select * from {{ ref('fct') }} join {{ source('raw', 'orders') }} using (id)",
}


@pytest.fixture
def labels(make_project):
    nodes = Project.load(make_project(FILES)).graph.nodes
    return {node.name: label(nodes, unique_id) for unique_id, node in nodes.items()}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("fct", "fct"),
        ("a_late_correction_wins", "fct: a_late_correction_wins"),
        ("always_filled", "fct: always_filled"),
        ("unique_fct_id", "unique_fct_id"),
        ("filled", "raw.orders: filled"),
        ("unique_source_raw_orders_id", "unique_source_raw_orders_id"),
        ("one", "fct: one"),
        ("two", "two"),
    ],
)
def test_a_test_is_named_after_what_it_tests(labels, name, shown):
    assert labels[name] == shown
