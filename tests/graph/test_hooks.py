"""Hooks: what they refer to are parents, and what is wrong in them is told where they were written."""

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError

MERGE = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"


def test_a_hook_that_reads_a_model_waits_for_it(make_project):
    root = make_project(
        {
            "models/stg.sql": "select 1 as id",
            "models/fct.sql": "{{ config(post_hook=\"insert into log select * from {{ ref('stg') }}\") }}" + MERGE,
        }
    )
    assert list(Project.load(root).graph.dag.edges) == [("model.shop.stg", "model.shop.fct")]


def test_every_broken_hook_is_told_at_its_key(make_project):
    root = make_project(
        {
            "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\npost_hook = "{{ zz }}"\n',
            "models/fct.sql": '{{ config(\n  pre_hook=["{% if %}", "select * from {{ ref(\'nada\') }}"]) }}\n' + MERGE,
            "models/m.yml": "models:\n  - name: fct\n    config:\n      pre_hook: \"{{ source('a', 'b') }}\"\n",
        }
    )
    with pytest.raises(ProblemsError) as caught:
        Project.load(root)
    found = {(str(problem.place), problem.code) for problem in caught.value.problems}
    assert found == {
        ("pyproject.toml:4:1", "undefined-name"),
        ("models/fct.sql:2:3", "jinja-syntax"),
        ("models/fct.sql:2:3", "unknown-ref"),
        ("models/m.yml:4:7", "unknown-source"),
    }


def test_an_error_in_a_macro_that_a_hook_calls_stands_in_the_macro(make_project):
    root = make_project(
        {
            "macros/grant.sql": "{% macro grant() %}\n{{ nobody }}{% endmacro %}",
            "models/fct.sql": "{{ config(post_hook='{{ grant() }}') }}" + MERGE,
        }
    )
    with pytest.raises(ProblemsError) as caught:
        Project.load(root)
    assert [str(problem.place) for problem in caught.value.problems] == ["macros/grant.sql:2:4"]


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"models/m.yml": "models:\n  - {name: fct, config: {pre-hook: \"{{ zz }}\"}}\n"}, "models/m.yml:2:26"),
        ({"models/m.yml": "models:\n  - {name: fct, config: {+pre-hook: [{sql: \"{{ zz }}\"}]}}\n"}, "models/m.yml:2:38"),
        (
            {"models/m.yml": "models:\n  - name: fct\n    config:\n      post_hook:\n        - select 1\n        - '{{ zz }}'\n"},
            "models/m.yml:6:11",
        ),
        (
            {
                "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\n'
                '"+post-hook" = [{sql = "{{ zz }}", transaction = true}]\n'
            },
            "pyproject.toml:4:17",
        ),
        (
            {
                "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n'
                '[tool.merge-runner.models.post-hook]\nsql = "{{ zz }}"\n'
            },
            "pyproject.toml:3:27",
        ),
        (
            {"models/fct.sql": "{{ config(\n  pre_hook={'sql': '{{ zz }}', 'transaction': false}) }}\n" + MERGE},
            "models/fct.sql:2:3",
        ),
        ({"models/fct.sql": "\n{{ config({'pre-hook': '{{ zz }}'}) }}\n" + MERGE}, "models/fct.sql:2:4"),
    ],
)  # fmt: skip
def test_a_hook_in_a_form_of_dbt_keeps_its_place(make_project, files, place):
    with pytest.raises(ProblemsError) as caught:
        Project.load(make_project({"models/fct.sql": MERGE, **files}))
    assert [(problem.code, str(problem.place)) for problem in caught.value.problems] == [("undefined-name", place)]
