"""Docs blocks of .md files in descriptions, and what is wrong with them."""

from __future__ import annotations

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError

BLOCKS = """# Orders

{% docs orders %}
One row for an order, the customer's *latest* state.
Its `id` is '42'.
{% enddocs %}
{%- docs order_id -%} 42 {%- enddocs -%}
"""


def properties(description):
    return f"models: [{{name: m, description: {description!r}}}]"


def test_doc_in_the_descriptions_of_everything_that_has_one(make_project):
    root = make_project(
        {
            "models/m.sql": "select 1 as id",
            "models/docs/orders.md": BLOCKS,
            "seeds/s.csv": "id\n1\n",
            "models/m.yml": """
                models:
                  - name: m
                    description: "{{ doc('orders') }}"
                    columns: [{name: id, description: "The id: {{ doc('shop', 'order_id') }}."}]
                seeds: [{name: s, columns: [{name: id, description: "{{ doc('order_id') }}"}]}]
                sources: [{name: raw, tables: [{name: t, description: "{{ doc('order_id') }}"}]}]
            """,
        }
    )
    nodes = {node.name: node for node in Project.load(root).graph.nodes.values()}
    orders = "One row for an order, the customer's *latest* state.\nIts `id` is '42'."
    assert nodes["m"].description == orders
    assert nodes["m"].columns["id"]["description"] == "The id: 42."
    assert nodes["s"].columns["id"]["description"] == "42"
    assert nodes["t"].description == "42"


@pytest.mark.parametrize(
    ("docs", "description", "problem"),
    [
        (
            BLOCKS,
            "{{ doc('ordres') }}",
            'models/m.yml:1:33: there is no docs block "ordres" [unknown-doc]\n    did you mean "orders"?',
        ),
        (
            "",
            "{{ doc('orders') }}",
            'models/m.yml:1:33: there is no docs block "orders" [unknown-doc]\n'
            "    write {% docs orders %} … {% enddocs %} in a .md file of the model paths",
        ),
        (
            BLOCKS + "{% docs orders %}{% enddocs %}",
            "",
            'models/d.md:8:9: the docs block "orders" is defined twice, first in models/d.md:3:9 [duplicate-name]\n'
            "    give one of them another name",
        ),
        ("a\n{% docs a %}", "", "models/d.md:2:1: a docs block is never closed: {% enddocs %} is missing [docs-block]"),
        (
            "{% docs %}{% enddocs %}",
            "",
            "models/d.md:1:1: a docs block without a name [docs-block]\n    write {% docs name %}",
        ),
        ("a {% enddocs %}", "", "models/d.md:1:3: {% enddocs %} without {% docs %} [docs-block]"),
    ],
)
def test_a_mistake_has_a_place(make_project, docs, description, problem):
    files = {"models/m.sql": "select 1", "models/m.yml": properties(description), "models/d.md": docs}
    with pytest.raises(ProblemsError) as caught:
        Project.load(make_project(files))
    assert str(caught.value) == problem
