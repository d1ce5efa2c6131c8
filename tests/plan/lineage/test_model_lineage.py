"""Column lineage across the models of a project."""

import json
from pathlib import Path

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from tests.yaml_data import read_yaml

PROFILES = "shop: {outputs: {dev: {master: 'local[2]', schema: main}}}\n"
FILES = {
    "profiles.yml": PROFILES,
    "models/sources.yml": """
        sources:
          - name: raw
            tables:
              - name: orders
                columns: [{name: id}, {name: customer_id}, {name: net}, {name: day}]
              - {name: clicks}
        """,
    "seeds/rate.csv": "currency,factor\nEUR,1\n",
    "models/stg_order.sql": """
        {{ config(materialized='view') }}
        select id, customer_id, net * r.factor as net, day from {{ source('raw', 'orders') }}
        cross join {{ ref('rate') }} as r
        """,
    "models/recent.sql": """
        {{ config(materialized='ephemeral') }}
        select customer_id, sum(net) as spent from {{ ref('stg_order') }} where day > '2024-01-01' group by customer_id
        """,
    "models/balance.sql": """
        merge into {{ this }} as t using {{ ref('recent') }} as s on t.customer_id = s.customer_id
        when matched then update set total = t.total + s.spent
        when not matched then insert (customer_id, total) values (s.customer_id, s.spent)
        """,
    "models/top.sql": """
        {{ config(materialized='table') }}
        select customer_id, total > 100 as is_large, 'x' as label from {{ ref('balance') }}
        """,
    "models/by_name.sql": "{{ config(materialized='view') }} select total as t from main.balance",
    "models/clicked.sql": "{{ config(materialized='view') }} select *, upper(page) as p from {{ source('raw', 'clicks') }}",
}
CASES = read_yaml(Path(__file__).parent / "lineage.yml")


@pytest.fixture
def shop(make_project):
    return Project.load(make_project(FILES))


def names(columns):
    return [f"{each.model}.{each.column}" for each in columns]


def test_each_model_has_its_columns_with_all_inputs(shop):
    found = json.loads(json.dumps(shop.lineage().as_json()))
    assert list(found) == ["version", "columns", "unresolved"]
    assert found["version"] == 1
    columns = {(each["model"], each["column"]): each["inputs"] for each in found["columns"]}
    assert list(columns) == [
        ("by_name", "t"),
        ("clicked", "p"),
        *(("stg_order", each) for each in ("id", "customer_id", "net", "day")),
        *(("balance", each) for each in ("customer_id", "total")),
        *(("top", each) for each in ("customer_id", "is_large", "label")),
    ]
    assert [each["reason"] for each in found["unresolved"]] == ["the columns of raw.clicks are not all known"]
    assert columns["top", "label"] == []
    assert {tuple(each.values()) for each in columns["balance", "total"]} == {
        ("main.stg_order", "net", "direct", "aggregation"),
        ("main.balance", "total", "direct", "transformation"),
        ("main.balance", "customer_id", "indirect", "join"),
        ("main.stg_order", "customer_id", "indirect", "join"),
        ("main.stg_order", "customer_id", "indirect", "group_by"),
        ("main.stg_order", "day", "indirect", "filter"),
    }
    assert columns["stg_order", "id"] == [
        {"relation": "raw.orders", "column": "id", "type": "direct", "subtype": "identity"}
    ]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_upstream_and_downstream(shop, case):
    found = shop.lineage(case["of"], **case.get("options", {}))
    for part in ("start", "upstream", "downstream"):
        assert sorted(names(getattr(found, part))) == sorted(case.get(part, [])), part
    if "text" in case:
        assert list(found.lines()) == case["text"].splitlines()


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("balanse", 'there is no model, seed or source "balanse"', 'did you mean "balance"?'),
        ("balanse.total", 'there is no model, seed or source "balanse"', 'did you mean "balance"?'),
        ("balance.totel", '"balance" has no column "totel"', 'did you mean "total"?'),
        ("raw.clicks.pag", 'no column "pag" of "raw.clicks" is known', 'did you mean "page"?'),
        ("recent", '"recent" is ephemeral: it has no table, and lineage goes through it', "name a model that reads it"),
    ],
)
def test_a_name_that_is_none(shop, name, message, hint):
    with pytest.raises(ProblemsError) as error:
        shop.lineage(name)
    (problem,) = error.value.problems
    assert (problem.message, problem.hint) == (message, hint)


def test_what_cannot_be_resolved_has_its_place(make_project):
    root = make_project(
        {
            **FILES,
            "models/odd.sql": "{{ config(materialized='view') }}\nselect id,\n  nothing\nfrom {{ ref('stg_order') }}",
            "models/broken.sql": "merge into {{ this }} using",
        }
    )
    found = Project.load(root).lineage()
    assert not found.ok
    odd, broken = (next(each for each in found.unresolved if each.model == model) for model in ("odd", "broken"))
    assert (odd.column, odd.reason, str(odd.place)) == (
        "nothing",
        'no relation here has a column "nothing"',
        "models/odd.sql:3:3",
    )
    assert not odd.is_error
    assert broken.is_error
    assert broken.place.path == "models/broken.sql"
    assert 'models/odd.sql:3:3: odd.nothing: no relation here has a column "nothing"' in "\n".join(found.lines())
    only = Project.load(root).lineage("balance.total")
    assert only.ok
    assert not Project.load(root).lineage("broken.total").ok


def test_lineage_looks_at_no_more_models_than_it_needs(make_project):
    root = make_project({**FILES, "models/broken.sql": "merge into {{ this }} using"})
    assert Project.load(root).lineage("top.is_large", direction="up").ok


def test_two_models_that_write_one_table(make_project):
    write = "{{{{ config(alias='facts') }}}} merge into {{{{ this }}}} as t using {{{{ source('raw', 'orders') }}}} as s on t.id = s.id when not matched then insert (id, v) values (s.id, s.{0})"
    files = {
        **{key: FILES[key] for key in ("profiles.yml", "models/sources.yml")},
        "models/one.sql": write.format("net"),
        "models/two.sql": write.format("day"),
        "models/reader.sql": "{{ config(materialized='view') }} select v from {{ ref('one') }}",
    }
    shop = Project.load(make_project(files))
    assert sorted(names(shop.lineage("reader.v", direction="up", direct=True).upstream)) == ["one.v", "two.v"]
    assert names(shop.lineage("two.v", direction="down", direct=True).downstream) == ["reader.v"]


def test_changes_of_a_table(make_project):
    files = {
        **FILES,
        "models/log.sql": """
            merge into {{ this }} as t using (select customer_id, total, _change_type as kind from {{ changes('balance') }}) as s
            on t.customer_id = s.customer_id
            when not matched then insert (customer_id, total, kind) values (s.customer_id, s.total, s.kind)
            """,
    }
    found = Project.load(make_project(files)).lineage("log.total", direct=True)
    assert names(found.upstream) == ["balance.total", "stg_order.net"]
    assert found.unresolved == ()


def test_the_clause_changes_from_of_a_model_is_an_edge_and_followed(make_project):
    files = {
        **FILES,
        "models/log.sql": """
            merge into {{ this }} as t
            using (select customer_id, total, _change_type as kind from {{ ref('balance') }} changes from version 3) as s
            on t.customer_id = s.customer_id
            when not matched then insert (customer_id, total, kind) values (s.customer_id, s.total, s.kind)
            """,
    }
    shop = Project.load(make_project(files))
    total = shop.lineage("log.total", direct=True)
    assert names(total.upstream) == ["balance.total", "stg_order.net"]
    assert total.unresolved == ()
    assert shop.graph.nodes["model.shop.log"].depends_on == ("model.shop.balance",)


def test_the_drawing_has_a_box_for_each_table(shop):
    lines = list(shop.lineage("balance.total", direction="up").dot())
    assert lines[0] == "digraph lineage {"
    assert lines[-1] == "}"
    assert sum("subgraph" in line for line in lines) == 4
    assert '  "main.stg_order.net" -> "main.balance.total" [label=aggregation];' in lines
    assert '  "main.stg_order.customer_id" -> "main.balance.(rows)" [label=join, style=dashed];' in lines


def test_an_empty_project_has_no_columns(make_project):
    found = Project.load(make_project({"profiles.yml": PROFILES})).lineage()
    assert (found.columns, found.ok, list(found.lines())) == ((), True, [])
