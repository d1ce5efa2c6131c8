"""`state:modified+` with --columns: the models that a changed column can reach."""

import shutil
from pathlib import Path

import pytest

from merge_runner.api import Project
from merge_runner.cli.main import main
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "column_reach.yml")
FILES = {
    "models/sources.yml": """
        sources:
          - name: raw
            tables:
              - name: orders
                columns: [{name: id}, {name: customer_id}, {name: net}, {name: day}, {name: note}]
              - {name: clicks}
        models:
          - {name: top, columns: [{name: customer_id, data_tests: [not_null]}]}
        """,
    "macros/mark.sql": "{% macro mark(x) %}lower({{ x }}){% endmacro %}",
    "models/stg_order.sql": """
        {{ config(materialized='view') }}
        select id, customer_id, net, day, note from {{ source('raw', 'orders') }}
        """,
    "models/recent.sql": """
        {{ config(materialized='ephemeral') }}
        select customer_id, sum(net) as spent from {{ ref('stg_order') }} where day > '2024-01-01' group by customer_id
        """,
    "models/balance.sql": """
        merge into {{ this }} as t using {{ ref('recent') }} as s on t.customer_id = s.customer_id
        when matched then update set total = t.total + s.spent, seen = true
        when not matched then insert (customer_id, total, seen) values (s.customer_id, s.spent, true)
        """,
    "models/top.sql": """
        {{ config(materialized='table') }}
        select customer_id, total > 100 as is_large, 'x' as label from {{ ref('balance') }}
        """,
    "models/by_name.sql": "{{ config(materialized='view') }} select total as t from {{ ref('balance') }}",
    "models/noted.sql": """
        {{ config(materialized='view') }}
        select id, {{ mark('day') }} as marked from {{ ref('stg_order') }}
        """,
    "models/clicked.sql": "{{ config(materialized='view') }} select *, upper(page) as p from {{ source('raw', 'clicks') }}",
    "models/page.sql": "{{ config(materialized='view') }} select q from {{ ref('clicked') }}",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project that was compiled, and the folder of its artifacts."""
    from tests.written_project import write_project

    root = write_project(tmp_path_factory.mktemp("columns") / "shop", "main", FILES)
    Project.load(root).compile()
    return root, root / "target"


def models(selection):
    return sorted(unique_id.rpartition(".")[2] for unique_id in selection.ids if unique_id.startswith("model."))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_changed_columns_reach(made, tmp_path, case):
    root = shutil.copytree(made[0], tmp_path / "shop", ignore=shutil.ignore_patterns("target"))
    for path, text in case["files"].items():
        (root / path).write_text(text)
    project = Project.load(root)
    found = project.select("state:modified+", state=made[1], columns=True)
    assert models(found) == sorted(case["selected"])
    assert set(found.ids) <= set(project.select("state:modified+", state=made[1]).ids)


def test_tests_of_what_is_reached_come_along(made, tmp_path):
    root = shutil.copytree(made[0], tmp_path / "shop", ignore=shutil.ignore_patterns("target"))
    by_name = {case["name"]: case["files"] for case in CASES}
    (root / "models/stg_order.sql").write_text(by_name["a column that one model reads"]["models/stg_order.sql"])
    found = Project.load(root).select("state:modified+", state=made[1], columns=True)
    assert [unique_id.split(".")[2] for unique_id in found.ids if unique_id.startswith("test.")] == [
        "not_null_top_customer_id"
    ]


def test_without_compiled_texts_all_columns_count(made, tmp_path):
    root = shutil.copytree(made[0], tmp_path / "shop", ignore=shutil.ignore_patterns("target"))
    Project.load(root).write_manifest()
    state = shutil.copytree(root / "target", tmp_path / "state")
    (root / "models/stg_order.sql").write_text(FILES["models/stg_order.sql"].replace("note", "upper(note) as note"))
    found = Project.load(root).select("state:modified+", state=state, columns=True)
    assert models(found) == ["balance", "by_name", "noted", "recent", "stg_order", "top"]


@pytest.mark.parametrize("command", [("ls", "-s", "state:modified+"), ("lint",)], ids=" ".join)
def test_columns_need_a_state(made, monkeypatch, capsys, command):
    monkeypatch.chdir(made[0])
    with pytest.raises(SystemExit) as ended:
        main([*command, "--columns"])
    assert ended.value.code == 2
    assert "--columns needs --state" in capsys.readouterr().err
