"""Groups and private models (groups.yml)."""

from pathlib import Path

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "groups.yml")


def files_of(case):
    texts = {}
    for name, model in case["models"].items():
        config = ", ".join(f"{key}='{value}'" for key, value in model.items() if key != "sql")
        # The config comes last, so that places in the query do not depend on it.
        texts[f"models/{name}.sql"] = model.get("sql", "select 1 as id") + (
            f"\n{{{{ config({config}) }}}}" if config else ""
        )
    groups = ", ".join(f"{{name: {name}, owner: {{name: Ann}}, description: of {name}}}" for name in case["groups"])
    return {**texts, "models/groups.yml": f"groups: [{groups}]\n"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case, make_project):
    root = make_project(files_of(case))
    if "problems" in case:
        with pytest.raises(ProblemsError) as raised:
            Project.load(root)
        assert {str(problem.place): problem.message for problem in raised.value.problems} == case["problems"]
        return
    project = Project.load(root)
    for text, names in case.get("selected", {}).items():
        assert sorted(project.graph.nodes[each].name for each in project.select(text).ids) == names, text


def test_the_manifest_has_groups(make_project):
    import json

    project = Project.load(make_project(files_of(CASES[0])))
    manifest = json.loads(project.write_manifest().read_text())
    assert {key: (each["owner"], each["description"]) for key, each in manifest["groups"].items()} == {
        "group.shop.g": ({"name": "Ann"}, "of g")
    }
    assert manifest["group_map"] == {"g": ["model.shop.a", "model.shop.b"]}


def test_a_group_is_declared_once(make_project):
    root = make_project({"models/g.yml": "groups: [{name: g, owner: {name: a}}, {name: g, owner: {name: b}}]"})
    with pytest.raises(ProblemsError, match="group"):
        Project.load(root)


def test_a_changed_model_is_checked(make_project):
    """Where only a model has changed since the project was kept, its references are checked as well."""
    root = make_project(
        files_of(CASES[2] | {"models": CASES[2]["models"] | {"p": {"group": "g", "access": "private"}}})
    )
    Project.load(root)
    (root / "models/b.sql").write_text("select * from {{ ref('a') }}, {{ ref('p') }}")
    with pytest.raises(ProblemsError, match="p is private to the group g"):
        Project.load(root)
