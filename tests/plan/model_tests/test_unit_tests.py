"""What a unit test is refused for before anything runs, and which statement it runs."""

from pathlib import Path
from textwrap import indent

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.table import CreateTarget
from tests.yaml_data import read_yaml

STG = "select 1 as id"
FCT = """
merge into {{ this }} as t using (select id, current_date as day from {{ ref('stg') }}) as s on t.id = s.id
when not matched then insert *
"""
MERGE_ON_READ = """
{{ config(format='iceberg', schema='x', properties={'write.merge.mode': 'merge-on-read'}) }}
"""
COLUMNS = "models: [{name: fct, columns: [{name: id, data_type: int}, {name: day, data_type: date}]}]\n"
GIVEN = "{input: ref('stg'), rows: [{id: 1}]}"


def plan(make_project, test, **models):
    texts = {"stg": STG, "fct": FCT, **models}
    yml = f"{COLUMNS}unit_tests:\n  - {{name: u, model: fct, {test}}}\n"
    profile = "shop: {outputs: {dev: {schema: shop, catalogs: {ice: {type: embedded}}}}}"
    files = {f"models/{name}.sql": text for name, text in texts.items()}
    root = make_project({**files, "models/m.yml": yml, "profiles.yml": profile})
    project = Project.load(root)
    return Planner(project.prepared, "0123456789").plan("unit_test.shop.fct.u")


def test_the_statement_names_tables_of_its_own(make_project):
    found = plan(make_project, f"given: [{GIVEN}], expect: {{rows: []}}, overrides: {{current_date: 2024-01-02}}")
    (step,) = found.steps
    schema = step.target.relation.schema
    assert schema.startswith("unit_tests_01234567_")
    assert f"merge into {schema}.fct as t" in step.sql
    assert f"DATE'2024-01-02' as day from {schema}.stg)" in step.sql
    assert "current_date" in step.text
    assert "warehouse" not in str(step.target.location)
    assert str(step) == "unit test: the statement of fct with given rows of this, ref('stg')"


def test_its_tables_are_on_this_machine_where_the_project_s_are_in_an_object_store(make_project):
    profile = "shop: {outputs: {dev: {schema: s, warehouse: 's3a://bucket/lake'}}}"
    yml = f"{COLUMNS}unit_tests:\n  - {{name: u, model: fct, given: [{GIVEN}], expect: {{rows: []}}}}\n"
    root = make_project({"profiles.yml": profile, "models/stg.sql": STG, "models/fct.sql": FCT, "models/m.yml": yml})
    project = Project.load(root)
    planner = Planner(project.prepared, "0123456789")
    (step,) = planner.plan("unit_test.shop.fct.u").steps
    assert isinstance(step.target.location, Path)
    created = [each for each in planner.plan("model.shop.fct").steps if isinstance(each, CreateTarget)]
    assert [str(each.layout.location) for each in created] == ["s3a://bucket/lake/s/fct"]


BY_RUN = """
merge into {{ this }} as t
using (select id, current_date as day from
    {% if is_incremental() %}{{ ref('stg') }} where 1 = 1 {% else %}{{ ref('history') }}{% endif %}) as s
on t.id = s.id when not matched then insert *
-- {{ is_full_refresh }}
"""
HISTORY = "{input: ref('history'), rows: [{id: 1}]}"
THIS = "{input: this, rows: [{id: 7}]}"


OWN = BY_RUN.replace("where 1 = 1", "where id > (select max(id) from {{ this }})")


def test_the_columns_of_an_own_table_that_is_read_are_those_of_the_first_run(make_project):
    def step(given, text=OWN, yml=""):
        files = {"models/stg.sql": STG, "models/history.sql": STG, "models/fct.sql": text}
        files["models/m.yml"] = (
            f"{yml}unit_tests:\n  - {{name: u, model: fct, given: [{given}], expect: {{rows: []}}}}\n"
        )
        prepared = Project.load(make_project(files)).prepared
        return Planner(prepared, "0123456789").plan("unit_test.shop.fct.u").steps[0]

    found = step(f"{THIS}, {GIVEN}, {HISTORY}")
    assert ("max(id)" in found.sql, "max(id)" in found.shape.query, found.reads_itself) == (True, False, None)
    with pytest.raises(ProblemsError, match=r"gives no rows of ref\('history'\), which the first run reads"):
        step(f"{THIS}, {GIVEN}")
    assert step(f"{THIS}, {GIVEN}", yml=COLUMNS).shape is not None
    refused = OWN.replace("{% else %}", "{% else %}{{ exceptions.raise_compiler_error('no') }}")
    assert str(step(f"{THIS}, {GIVEN}", refused).reads_itself) == "models/fct.sql:4:79"


@pytest.mark.parametrize(
    ("given", "overrides", "incremental"),
    [
        (f"{THIS}, {GIVEN}", "{}", True),
        (HISTORY, "{}", False),
        (f"{{input: this, rows: []}}, {HISTORY}", "{}", False),
        (f"{THIS}, {HISTORY}", "{is_incremental: false}", False),
        (GIVEN, "{is_incremental: true}", True),
        (f"{THIS}, {HISTORY}", "{is_full_refresh: true}", False),
    ],
)
def test_rows_of_this_make_a_test_one_of_an_incremental_run(make_project, given, overrides, incremental):
    test = f"given: [{given}], expect: {{rows: []}}, overrides: {{macros: {overrides}}}"
    (step,) = plan(make_project, test, fct=BY_RUN, history=STG).steps
    assert ("where 1 = 1" in step.sql) is incremental
    assert ("-- True" in step.sql) is ("is_full_refresh" in overrides)


@pytest.mark.parametrize(
    ("test", "models", "message"),
    [
        ("given: [], expect: {rows: []}", {}, "gives no rows of ref('stg')"),
        (f"given: [{GIVEN}, {GIVEN}], expect: {{rows: []}}", {}, "gives rows of ref('stg') twice"),
        (
            f"given: [{GIVEN}, {{input: ref('stgg'), rows: []}}], expect: {{rows: []}}",
            {},
            "gives rows of ref('stgg'), which fct does not read",
        ),
        (
            f"given: [{{input: this, rows: [{{day: soon}}]}}, {GIVEN}], expect: {{rows: []}}",
            {},
            "the rows of this: row 1, column day: 'soon' is no date",
        ),
        (
            f"given: [{GIVEN}], expect: {{rows: [{{id: 1.5}}]}}",
            {},
            "the rows of expect: row 1, column id: '1.5' is no int",
        ),
        (
            f"given: [{GIVEN}], expect: {{rows: []}}, overrides: {{macros: {{nothing: 1}}}}",
            {},
            'overrides the macro "nothing", which does not exist',
        ),
        (
            f"given: [{GIVEN}], expect: {{changes: []}}",
            {"fct": MERGE_ON_READ + FCT},
            "expects changes, and fct is merge-on-read: Iceberg reports no changes for it",
        ),
        (
            f"given: [{{input: this, rows: []}}, {GIVEN}], expect: {{rows: []}}",
            {"fct": "select * from {{ ref('stg') }}"},
            "fct is a view, and does not read `this`",
        ),
        (
            f"given: [{GIVEN}], expect: {{rows: []}}",
            {"fct": FCT.replace("{{ this }}", "elsewhere.fct")},
            "the MERGE of fct names its table by itself",
        ),
    ],
)
def test_what_does_not_fit_its_model_is_told(make_project, test, models, message):
    with pytest.raises(ProblemsError) as raised:
        plan(make_project, test, **models)
    assert any(f"unit test u: {message}" in problem.message for problem in raised.value.problems)
    assert all(problem.place.path == "models/m.yml" for problem in raised.value.problems)


PLACES = read_yaml(Path(__file__).parent / "unit_test_places.yml")


@pytest.mark.parametrize("case", PLACES, ids=[case["case"] for case in PLACES])
def test_what_is_wrong_with_rows_is_reported_where_they_are_written(make_project, case):
    columns = (column.split() for column in case.get("columns", "id int, day date").split(", "))
    declared = ", ".join(f"{{name: {name}, data_type: {kind}}}" for name, kind in columns)
    head = f"models: [{{name: fct, columns: [{declared}]}}]\nunit_tests:\n  - name: u\n    model: fct\n    tags: []\n"
    yml = f"{head}    description: x\n{indent(case['test'], '    ')}"
    files = {"models/stg.sql": "select 1 as id, current_date as day", "models/fct.sql": FCT, "models/m.yml": yml}
    root = make_project({**files, "tests/fixtures/wrong.csv": "id,day\n1,2024-01-01\n2, never\n"})
    with pytest.raises(ProblemsError) as raised:
        Planner(Project.load(root).prepared, "0123456789").plan("unit_test.shop.fct.u")
    (problem,) = raised.value.problems
    message = problem.message.removeprefix("unit test u: ")
    assert f"{problem.place}: {message} / {problem.hint}" == case["found"]


def test_rows_of_a_source_may_have_columns_that_are_not_recorded_where_the_statement_names_them(make_project):
    source = (
        "sources: [{name: raw, tables: [{name: s, format: json, path: s, columns: [{name: id, data_type: int}]}]}]\n"
    )
    files = {
        "models/fct.sql": FCT.replace("ref('stg')", "source('raw', 's')").replace("current_date as day", "day"),
        "models/m.yml": source + "unit_tests: [{name: u, model: fct, expect: {rows: []}, "
        "given: [{input: \"source('raw', 's')\", rows: [{id: 1, day: 2024-01-01}]}]}]\n",
    }
    project = Project.load(make_project(files))
    assert Planner(project.prepared, "0123456789").plan("unit_test.shop.fct.u") is not None
    (project.prepared.files.root / "models/m.yml").write_text(files["models/m.yml"].replace("day:", "dya:"))
    with pytest.raises(ProblemsError, match='the table has no column "dya"'):
        Planner(Project.load(project.prepared.files.root).prepared, "0").plan("unit_test.shop.fct.u")


def test_an_input_without_rows_has_the_columns_that_its_own_text_gives(make_project):
    step = plan(make_project, "given: [{input: ref('stg'), rows: []}], expect: {rows: []}").steps[0]
    assert step.given[0].types == {"id": None}


VARS = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.vars]\ndays = 7\nsince = 2024-01-01\n',
    "models/stg.sql": STG,
    "models/fct.sql": FCT.replace("current_date", "date'2024-01-01' + {{ var('days') }}")
    + "-- {{ var('since') | literal }} {{ var('new', 1) }}",
}


def with_vars(make_project, given):
    yml = f"{COLUMNS}unit_tests:\n  - name: u\n    model: fct\n    given: [{GIVEN}]\n    expect: {{rows: []}}\n"
    root = make_project({**VARS, "models/m.yml": f"{yml}    overrides:\n      vars: {given}\n"})
    return Planner(Project.load(root).prepared, "0123456789").plan("unit_test.shop.fct.u")


def test_vars_that_are_overridden_have_their_declared_types(make_project):
    found = with_vars(make_project, "{days: '15', since: 2024-02-03, new: any}")
    assert "+ 15 as day" in found.steps[0].sql
    assert "-- DATE'2024-02-03' any" in found.steps[0].sql


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "{since: 2024-02-03, days: yesterday}",
            'models/m.yml:8:39: unit test u: the var "days" is declared as a number in pyproject.toml:4:1, and the '
            "value given is 'yesterday' [unit-test]\n    write `days: 15`, or declare the var as a text, in quotes, ",
        ),
        (
            "{since: 2024-02-30}",
            'models/m.yml:8:21: unit test u: the var "since" is declared as a date in pyproject.toml:5:1, and there is '
            "no such day: 2024-02-30 [unit-test]",
        ),
    ],
)
def test_a_var_of_another_type_is_refused_at_its_value(make_project, given, said):
    with pytest.raises(ProblemsError) as caught:
        with_vars(make_project, given)
    assert str(caught.value).startswith(said)
