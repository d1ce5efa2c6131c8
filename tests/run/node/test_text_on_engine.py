"""Nodes whose texts ask the engine: what is known of them before they run, and what they run, on the fake engine."""

import json
from pathlib import Path

import pytest
import yaml

from merge_runner import Project
from merge_runner.engine.table_format.commit_metadata import written_by
from merge_runner.errors import ProblemsError
from merge_runner.formats.registry import capabilities
from tests.fake_engine import FakeDriver, Lake
from tests.fake_engine.faults import missing

CASES = yaml.safe_load((Path(__file__).parent / "asking.yml").read_text(encoding="utf-8"))
ROWS = [{"day": 7, "n": 1}, {"day": 8, "n": 2}]
_OWN = ("select day from", "select distinct day", "select max(day)", "delete")


def refuse(_session, text):
    if "nowhere" in text:
        raise missing("nowhere")


def asked(lake, **given):
    given = {"answers": {**dict.fromkeys(_OWN, ROWS), "delete": []}, "observe": refuse, **given}
    return FakeDriver(lake, **given)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_asking(make_project, case):
    root, lake = make_project(case["files"]), Lake()
    for expected in case["runs"]:
        driver, project = asked(lake), Project.load(root)
        schema, name = project.prepared.files.profile.schema, project.graph.project
        node = case.get("node", "model.PROJECT.m").replace("PROJECT", name)
        results = project.build(lint=False, driver=driver)
        result = next(each for each in results.results if each.unique_id == node)
        assert (result.status, result.message if result.status == "error" else "") == (
            expected.get("status", "success"),
            result.message if result.status == "error" and result.message.startswith(expected["message"]) else "",
        )
        own = [text for text in driver.statements if text.startswith(_OWN)]
        assert own == [text.replace("SCHEMA", schema) for text in expected.get("queries", [])]
        if "compiled" in expected:
            assert result.compiled_code.strip() == expected["compiled"].replace("SCHEMA", schema)
            path = root / "target" / "compiled" / name / project.graph.nodes[node].path
            assert path.read_text().strip() == result.compiled_code.strip()


WATERMARK = CASES[0]["files"]


def test_what_is_known_before_it_runs(make_project):
    project = Project.load(make_project(WATERMARK))
    assert project.graph.nodes[f"model.{project.graph.project}.m"].depends_on == (f"model.{project.graph.project}.q",)
    report = project.lint()
    assert [(item.model, str(item.place), item.what) for item in report.not_judged] == [
        ("m", "models/m.sql:1:42", "MERGE")
    ]
    assert [(merge.model, merge.verdict) for merge in report.merges] == []
    assert not [finding for finding in report.findings if finding.severity == "error"]
    assert json.dumps(project.lint().as_json()) == json.dumps(report.as_json())  # as it was kept
    assert "where day" not in project.compile()[f"model.{project.graph.project}.m"]  # it would be a first run


def test_what_is_shown_of_a_text_that_is_not_known(make_project):
    analysis = {"analyses/a.sql": "select {{ days() | length }}"}
    project, said = Project.load(make_project({**CASES[1]["files"], **analysis})), []
    assert [name.rpartition(".")[2] for name in project.compile(on_message=said.append)] == ["q"]
    place = "(macros/days.sql:1:32)"
    assert said == [f"not compiled, as the text depends on what a query returns: m {place}, a {place}"]
    line = "    render it when it runs, after the query at macros/days.sql:1:32; then plan its steps"
    assert line in project.explain().lines()
    levels = project.explain().as_json()["levels"]
    assert {each["name"]: each["asks_engine"] for level in levels for each in level} == {
        "q": None,
        "m": "macros/days.sql:1:32",
    }
    assert project.lint().not_judged == ()  # it is no MERGE


def test_a_query_runs_once_and_its_commits_are_not_those_of_the_statement(make_project):
    model = """{% do run_query("delete from " ~ this ~ " where day = 7") %}merge into {{ this }} as t
    using {{ ref('q') }} as s on t.day = s.day when matched then update set t.day = s.day when not matched then insert *"""
    root, lake, writers = make_project({**WATERMARK, "models/m.sql": model}), Lake(), []
    conf = capabilities("delta").commit_metadata_conf

    def observe(session, text):
        if text.startswith(("delete", "merge into")):
            writers.append((text.split()[0], written_by(session.conf.get(conf)).of))

    assert Project.load(root).build(lint=False, driver=asked(lake)).ok
    results = Project.load(root).build(lint=False, driver=asked(lake, faults={"m": ["conflict"]}, observe=observe))
    assert results.ok
    assert writers == [("delete", "run_query"), ("merge", None), ("merge", None)]


def test_a_batch_that_comes_again_changes_nothing_before_the_merge_that_is_left_out(make_project):
    model = """{% do run_query("delete from " ~ this) %}{% set newest = run_query("select day from " ~ ref('q')).rows[0].day %}
    merge into {{ this }} as t using {{ ref('q') }} as s on t.day = s.day and t.day >= {{ newest }}
    when matched then update set t.n = s.n when not matched then insert *"""
    root, lake = make_project({**WATERMARK, "models/m.sql": model}), Lake()
    for batch, deletes, status in ((1, 1, "success"), (1, 0, "no-op"), (2, 1, "success")):
        driver = asked(lake)
        results = Project.load(root).build(lint=False, driver=driver, batch_id=batch).results
        assert next(each.status for each in results if each.unique_id.endswith(".m")) == status
        assert len([text for text in driver.statements if text.startswith("delete")]) == deletes


def test_it_runs_in_each_build_and_what_reads_it_does_not(make_project):
    root, lake = (
        make_project(
            {**WATERMARK, "models/below.sql": "{{ config(materialized='table') }}select * from {{ ref('m') }}"}
        ),
        Lake(),
    )
    for _ in range(2):
        results = Project.load(root).build(lint=False, driver=asked(lake))
        assert results.ok
    lines = "\n".join(Project.load(root).explain().table())
    assert "its text depends on what a query returns" in lines


@pytest.mark.parametrize(
    ("word", "message"), [("lost", "its JVM was killed"), ("transient", "Could not find BlockManager")]
)
def test_a_driver_that_fails_in_a_query(make_project, word, message):
    root, lake = make_project(WATERMARK), Lake()
    assert Project.load(root).build(lint=False, driver=asked(lake)).ok
    results = Project.load(root).build(lint=False, driver=asked(lake, faults={"select max(day)": [word]}))
    found = next(each for each in results.results if each.unique_id.endswith(".m"))
    assert (found.status, message in found.message) == ("error", True)


UNIT_TEST = """unit_tests: [{name: u, model: m, given: [{input: ref('q'), rows: [{day: 9}]}], expect: {rows: [{day: 9}]}OVERRIDES}]"""


def test_a_unit_test_gives_the_macro_that_asks(make_project):
    files = {
        **WATERMARK,
        "macros/newest.sql": "{% macro newest(t) %}{% do return(run_query('select max(day) from ' ~ t).rows[0].day) %}{% endmacro %}",
        "models/m.sql": "{{ config(materialized='table') }}select day from {{ ref('q') }} where day > {{ newest(ref('q')) }}",
    }
    with pytest.raises(ProblemsError) as refused:
        Project.load(make_project({**files, "models/u.yml": UNIT_TEST.replace("OVERRIDES", "")})).compile()
    problem = refused.value.problems[0]
    assert (problem.code, str(problem.place)) == ("asks-engine", "macros/newest.sql:1:35")
    given = UNIT_TEST.replace("OVERRIDES", ", overrides: {macros: {newest: 8}}")
    assert Project.load(make_project({**files, "models/u.yml": given})).compile()


@pytest.mark.parametrize(
    ("asked_for", "queries"),
    [
        (
            {"select": "m"},
            ["select distinct day from SCHEMA.q", "select max(n) as n7, max(n) as n8, 1 as x from SCHEMA.q"],
        ),
        (
            {"inline": "select {{ run_query('select day from ' ~ ref('q')) | length }}"},
            ["select day from SCHEMA.q", "select 2"],
        ),
        ({"select": "a"}, ["select distinct day from SCHEMA.q", "select 2"]),
    ],
    ids=["a model", "a query of the command line", "an analysis"],
)
def test_show_runs_the_query_first(make_project, asked_for, queries):
    root, lake = make_project({**CASES[1]["files"], "analyses/a.sql": "select {{ days() | length }}"}), Lake()
    assert Project.load(root).build("q", lint=False, driver=asked(lake)).ok
    project = Project.load(root)
    driver = asked(lake, answers={"SELECT * FROM (": ROWS, **dict.fromkeys(_OWN, ROWS)})
    [preview] = project.show(**asked_for, driver=driver)
    assert len(preview.table) == 2
    texts = [text.replace("SELECT * FROM (\n", "").partition("\n)")[0] for text in driver.statements]
    schema = project.prepared.files.profile.schema
    assert [text for text in texts if text.startswith("select")] == [text.replace("SCHEMA", schema) for text in queries]


def test_show_reports_what_the_engine_refuses(make_project):
    files = {
        "models/m.sql": "{{ config(materialized='table') }}select {{ run_query('select day from nowhere').rows[0][0] }} as day"
    }
    with pytest.raises(ProblemsError, match=r"models/m\.sql:1:45: The table or view `nowhere` cannot be found"):
        Project.load(make_project(files)).show("m", driver=asked(Lake()))


@pytest.mark.spark
@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def test_on_spark(make_project, driver, table_format):
    """Only rows after the watermark are merged, a wide table follows the values of a column, and neither loses a row."""
    files = {
        "seeds/raw.csv": "day,size\n1,S\n2,L\n",
        "seeds/raw.yml": f"seeds: [{{name: raw, config: {{format: {table_format}}}}}]",
        "macros/newest.sql": "{% macro newest(table) %}{% do return(run_query('select max(day) as d from ' ~ table).rows[0].d) %}{% endmacro %}",
        "models/m.yml": "models: [{name: m, columns: [{name: day, data_type: int}, {name: size, data_type: string}]}]",
        "models/m.sql": """merge into {{ this }} as t
using (select * from {{ ref('raw') }}{% if is_incremental() %} where day > {{ newest(this) }}{% endif %}) as s on t.day = s.day
when matched then update set size = 'again' when not matched then insert *""",
        "models/wide.sql": """{{ config(materialized='table') }}
{%- call statement('sizes', fetch_result=true) %}select distinct size from {{ ref('m') }} order by size{% endcall %}
select {% for size in load_result('sizes').table.columns['size'].values() %}count_if(size = {{ size | literal }}) as {{ size | identifier }}{{ ", " if not loop.last }}{% endfor %}
from {{ ref('m') }}""",
    }
    root = make_project(files, table_format)
    for rows, expected, sizes in (
        ("", [(1, "S"), (2, "L")], ["L", "S"]),
        ("3,XL\n", [(1, "S"), (2, "L"), (3, "XL")], ["L", "S", "XL"]),
    ):
        (root / "seeds/raw.csv").write_text(files["seeds/raw.csv"] + rows)
        project = Project.load(root)
        results = project.build(lint=False, driver=driver)
        assert results.ok, [each.message for each in results.results]
        relation = project.graph.nodes[f"model.{project.graph.project}.m"].relation
        with driver.session() as session:
            assert sorted(map(tuple, session.table(str(relation)).collect())) == expected
            wide = project.graph.nodes[f"model.{project.graph.project}.wide"].relation
            assert session.table(str(wide)).columns == sizes
