"""Data tests that a project defines: `{% test name(model, …) %}`, used in YAML as the built-in ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.model_tests import RunTest

TEST = """{# Numbers #}
{% test in_steps_of(model, column_name, step=2, known=none) %}
select {{ column_name }} from {{ model }} as m
where {{ column_name }} % {{ step }} <> 0{% if known %} and {{ column_name }} not in (select n from {{ known }}){% endif %};
{% endtest %}
{% data_test not_empty(model) %}select 1 from (select count(*) as n from {{ model }}) where n = 0{% enddata_test %}
"""
MODEL = "select 1 as id"


def properties(*tests, column=True):
    listed = "".join(f"\n          - {test}" for test in tests)
    if not column:
        return f"models:\n  - name: m\n    data_tests:{listed}"
    return f"models:\n  - name: m\n    columns:\n      - name: id\n        data_tests:{listed}"


def queries(root):
    """The steps of all tests by name; the schema is called `dev` in their SQL, whatever the project's is."""
    project = Project.load(root)
    planner = Planner(project.prepared)
    tests = [node for node in project.graph.nodes.values() if node.resource_type == "test"]
    steps = {node.name: planner.plan(node.unique_id).steps for node in tests}
    found = {name: next(step for step in steps[name] if isinstance(step, RunTest)) for name in steps}
    schema = project.prepared.files.profile.schema
    return {name: replace(step, sql=step.sql.replace(f"{schema}.", "dev.")) for name, step in found.items()}


def test_an_own_test_gets_its_model_column_and_arguments(make_project):
    root = make_project(
        {
            "models/m.sql": MODEL,
            "models/other.sql": MODEL,
            "tests/generic/steps.sql": TEST,
            "models/m.yml": properties(
                "in_steps_of",
                "in_steps_of: {name: labelled, arguments: {step: 5, known: ref('other')}, config: {where: id > 1, severity: warn}}",
            ),
        }
    )
    found = queries(root)
    assert found["in_steps_of_m_id"].sql == "select id from dev.m as m\nwhere id % 2 <> 0"
    labelled = found["labelled"]
    assert labelled.sql == (
        "select id from (SELECT * FROM dev.m WHERE id > 1) as m\n"
        "where id % 5 <> 0 and id not in (select n from dev.other)"
    )
    assert (labelled.severity, labelled.narrow) == ("warn", True)
    nodes = {node.name: node for node in Project.load(root).graph.nodes.values()}
    assert nodes["labelled"].depends_on == ("model.shop.m", "model.shop.other")
    assert (nodes["labelled"].generic_test.name, nodes["labelled"].macros) == (
        "in_steps_of",
        ("macro.shop.test_in_steps_of",),
    )


def test_an_own_test_on_a_model_and_a_source_and_what_it_refers_to(make_project):
    root = make_project(
        {
            "models/m.sql": MODEL,
            "models/other.sql": MODEL,
            "macros/tests.sql": TEST
            + "{% test fits(model) %}select * from {{ model }} except select * from {{ ref('other') }}{% endtest %}",
            "models/m.yml": properties("fits", "shop.not_empty", column=False),
            "models/s.yml": "sources: [{name: raw, tables: [{name: t, data_tests: [not_empty]}]}]",
        }
    )
    found = queries(root)
    assert found["fits_m"].sql == "select * from dev.m except select * from dev.other"
    assert found["not_empty_source_raw_t"].sql.endswith("from raw.t) where n = 0")
    nodes = {node.name: node for node in Project.load(root).graph.nodes.values()}
    assert nodes["fits_m"].depends_on == ("model.shop.m", "model.shop.other")


@pytest.mark.parametrize(
    ("macros", "test", "problem"),
    [
        (
            TEST,
            "in_step_of",
            'models/m.yml:6:13: there is no data test "in_step_of" [unknown-test]\n    did you mean "in_steps_of"?',
        ),
        (
            TEST,
            "in_steps_of: {stop: 3}",
            "models/m.yml:6:13: macro 'test_in_steps_of' takes no keyword argument 'stop' [jinja-runtime]",
        ),
        (
            TEST,
            "not_empty",
            "models/m.yml:6:13: macro 'test_not_empty' takes no keyword argument 'column_name' [jinja-runtime]",
        ),
        (
            "{% test odd(model, column_name, by) %}\nselect {{ by }} from {{ modle }}\n{% endtest %}",
            "odd",
            "macros/t.sql:2:11: parameter 'by' was not provided [undefined-name]\n    called at models/m.yml:6:13",
        ),
        (
            "{% test odd(model, column_name) %}\nselect {{ column_nam }} from {{ model }}\n{% endtest %}",
            "odd",
            'macros/t.sql:2:11: "column_nam" is not defined [undefined-name]\n'
            '    did you mean "column_name"? called at models/m.yml:6:13',
        ),
        (
            "{% test odd(model, column_name) %}\nselect 1 {{ ref('nope') }}\n{% endtest %}",
            "odd",
            'macros/t.sql:2:13: there is no model or seed "nope" [unknown-ref]',
        ),
        (
            "{% test odd(model, column_name) %}\n{{ config(severity='warn') }}select 1\n{% endtest %}",
            "odd",
            'macros/t.sql:2:11: "severity" is set in a data test, whose config is that of the YAML [unknown-key]\n'
            "    write severity where the test is used",
        ),
        (
            "{% test unique(model, column_name) %}select 1{% endtest %}",
            "unique",
            'macros/t.sql:1:9: "unique" is a built-in data test [reserved-name]\n    give the test another name',
        ),
        (
            "{% test odd(model, column_name) %}select 1",
            "odd",
            "macros/t.sql:1:4: {% test %} is never closed: {% endtest %} is missing [jinja-syntax]",
        ),
    ],
)
def test_a_mistake_has_its_place(make_project, macros, test, problem):
    root = make_project({"models/m.sql": MODEL, "macros/t.sql": macros, "models/m.yml": properties(test)})
    with pytest.raises(ProblemsError) as caught:
        Project.load(root)
    assert str(caught.value).startswith(problem)
    assert len(caught.value.problems) == 1


def test_an_own_test_that_is_no_query_is_reported_where_it_is_used(make_project):
    macros = "{% test odd(model, column_name) %}{% endtest %}"
    root = make_project({"models/m.sql": MODEL, "macros/t.sql": macros, "models/m.yml": properties("odd")})
    with pytest.raises(ProblemsError) as caught:
        queries(root)
    assert str(caught.value.problems[0].place) == "models/m.yml:6:13"
