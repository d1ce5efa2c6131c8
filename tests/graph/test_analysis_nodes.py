"""Analyses: queries that are compiled, and that nothing builds."""

import json

import pytest

from merge_runner import Project
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from merge_runner.errors import ProblemsError
from tests.dbt_schemas import schema_errors
from tests.fake_engine import FakeDriver, Lake, Starts

FILES = {
    "models/m.sql": "{{ config(materialized='view') }} select 1 as id",
    "models/p.yml": "sources: [{name: raw, tables: [{name: t}]}]",
    "macros/most.sql": "{% macro most() %}order by id desc limit 10{% endmacro %}",
    # Names are those of models elsewhere: `ref` does not name an analysis.
    "analyses/deep/m.sql": "{{ config(tags='b') }}\nselect m.id from {{ ref('m') }} as m join {{ source('raw', 't') }} as t {{ most() }}\n",
    "analyses/other.sql": "select 1 as one",
    "analyses/off.sql": "{{ config(enabled=false) }} select 1",
    "analyses/a.yml": """
        analyses:
          - name: m
            description: "The {{ 'best' }}"
            columns: [{name: id, description: The customer}]
            config: {tags: [a], meta: {team: sales}}
        """,
}
KEY = "analysis.shop.m"


@pytest.fixture
def shop(make_project):
    return make_project(FILES)


def call(capsys, shop, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--project-dir", str(shop)], Host(start=Starts(FakeDriver(Lake()))))
    return ended.value.code, capsys.readouterr()


def test_it_is_compiled_and_in_the_manifest_as_dbt_has_it(shop):
    project = Project.load(shop)
    texts, table = project.compile(), project.graph.nodes["model.shop.m"].relation
    assert texts[KEY] == f"\nselect m.id from {table} as m join raw.t as t order by id desc limit 10\n"
    written = shop / "target/compiled/shop/analyses/deep/m.sql"
    assert written.read_text() == texts[KEY]
    manifest = json.loads((shop / "target/manifest.json").read_text())
    assert schema_errors(manifest) == []
    entry = manifest["nodes"][KEY]
    assert (entry["fqn"], entry["path"]) == (["shop", "analysis", "deep", "m"], "analysis/deep/m.sql")
    assert entry["original_file_path"] == "analyses/deep/m.sql"
    assert entry["depends_on"] == {"nodes": ["model.shop.m", "source.shop.raw.t"], "macros": ["macro.shop.most"]}
    assert (entry["compiled_code"], entry["relation_name"]) == (texts[KEY], None)
    assert (entry["description"], entry["tags"], entry["meta"]) == ("The best", ["a", "b"], {"team": "sales"})
    assert entry["columns"]["id"]["description"] == "The customer"
    assert manifest["child_map"]["model.shop.m"] == [KEY]
    assert "analysis.shop.off" in manifest["disabled"]


def test_it_is_listed_where_it_is_asked_for(shop, capsys):
    listed = {
        (): ["m", "raw.t"],
        ("--resource-type", "analysis"): ["other", "m"],
        ("--resource-type", "all"): ["m", "raw.t", "other", "m"],
        ("--resource-type", "analysis", "-s", "tag:a"): ["m"],
        ("--resource-type", "analysis", "-s", "source:raw+"): ["m"],
        ("--resource-type", "default", "-s", "source:raw+"): ["raw.t"],
    }
    found = {asked: call(capsys, shop, "ls", *asked)[1].out.split() for asked in listed}
    assert {asked: sorted(names) for asked, names in found.items()} == {
        asked: sorted(names) for asked, names in listed.items()
    }


def test_a_selection_of_nothing_else_says_how_it_is_listed(shop, capsys):
    for _ in range(2):  # a listing that was kept would say nothing
        said = call(capsys, shop, "ls", "-s", "path:analyses")[1]
        assert (said.out, "list them with --resource-type analysis" in said.err) == ("", True)


def test_nothing_builds_it(shop, capsys):
    status, said = call(capsys, shop, "build", "-s", "other")
    assert (status, "`merge-runner show -s NAME` runs its query" in said.err) == (0, True)
    lake = Lake()
    results = Project.load(shop).build(driver=FakeDriver(lake), lint=False)
    assert [result.unique_id for result in results.results] == ["model.shop.m"]


def test_show_runs_its_query(shop):
    asked = {"select": [{"one": 1}]}
    (shown,) = Project.load(shop).show("other", driver=FakeDriver(Lake(), answers=asked))
    assert shown.as_json() == {"node": "other", "show": [{"one": 1}]}


def test_one_text_is_printed(shop, capsys):
    assert call(capsys, shop, "compile", "-s", "other")[1].out == "select 1 as one\n"


def test_a_change_of_its_text_is_seen(shop, capsys):
    assert call(capsys, shop, "ls", "--resource-type", "analysis", "-s", "m+")[1].out == "m\n"
    (shop / "analyses/deep/m.sql").write_text("select 1")
    assert call(capsys, shop, "ls", "--resource-type", "analysis", "-s", "source:raw+")[1].out == ""
    (shop / "analyses/more.sql").write_text("select 1")
    assert "more" in call(capsys, shop, "ls", "--resource-type", "analysis")[1].out


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        (
            "analyses/other.sql",
            "select * from {{ ref('mm') }}",
            'analyses/other.sql:1:18: there is no model or seed "mm"',
        ),
        ("analyses/other.sql", "{{ config(materialized='table') }} select 1", "analyses/other.sql:1:11: "),
        ("analyses/a.yml", "analyses: [{name: mm}]", 'analyses/a.yml:1:19: there is no analysis "mm" to describe'),
        (
            "analyses/two/other.sql",
            "select 1",
            'the analysis "other" has the name of the analysis in analyses/other.sql',
        ),
        ("models/n.sql", "select * from {{ ref('other') }}", 'models/n.sql:1:18: there is no model or seed "other"'),
    ],
)
def test_mistakes_have_a_place(shop, path, text, said):
    (shop / path).parent.mkdir(exist_ok=True)
    (shop / path).write_text(text)
    with pytest.raises(ProblemsError) as raised:
        Project.load(shop)
    assert any(said in str(problem).replace("error: ", "") for problem in raised.value.problems), raised.value.problems


def test_its_folder_is_a_setting(make_project):
    settings = '[tool.merge-runner]\nname = "shop"\nanalysis-paths = ["questions"]\n'
    root = make_project({"pyproject.toml": settings, "questions/q.sql": "select 1", "analyses/not_read.sql": "{{ no"})
    assert list(Project.load(root).graph.nodes) == ["analysis.shop.q"]
