"""A template of plain tags yields what Jinja's code yields: the same text, captures, logs and way back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from merge_runner.errors import ProblemsError
from merge_runner.relation import Relation
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

MACROS = """
{% macro window(column, end=none) -%}
  {{ column }} >= {{ var('start') | literal }}
  {%- if end is not none %} and {{ column }} < '{{ end }}'{% endif %}
{%- endmacro %}
{% macro one_of(column, values) -%}
  {{ column }} in ({% for value in values %}'{{ value }}'{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}
{% macro grows(values) %}{% do values.append('more') %}{{ values }}{% endmacro %}
{% macro asks(value) %}{{ value if value is defined else 'nothing' }}{% endmacro %}
{% macro reads(name) %}{{ ref(name) }} {{ this }} {{ log('read ' ~ name, info=true) }}{% endmacro %}
{% macro gives(value) %}{{ return([value, 2]) }}{% endmacro %}
{% macro raises() %}{{ exceptions.raise_compiler_error('no') }}{% endmacro %}
{% macro around() %}{{ caller() }}{% endmacro %}
"""
TEMPLATES = Templates([SourceText("macros/m.sql", MACROS)])

words = str.split

_blank = st.sampled_from(["", "", " ", "  ", "\n", "\t", "\u00a0", "\x1c"])
_name = st.sampled_from(
    words("this target model_name start is_incremental x y asks nobody config loop self true merge_patterns é")
)
_constant = st.sampled_from(
    [
        *words(
            """'a' 'é' '' 1 -2 0 1.50 -0.0 true False none [] {'k':['v']} {} ('a') ('a',) [('a',1)] 007 1_000 'a\\n'"""
        ),
        *('"b c"', "['a', \"b\"]", "[1, [2, 'x']]", "'a' 'b'"),
    ]
)
_callee = st.sampled_from(
    words("ref source var config window one_of grows asks reads gives raises around is_incremental is_full_refresh")
    + words("env_var log nobody config.get exceptions.warn tojson this.schema adapter.quote adapter.dispatch changes")
    + words("return print target.get")
)
_filter = st.sampled_from(
    [
        *words("literal upper default('d') d replace('a','b') int list no_such trim() indent(width=2) length tojson"),
        *("join(', ')", "identifier"),
    ]
)


@st.composite
def _expressions(draw, depth=0):
    kind = draw(st.integers(0, 5 if depth < 3 else 2))
    blank = draw(_blank)
    if kind == 0:
        return draw(_constant)
    if kind <= 2:
        text = draw(_name)
        if draw(st.booleans()):
            text += blank + "." + draw(st.sampled_from(["schema", "name", "nothing", "identifier"]))
    else:
        arguments = draw(st.lists(_arguments(depth + 1), max_size=3))
        text = f"{draw(_callee)}{blank}({blank}{f'{blank},'.join(arguments)}{draw(st.sampled_from(['', '', ',']))})"
    for each in draw(st.lists(_filter, max_size=2)):
        text += f"{blank}|{draw(_blank)}{each}"
    return text


@st.composite
def _arguments(draw, depth):
    keyword = draw(st.sampled_from(["", "", "", "end=", "values = ", "info=", "a==", "class=", "end="]))
    return keyword + draw(_expressions(depth))


@st.composite
def _conditions(draw, depth=0):
    value = draw(_expressions(1))
    kind = draw(st.integers(0, 6 if depth < 2 else 3))
    if kind == 0:
        return f"not {draw(_conditions(depth + 1)) if depth < 2 else value}"
    if kind == 1:
        return f"{value} {draw(st.sampled_from(['==', '!=', '<', '>=', 'in', 'is', '~', '+']))} {draw(_expressions(1))}"
    if kind >= 5:
        word = draw(st.sampled_from(["and", "or"]))
        return f"{draw(_conditions(depth + 1))} {word} {draw(_conditions(depth + 1))}"
    return value


def _tag(draw, opening, inside, closing):
    dash, end = (draw(st.sampled_from(["", "", "-", "+"])) for _ in range(2))
    return f"{opening}{dash}{draw(_blank)}{inside}{draw(_blank)}{end if end == '-' else ''}{closing}"


@st.composite
def _templates(draw, depth=0):
    parts = []
    for kind in draw(st.lists(st.integers(0, 7), max_size=5)):
        if kind <= 1:
            parts.append(draw(st.sampled_from(["select 1", " ", "\n  ", "{ } }} %}", "é🦊", "'{'", "#}", "-"])))
        elif kind <= 4:
            parts.append(_tag(draw, "{{", draw(_expressions()), "}}"))
        elif kind == 5:
            parts.append(draw(st.sampled_from(["{# a #}", "{#- {{ x }} -#}  ", "{#-#}", "{##} ", "{#+ b +#} ", "{#"])))
        elif kind == 6:
            name = draw(st.sampled_from(["x", "y", "this", "config", "x, y", "loop"]))
            parts.append(_tag(draw, "{%", f"set {name} = {draw(_expressions())}", "%}"))
        elif depth < 2:
            parts.append(_tag(draw, "{%", f"if {draw(_conditions())}", "%}"))
            parts.append(draw(_templates(depth + 1)))
            for _ in range(draw(st.integers(0, 1))):
                parts.append(_tag(draw, "{%", f"elif {draw(_conditions())}", "%}"))
                parts.append(draw(_templates(depth + 1)))
            if draw(st.booleans()):
                parts.append(_tag(draw, "{%", "else", "%}"))
                parts.append(draw(_templates(depth + 1)))
            if draw(st.integers(0, 9)):
                parts.append(_tag(draw, "{%", "endif", "%}"))
    return "".join(parts)


def _agrees(text, context, templates=TEMPLATES):
    """Whether a text is rendered without Jinja's compiler; where it is, the outcome must be the same."""
    source = SourceText("models/m.sql", text)
    try:
        plain = templates._rendering(context).render_plain(source)
        problems = ()
    except ProblemsError as error:
        plain, problems = None, error.problems
    if plain is None and not problems:
        return False
    if problems:
        with pytest.raises(ProblemsError) as raised:
            templates._rendering(context).render(source)
        assert raised.value.problems == problems
        return True
    rendered = templates._rendering(context).render(source)
    if rendered != templates._rendering(context).render(source):
        return True  # `{{ config | upper }}` writes where in memory an object is
    assert plain == rendered
    assert repr(plain.captured) == repr(rendered.captured)  # 1, 1.0 and True are equal
    return True


@settings(max_examples=settings.default.max_examples * 12)
@given(text=_templates(), incremental=st.booleans())
@example(text="{% set x = x %}{{ x }}", incremental=False)
@example(text="{% set x = [1] %}{{ grows(x) }}{{ grows(x) }}{{ x }}", incremental=False)
@example(text="{{ grows(['a']) }}{{ grows(['a']) }}", incremental=False)
@example(text="{% if false %}{% set x = 1 %}{% endif %}{{ asks(x) }}", incremental=False)
@example(text="{{ asks(target.nothing) }}{{ asks(nobody) }}", incremental=False)
@example(text="{{ log('a') }}{{ reads('a') }}{{ reads('b') -}} x", incremental=True)
@example(
    text="{% if is_incremental() and not var('nothing') or this.schema == 'x' %} a {%- else %} b{% endif -%} c",
    incremental=True,
)
def test_it_is_what_jinja_yields(context, text, incremental):
    _agrees(text, replace(context, incremental=incremental))


_signs = st.sampled_from(
    [
        *words(
            "{{ }} {% %} {# #} - if endif else set x = ' var('start') ( ) , . | upper this not 1 [ ] raw endraw == { }"
        ),
        *("this.schema", " ", "\n"),
    ]
)


@settings(max_examples=settings.default.max_examples * 12)
@given(st.lists(_signs, max_size=14).map("".join))
def test_what_jinja_refuses_is_refused(context, text):
    _agrees(text, context)


ORDINARY = [
    "{{ config(unique_key=['a', 'b'], tags=[\"x\"]) }}\nmerge into {{ this }} using {{ ref('a') }} on {{ window('t.d') }}",
    "{{ window('e.day', end='2025-01-01') }}\n{% if is_incremental() %}and x >= {{ var('start') | literal }}{% endif %}",
    "{%- set columns = ['a', 'b'] -%}\n{{ one_of('e.x', columns) }} {{ one_of(column='y', values=var('carriers')) }}",
    "{% if target.name == 'local' and not is_full_refresh() %}{{ source('s', 't') }}{% else %}{{ this }}{% endif %}",
    "{{ adapter.quote('a') }} {# a comment -#}  {{ gives(1) }}",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_models_need_no_compiler(context, text):
    assert _agrees(text, context)


@pytest.mark.parametrize(
    "text",
    [
        "{{ nobody }}",
        "{{ ref('no_such') }}",
        "{{ raises() }}",
        "{{ log }}",
        "{{ return(1) }}",
        "{{ 'a' | no_such }}",
        "{% if x is defined %}{% endif %}",
        "{% for x in [1] %}{{ x }}{% endfor %}",
        "{{ 1 }}",
        "a\r\n{{ this }}",
        "{{ this ",
        "{% if this %}",
        "{% endif %}",
        "{{ this }",
        "{{ f(" + "f(" * 50 + ")" * 50 + ") }}",
        "{% if " + "not " * 3000 + "true %}{% endif %}",
        "{{ var('start', " + "9" * 5000 + ") }}",
    ],
)
def test_the_rest_is_left_to_jinja(context, text):
    assert TEMPLATES._rendering(context).render_plain(SourceText("m.sql", text)) is None


def test_a_rendering_that_takes_too_much_is_not_repeated(context):
    large = Templates([SourceText("macros/e.sql", "{% macro e() %}{{ 'x' * 99999999 }}{% endmacro %}")])
    assert _agrees("\n{{ e() }}", context, large)


def test_refs_resolve_as_in_jinja(context):
    asked = replace(context, resolve_ref=lambda name: Relation(name, sql="(\nselect 1\n)"))
    assert _agrees("{{ ref('a') }}", asked)
