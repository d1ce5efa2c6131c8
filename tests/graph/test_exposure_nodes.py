"""Exposures: nodes that nothing runs, at the end of the DAG."""

import json

import pytest

from merge_runner import Project
from merge_runner.cli.main import main
from merge_runner.errors import ProblemsError
from tests.dbt_schemas import schema_errors

FILES = {
    "models/m.sql": "{{ config(materialized='view') }} select 1 as id",
    "models/n.sql": "{{ config(materialized='view') }} select 2 as id",
    "models/p.yml": """
        sources: [{name: raw, tables: [{name: t}]}]
        models: [{name: m, columns: [{name: id, data_tests: [not_null]}]}]
        exposures:
          - name: weekly
            type: dashboard
            label: Sales of the week
            owner: {name: Sales, email: sales@example.com}
            depends_on: [ref('m'), "source('raw', 't')"]
            description: "What {{ 'sales' }} sees"
            url: https://bi.example.com/weekly
            maturity: high
            tags: [a]
            meta: {team: sales}
            config: {tags: [b], meta: {since: 2020}}
          - {name: off, type: notebook, owner: {name: ann}, config: {enabled: false}}
        """,
}


@pytest.fixture
def shop(make_project):
    return make_project(FILES)


def names(project, *select, **options):
    return [unique_id.split(".")[-1] for unique_id in project.select(select, **options).ids]


def test_it_is_in_the_manifest_as_dbt_has_it(shop):
    path = Project.load(shop).write_manifest()
    manifest = json.loads(path.read_text())
    assert schema_errors(manifest) == []
    assert list(manifest["exposures"]) == ["exposure.shop.weekly"]
    entry = manifest["exposures"]["exposure.shop.weekly"]
    assert entry["depends_on"]["nodes"] == ["model.shop.m", "source.shop.raw.t"]
    assert (entry["refs"], entry["sources"]) == ([{"name": "m", "package": None, "version": None}], [["raw", "t"]])
    assert (entry["tags"], entry["meta"]) == (["a", "b"], {"team": "sales", "since": 2020})
    assert (entry["owner"], entry["type"], entry["maturity"]) == (
        {"name": "Sales", "email": "sales@example.com"},
        "dashboard",
        "high",
    )
    assert entry["description"] == "What sales sees"
    assert manifest["child_map"]["model.shop.m"][0] == "exposure.shop.weekly"
    assert "exposure.shop.off" in manifest["disabled"]


def test_it_is_selected_with_what_it_reads(shop):
    project = Project.load(shop)
    assert names(project, "exposure:weekly") == ["weekly"]
    assert set(names(project, "+exposure:week*")) >= {"m", "t", "weekly"}
    assert "n" not in names(project, "+exposure:weekly")
    assert names(project, "resource_type:exposure") == ["weekly"]
    assert "weekly" in names(project, "m+")
    assert "weekly" in names(project, "tag:b")
    (warning,) = project.select("exposure:weekli").warnings
    assert warning.hint == 'did you mean "weekly"?'


def test_a_change_of_it_is_a_change_of_state(shop, tmp_path):
    state = Project.load(shop).write_manifest().rename(tmp_path / "manifest.json").parent
    assert names(Project.load(shop), "state:modified", state=state) == []
    text = (shop / "models/p.yml").read_text()
    (shop / "models/p.yml").write_text(text.replace("maturity: high", "maturity: low"))
    assert names(Project.load(shop), "state:modified", state=state) == ["weekly"]


@pytest.mark.parametrize(
    ("dependency", "message"),
    [
        ("ref('mm')", 'models/p.yml:3:68: there is no model or seed "mm"'),
        ("source('raw', 'x')", 'models/p.yml:3:68: there is no source table "raw.x"'),
        ("m", 'models/p.yml:3:68: exposure weekly: "m" names no model and no source'),
    ],
)
def test_what_it_reads_has_to_be_there(make_project, dependency, message):
    exposure = f'exposures:\n  - {{name: weekly, type: dashboard, owner: {{name: a}}, depends_on: ["{dependency}"]}}\n'
    root = make_project({**FILES, "models/p.yml": f"sources: [{{name: raw, tables: [{{name: t}}]}}]\n{exposure}"})
    with pytest.raises(ProblemsError) as raised:
        Project.load(root)
    assert message in str(raised.value)


@pytest.mark.parametrize("command", ["ls", "lint", "explain", "parse", "compile", "docs generate"])
def test_commands_take_it(shop, monkeypatch, capsys, command):
    monkeypatch.chdir(shop)
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    out, err = capsys.readouterr()
    assert ended.value.code == 0, err
    assert "exposure is not read" not in err
    if command == "ls":
        assert "weekly" in out.splitlines()
