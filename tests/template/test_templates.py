"""The built-ins, macros with return, and what a rendering captures."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.relation import Relation
from merge_runner.template.capture import Ref
from merge_runner.template.context import Context
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.templates import Templates
from merge_runner.text import Place, SourceText


def model(text: str) -> SourceText:
    return SourceText("models/m.sql", text)


def render(text: str, context: Context, **macros: str) -> RenderedText:
    sources = [SourceText(f"macros/{name}.sql", macro) for name, macro in macros.items()]
    return Templates(sources).render(model(text), context)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ this }} {{ this.schema }} {{ this.identifier }} {{ this.name }}", "flights.m flights m flights.m"),
        ("{{ ref('a') }} {{ ref('pkg', 'b') }} {{ source('s', 't') }}", "flights.a flights.b s.t"),
        ("{{ changes('a') }} {{ changes('pkg', 'b c') }}", "changes_of_a `changes_of_b c`"),
        ("{{ var('days') }} {{ var('none_of', 7) }} {{ var('nothing') }} {{ var('x', none) }}", "3 7 None None"),
        ("{{ var('carriers') | literal }}", "('AA', 'UA')"),
        ("{{ env_var('TOKEN') }} {{ env_var('NOPE', 'd') }}", "hunter2 d"),
        ("{{ is_full_refresh }} {{ is_full_refresh() }} {{ is_full_refresh | literal }}", "False False false"),
        ("{% if is_full_refresh %}a{% elif not is_full_refresh() %}b{% endif %}", "b"),
        ("{{ target.schema }} {{ target['threads'] }} {{ target.get('x', 1) }} {{ model_name }}", "flights 4 1 m"),
        ("a{{ config(tags=['x']) }}b{{ config.get('tags') }}{{ config.get('alias', 'none') }}", "ab['x']none"),
        ("{{ config({'alias': 'q'}) }}{{ config.get('alias') }}", "q"),
        ("{{ log('x') }}{{ log('y', info=true) }}", ""),
        ("{{ nope | default('d') }} {{ nope is defined }}", "d False"),
        ("{% set xs = [] %}{% do xs.append(1) %}{{ xs }}", "[1]"),
        ("{{ {'a': '<'} | tojson }}", '{"a": "<"}'),
        ("{{ 'order' | identifier }} {{ ['s', 'a`b'] | identifier }}", "`order` `s`.`a``b`"),
        ("select 1\n", "select 1\n"),
        ("{{ this.table }} {{ ref('a').table }} {{ this.database is defined }}", "m a False"),
        ("{{ tojson({'a': [1, none]}) }} {{ tojson(ref, 'no') }}", '{"a": [1, null]} no'),
        ("{{ fromjson('{\"a\": [2]}').a[0] }} {{ fromjson('{', 'no') }}", "2 no"),
        ("{{ toyaml({'a': 'é'}) }}{{ fromyaml('a: [1, 2]').a | length }} {{ fromyaml('[', none) }}", "a: é\n2 None"),
        (
            "{{ zip([1, 2], 'abc') }} {{ zip(1, default=[]) }} {{ local_md5('a') }}",
            "[(1, 'a'), (2, 'b')] [] 0cc175b9c0f1b6a831c399e269772661",
        ),
        ("{{ print('x') }}{{ exceptions.warn('y') }}", ""),
        ("{{ ref('dim', v=2) }} {{ ref('pkg', 'dim', version='3') }}", "flights.dim_v2 flights.dim_v3"),
        ("{% if execute and not flags.FULL_REFRESH %}{{ builtins.ref('x') }}{% endif %}", "flights.x"),
        ("{{ model.name }} {{ model.alias }} {{ model.schema }} {{ model.unique_id }}", "m m flights model.shop.m"),
        (
            "{{ model.config.get('b', 1) }}{{ config(a=2) }}{{ config.require('a') }}{{ config.get('format') }}",
            "12delta",
        ),
        ("{{ adapter.quote('a`b') }} {{ project_name }} {{ adapter.type() }}", "`a``b` shop spark"),
        (
            "{{ current_timestamp() }} {{ type_string() }} {{ dateadd('day', 1, 'd') }}",
            "current_timestamp() string timestampadd(day, cast(1 as int), d)",
        ),
        ("{{ dbt.date(2024, 1, 2) }} {{ range(2) | list }}", "to_date('2024-01-02', 'yyyy-MM-dd') [0, 1]"),
        ("{{ '1' | as_number }} {{ 'a' | as_text }} {{ 'true' | as_bool }} {{ '2' | as_native }}", "1 a true 2"),
        ("{% set model = 'mine' %}{{ model }}{% for zip in [1] %}{{ zip }}{% endfor %}", "mine1"),
    ],
)
def test_built_ins(text: str, expected: str, context: Context) -> None:
    assert render(text, context).text == expected


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("spark", "spark spark s"),
        ("databricks", "databricks databricks d"),
        ("fabricspark", "fabricspark fabricspark s"),
    ],
)
def test_the_adapter_is_that_of_the_profile(type_: str, text: str, context: Context) -> None:
    target = replace(context, target={**context.target, "type": type_})
    macros = "".join(
        f"{{% macro {name}__m() %}}{name[0]}{{% endmacro %}}" for name in ("databricks", "spark", "default")
    )
    assert render("{{ target.type }} {{ adapter.type() }} {{ adapter.dispatch('m')() }}", target, m=macros).text == text


def test_a_relation_that_stands_for_other_sql_renders_as_that(context: Context) -> None:
    inlined = replace(context, resolve_ref=lambda name: Relation(name, sql="(select 1)"))
    assert render("{{ ref('a') }} {{ ref('a').name }}", inlined).text == "(select 1) a"


def test_full_refresh_is_true_when_it_is(context: Context) -> None:
    full = replace(context, full_refresh=True)
    assert render("{{ is_full_refresh }}{{ is_full_refresh() }}{{ is_full_refresh == true }}", full).text == "True" * 3


def test_a_file_without_a_table_has_no_this(context: Context) -> None:
    with pytest.raises(ProblemsError) as caught:
        render("{{ this }}", replace(context, this=None))
    problem = caught.value.problems[0]
    assert (problem.code, problem.hint) == ("undefined-name", "only a model has its own table")


def test_a_template_cannot_change_the_projects_vars(context: Context) -> None:
    vars_: Mapping[str, Any] = {"xs": [1, {"a": [2]}]}
    text = "{% set xs = var('xs') %}{% do xs.append(3) %}{% do xs[1].a.append(4) %}{{ xs }}"
    assert render(text, replace(context, vars=vars_)).text == "[1, {'a': [2, 4]}, 3]"
    assert vars_ == {"xs": [1, {"a": [2]}]}


@pytest.mark.parametrize(
    ("macros", "text", "expected"),
    [
        (
            {"a": "{% macro m(x) %}{{ return(adapter.dispatch('m', 'pkg')(x)) }}{% endmacro %}{% macro default__m(x) %}d{{ x }}{% endmacro %}"},
            "{{ m(1) }}",
            "d1",
        ),
        (
            {"a": "{% macro spark__m() %}s{% endmacro %}{% macro default__m() %}d{% endmacro %}"},
            "{{ adapter.dispatch('m')() }}",
            "s",
        ),
        ({"a": "{% macro zip(x) %}<{{ x }}>{% endmacro %}"}, "{{ zip(1) }}", "<1>"),
        ({"a": "{% macro hash(x) %}<{{ x }}>{% endmacro %}"}, "{{ hash(1) }} {{ dbt.hash(1) }}", "<1> md5(cast(1 as string))"),
        ({"a": "{% macro m(x) %}<{{ x }}>{% endmacro %}"}, "{{ shop.m(1) }}", "<1>"),
        ({"a": "{% macro m(x) %}<{{ shop.n(x) }}>{% endmacro %}", "b": "{% macro n(x) %}{{ return(x + 1) }}{% endmacro %}"}, "{{ shop.m(x=1) }}", "<2>"),
        ({"a": "{% macro m() %}m{% endmacro %}"}, "{% set shop = {'m': 'own'} %}{{ shop.m }}", "own"),
        ({"a": "{% macro m(x) %}<{{ x }}>{% endmacro %}"}, "{{ m(1) }}", "<1>"),
        ({"b": "{% macro m() %}{{ n() }}{% endmacro %}", "a": "{% macro n() %}N{% endmacro %}"}, "{{ m() }}", "N"),
        ({"a": "{% macro m() %}text{{ return([1, 2]) }}more{% endmacro %}"}, "{{ m()[1] + 1 }}", "3"),
        ({"a": "{% macro m() %}{% do return({'k': 5}) %}{% endmacro %}"}, "{{ m().k }}", "5"),
        ({"a": "{% macro m() %}{{ return(none) }}{% endmacro %}"}, "{{ m() is none }}", "True"),
        (
            {"a": "{% macro m() %}{{ n() + 1 }}{% endmacro %}{% macro n() %}{{ return(1) }}{% endmacro %}"},
            "{{ m() }}",
            "2",
        ),
        ({"a": "{% macro m(xs) %}{% for x in xs %}{{ return(x) }}{% endfor %}{% endmacro %}"}, "{{ m([7, 8]) }}", "7"),
        (
            {"a": "{% macro m() %}{% set v %}{{ return(2) }}{% endset %}{% endmacro %}"},
            "{{ m() * 2 }}",
            "4",
        ),
        ({"a": "{% macro m() %}[{{ caller() }}]{% endmacro %}"}, "{% call m() %}x{% endcall %}", "[x]"),
        (
            {"a": "{% macro m() %}[{{ caller(1) }}]{% endmacro %}"},
            "{% call(i) m() %}{{ i + 1 }}{% endcall %}",
            "[2]",
        ),
        ({"a": "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}"}, "{{ m(1, a=2) }}", "(1,){'a': 2}"),
        ({"a": "{% macro m(x, y=2, z=x) %}{{ x }}{{ y }}{{ z }}{% endmacro %}"}, "{{ m(1, y=5) }}", "151"),
        ({"a": "{% set c = 'C' %}{% macro m() %}{{ c }}{% endmacro %}"}, "{{ m() }}", "C"),
        ({"a": "{% macro m() %}outer{% endmacro %}"}, "{% macro m() %}own{% endmacro %}{{ m() }}", "own"),
        ({}, "{% macro m() %}{{ return(3) }}{% endmacro %}{{ m() + 1 }}", "4"),
        ({"a": "{% macro m(class) %}{{ class }}{% endmacro %}"}, "{{ m(class=1) }}", "1"),
        (
            {"a": "{% macro fact(n) %}{{ return(1 if n < 2 else n * fact(n - 1)) }}{% endmacro %}"},
            "{{ fact(20) }}",
            "2432902008176640000",
        ),
        ({"a": "{% macro m(ref) %}{{ ref }}{% endmacro %}"}, "{{ m('mine') }}", "mine"),
        ({"a": "{% macro m() %}{{ this }} {{ model_name }}{% endmacro %}"}, "{{ m() }}", "flights.m m"),
        ({"a": "{% macro _private() %}p{% endmacro %}"}, "{{ _private() }}", "p"),
    ],
)  # fmt: skip
def test_macros(macros: dict[str, str], text: str, expected: str, context: Context) -> None:
    assert render(text, context, **macros).text == expected


def test_captures_through_macros_and_branches(context: Context) -> None:
    macros = (
        "{% macro from(name) %}from {{ ref(name) }}{% endmacro %}\n"
        "{% macro keys(x) %}{{ config(unique_key=x) }}{{ helper() }}{% endmacro %}"
        "{% macro helper() %}{% endmacro %}{% macro unused() %}{{ ref('z') }}{% endmacro %}"
    )
    text = (
        "{% macro own() %}{% endmacro %}{{ own() }}\n"
        "{{ config(alias='q') }}{{ keys(['id']) }}{% for i in range(3) %}{{ from('a') }}{{ ref('b') }}{% endfor %}"
        "{% if var('days') > 5 %}{{ ref('c') }}{{ this }}{% endif %}{% set v = var('start', 1) %}"
    )
    captured = Templates([SourceText("macros/m.sql", macros)]).capture(model(text), context)
    assert captured.refs == (
        Ref("a", Place("macros/m.sql", 1, 31, 1, 40)),
        Ref("b", Place("models/m.sql", 2, 83, 2, 91)),
    )
    assert captured.config.values == {"alias": "q", "unique_key": ["id"]}
    assert captured.config.places["unique_key"] == Place("macros/m.sql", 2, 30, 2, 40)
    assert captured.macros == {"from", "keys", "helper"}
    assert captured.vars == {"days", "start"}
    assert not captured.uses_this


def test_logs_are_collected_without_secrets(context: Context) -> None:
    rendered = render("{{ log('a') }}\n{{ log('token ' ~ env_var('TOKEN'), info=true) }}", context)
    assert [(log.message, log.info, log.place.line) for log in rendered.logs] == [
        ("a", False, 1),
        ("token *****", True, 2),
    ]


def test_macro_names_that_clash_are_all_reported() -> None:
    first = SourceText("macros/a.sql", "{% macro m() %}{% endmacro %}\n{% macro ref() %}{% endmacro %}")
    second = SourceText(
        "macros/b.sql", "{% macro m() %}{% endmacro %}{% macro n() %}{% endmacro %}{% macro n() %}{% endmacro %}"
    )
    with pytest.raises(ProblemsError) as caught:
        Templates([first, second])
    assert [(problem.code, str(problem.place)) for problem in caught.value.problems] == [
        ("reserved-name", "macros/a.sql:2:10"),
        ("duplicate-macro", "macros/b.sql:1:10"),
        ("duplicate-macro", "macros/b.sql:1:68"),
    ]


def test_a_broken_macro_file_hurts_only_its_callers_until_it_is_checked(context: Context) -> None:
    templates = Templates(
        [
            SourceText("macros/a.sql", "{% macro good() %}x{% endmacro %}"),
            SourceText("macros/b.sql", "{% macro bad() %}{{ 1 + }}{% endmacro %}"),
            SourceText("macros/c.sql", "{% macro worse() %}{% endif %}{% endmacro %}"),
        ]
    )
    assert templates.render(model("{{ good() }}"), context).text == "x"
    with pytest.raises(ProblemsError) as caught:
        templates.check()
    assert [str(problem.place) for problem in caught.value.problems] == ["macros/b.sql:1:25", "macros/c.sql:1:23"]


def test_the_project_calls_a_macro_with_python_values(context: Context) -> None:
    macro = "{% macro generate_schema_name(name, node) %} {{ target.schema }}_{{ name }} {% endmacro %}"
    value = "{% macro value(x) %}{{ return(x + 1) }}{% endmacro %}"
    broken = "{% macro broken() %}{{ quux }}{% endmacro %}"
    templates = Templates([SourceText("macros/m.sql", macro + value + broken)])
    assert templates.has_macro("value")
    assert not templates.has_macro("other")
    assert templates.call_macro("generate_schema_name", context, "raw", node=None) == " flights_raw "
    assert templates.call_macro("value", context, 1) == 2
    with pytest.raises(ProblemsError, match=r'macros/m.sql:1:\d+: "quux" is not defined'):
        templates.call_macro("broken", context)
    with pytest.raises(ProblemsError, match="takes not more than 1 argument"):
        templates.call_macro("value", context, 1, 2)
    with pytest.raises(KeyError):
        templates.call_macro("other", context)


def test_a_changed_text_under_the_same_path_is_rendered_again(context: Context) -> None:
    templates = Templates()
    assert [templates.render(model(text), context).text for text in ("{{ 1 }}", "{{ 2 }}", "{{ 1 }}")] == [
        "1",
        "2",
        "1",
    ]


def test_threads_share_templates(context: Context) -> None:
    macro = "{% macro m(x) %}{% for i in range(50) %}{{ x }}{{ ref(model_name) }}{% endfor %}{% endmacro %}"
    templates = Templates([SourceText("macros/m.sql", macro)])

    def run(number: int) -> bool:
        own = replace(context, model_name=f"m{number}")
        rendered = templates.render(SourceText("models/m.sql", "{{ m(model_name) }}"), own)
        return rendered.text == f"m{number}flights.m{number}" * 50

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(64)))


def test_a_plain_file_is_its_own_rendering(context: Context) -> None:
    rendered = render("merge into t\nusing s", context)
    assert rendered == RenderedText.plain(model("merge into t\nusing s"))
    assert rendered.place(13, 18) == Place("models/m.sql", 2, 1, 2, 6)


def test_whitespace_control_keeps_places(context: Context) -> None:
    rendered = render("a   {{- 'X' -}}\n\n  b {%- if true -%}   c{% endif %}", context)
    assert rendered.text == "aXbc"
    assert [str(rendered.place(offset)) for offset in range(5)] == [
        "models/m.sql:1:1",
        "models/m.sql:1:5",
        "models/m.sql:3:3",
        "models/m.sql:3:23",
        "models/m.sql:3:24",
    ]


def test_a_range_over_an_expression_ends_where_the_text_behind_it_does(context: Context) -> None:
    text = "on t.d = {{ var('start') | literal }} and t.id = s.id"
    rendered = render(text, context)
    start, end = rendered.text.index("t.d"), rendered.text.index(" and")
    assert rendered.place(start, end) == Place("models/m.sql", 1, 4, 1, 38)
    literal = rendered.text.index("'2013")
    assert rendered.place(literal, literal + 3) == Place("models/m.sql", 1, 10, 1, 38)


def test_a_range_that_a_loop_turned_round_stays_where_it_begins(context: Context) -> None:
    rendered = render("{% for i in range(2) %}a{{ i }}b{% endfor %}", context)
    assert rendered.text == "a0ba1b"
    assert rendered.place(2, 4) == Place("models/m.sql", 1, 32, 1, 33)


def test_only_the_authors_own_run_of_text_is_authored(context: Context) -> None:
    rendered = render("ab{{ 1 }}cd{# #}ef", context)
    assert rendered.text == "ab1cdef"
    spans = [(0, 2), (0, 3), (2, 3), (3, 5), (3, 6), (5, 7), (4, 4)]
    assert [rendered.map.is_authored(*span) for span in spans] == [True, False, False, True, False, True, False]


def test_an_empty_rendering_has_a_place(context: Context) -> None:
    assert render("{# nothing #}", context).place(0, 0) == Place("models/m.sql", 1, 1, 1, 1)
