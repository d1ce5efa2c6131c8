"""Contracts: what is refused when a project is loaded, and what the manifest says of them."""

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.graph.manifest import entry
from merge_runner.plan.explain.explain import explain

MERGE = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"


def test_an_enforced_contract_stands_in_the_manifest(make_project):
    declared = "columns: [{name: id, data_type: int}]"
    project = Project.load(
        make_project(
            {
                "models/a.sql": MERGE,
                "models/b.sql": MERGE,
                "models/m.yml": f"models: [{{name: a, contract: {{enforced: true}}, {declared}}}, {{name: b, {declared}}}]",
            }
        )
    )
    graph = project.graph
    told = [entry(graph, graph.nodes[f"model.shop.{name}"])["contract"]["enforced"] for name in ("a", "b")]
    assert told == [True, False]
    explained = explain(project.prepared, ["model.shop.a"])
    words = [str(step) for step in explained.levels[0][0].plan.steps]
    assert f"enforce the contract of {graph.nodes['model.shop.a'].relation.name}: 1 columns" in words


@pytest.mark.parametrize(
    ("yaml", "sql", "place", "message"),
    [
        (
            "models:\n  - name: a\n    contract: {enforced: true}\n    columns:\n      - {name: id, data_type: int}\n"
            "      - {name: v}",
            MERGE,
            "models/m.yml:6:16",
            'model a enforces its contract, and its column "v" has no data_type',
        ),
        (
            "models:\n  - name: a\n    contract: {enforced: true}",
            MERGE,
            "models/m.yml:3:5",
            "model a enforces its contract, and declares no columns",
        ),
        (
            "models:\n  - name: a\n    config:\n      contract: {enforced: true}",
            MERGE,
            "models/m.yml:4:7",
            "model a enforces its contract, and declares no columns",
        ),
        (
            "models: []",
            "{{ config(materialized='view', contract={'enforced': true}) }} select 1 as id",
            "models/a.sql:1:32",
            "model a enforces its contract, and declares no columns",
        ),
        (
            "models:\n  - name: a\n    contract: {enforced: true}\n    columns: [{name: id, data_type: int}]",
            "{{ config(materialized='ephemeral') }} select 1 as id",
            "models/m.yml:2:11",
            "a is ephemeral",
        ),
        (
            "seeds:\n  - name: s\n    contract: {enforced: true}\n    columns: [{name: id, data_type: int}]",
            MERGE,
            "models/m.yml:3:5",
            "seed s has a contract",
        ),
    ],
)
def test_a_contract_that_nothing_could_hold_is_a_problem(make_project, yaml, sql, place, message):
    with pytest.raises(ProblemsError) as caught:
        Project.load(make_project({"models/a.sql": sql, "models/m.yml": yaml, "seeds/s.csv": "id\n1\n"}))
    (problem,) = caught.value.problems
    assert (problem.code, str(problem.place)) == ("broken-contract", place)
    assert message in problem.message


DECLARED = "columns: [{name: id, data_type: int}]"
ENFORCED = "contract: {enforced: true}"


@pytest.mark.parametrize(
    ("yaml", "sql", "settings"),
    [
        (f"{ENFORCED}, {DECLARED}", MERGE, ""),
        (f"config: {{{ENFORCED}}}, {DECLARED}", MERGE, ""),
        (f"config: {{+contract: {{enforced: true, alias_types: false}}}}, {DECLARED}", MERGE, ""),
        (DECLARED, "{{ config(contract={'enforced': true}) }}" + MERGE, ""),
        (DECLARED, MERGE, '"+contract" = {enforced = true}'),
        (DECLARED, MERGE, "contract = {enforced = true}"),
        (f"config: {{contract: {{enforced: false}}}}, {DECLARED}", MERGE, None),
        (f"config: {{contract: {{enforced: false}}}}, {DECLARED}", MERGE, "contract = {enforced = true}"),
    ],
)
def test_a_contract_is_a_config_key_as_in_dbt(make_project, yaml, sql, settings):
    pyproject = f'[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\n{settings or ""}\n'
    files = {"pyproject.toml": pyproject, "models/a.sql": sql, "models/m.yml": f"models: [{{name: a, {yaml}}}]"}
    project = Project.load(make_project(files))
    enforced = "enforced: false" not in yaml
    assert entry(project.graph, project.graph.nodes["model.shop.a"])["contract"]["enforced"] is enforced
    steps = [str(step) for step in explain(project.prepared, ["model.shop.a"]).levels[0][0].plan.steps]
    assert any(step.startswith("enforce the contract") for step in steps) is enforced


def test_what_dbt_has_next_to_config_or_in_it_is_in_the_manifest(make_project):
    keys = "docs: {show: false, node_color: red}, group: finance, access: public, meta: {owner: me}"
    files = {
        "models/a.sql": MERGE,
        "models/b.sql": MERGE,
        "models/m.yml": f"groups: [{{name: finance, owner: {{name: f}}}}]\nmodels: [{{name: a, {keys}}}, {{name: b, config: {{{keys}}}}}]",
    }
    graph = Project.load(make_project(files)).graph
    for name in ("a", "b"):
        told = entry(graph, graph.nodes[f"model.shop.{name}"])
        assert told["docs"] == {"show": False, "node_color": "red"}
        assert (told["group"], told["access"], told["meta"]) == ("finance", "public", {"owner": "me"})
