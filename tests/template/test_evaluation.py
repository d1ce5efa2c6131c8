"""Files and macros that are rendered without Jinja become what Jinja makes of them: text, captures and way back."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from merge_runner.errors import ProblemsError
from merge_runner.relation import Relation
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

words = str.split

_blank = st.sampled_from(["", " ", " ", "\n", "\u00a0"])
_name = st.sampled_from(words("this target.schema target.items model_name x y p q m var is_incremental loop is_none é"))
_constant = st.sampled_from(
    words("""'a' '' 1 -2 0 1.50 true False none None [] ['a','b'] [1,'x'] ('a') ('a',) {'k':['v']} 007 'a\\n'""")
)
_callee = st.sampled_from(words("m m n n x var is_incremental is_full_refresh ref source config changes env_var log"))


@st.composite
def _expressions(draw, depth=0):
    kind = draw(st.integers(0, 11 if depth < 3 else 3))
    blank = draw(_blank)

    def inner():
        return draw(_expressions(depth + 1))

    if kind == 0:
        return draw(_constant)
    if kind <= 3:
        return draw(_name)
    if kind <= 6:
        arguments = [
            draw(st.sampled_from(["", "", "p=", "q = ", "default="])) + inner() for _ in range(draw(st.integers(0, 2)))
        ]
        return f"{draw(_callee)}({blank}{', '.join(arguments)}{draw(st.sampled_from(['', '', ',']))})"
    if kind == 7:
        return f"{inner()} {draw(st.sampled_from(words('== != < >= ~ ~ and or in + |')))}{blank} {inner()}"
    if kind == 8:
        return f"({blank}{inner()})" if draw(st.booleans()) else f"not {inner()}"
    if kind == 9:
        return f"{inner()} {draw(st.sampled_from(['is none', 'is not none', 'not in [1]', 'is None', 'is  none']))}"
    if kind == 10:
        return f"{inner()} if {inner()} else {inner()}"
    return f"[{inner()},{blank}{inner()}]"


def _tag(draw, opening, inside, closing):
    dash, end = (draw(st.sampled_from(["", "", "-", "+"])) for _ in range(2))
    return f"{opening}{dash}{draw(_blank)}{inside}{draw(_blank)}{end if end == '-' else ''}{closing}"


@st.composite
def _texts(draw, depth=0):
    parts = []
    for kind in draw(st.lists(st.integers(0, 8), max_size=4)):
        if kind <= 1:
            parts.append(draw(st.sampled_from(["select 1", " ", "\n  ", "{ }", "é🦊", "{# a #}", "{#- b -#} \n"])))
        elif kind <= 4:
            parts.append(_tag(draw, "{{", draw(_expressions()), "}}"))
        elif kind == 5:
            name = draw(st.sampled_from(["x", "y", "m", "p", "this"]))
            parts.append(_tag(draw, "{%", f"set {name} = {draw(_expressions())}", "%}"))
        elif depth < 2:
            word = "if" if kind == 6 else "for"
            head = draw(_expressions(1))
            if word == "for":
                names = st.sampled_from(["x", "x", "y", "p", "loop"])
                values = st.sampled_from([head, "[1, x]", "var('carriers')", "[]"])
                head = f"{draw(names)} in {draw(values)}"
            parts.append(_tag(draw, "{%", f"{word} {head}", "%}"))
            inside = st.sampled_from(
                ["{{ x }}", "{% if not loop.last %}, {% endif %}", "{{ loop.index }}{{ loop.first }}"]
            )
            parts.append(draw(inside) if word == "for" else "")
            parts.append(draw(_texts(depth + 1)))
            if draw(st.integers(0, 3)) == 0:
                parts.append(_tag(draw, "{%", "else", "%}"))
                parts.append(draw(_texts(depth + 1)))
            parts.append(_tag(draw, "{%", f"end{word}", "%}"))
    return "".join(parts)


@st.composite
def _macros(draw):
    parts = []
    for name in words("m n"):
        head = draw(st.sampled_from(["p", "p, q=none", "p, q", "p='a', q=[1]", "", "p=x", "var", "p, p"]))
        parts.append(_tag(draw, "{%", f"macro {name}({head})", "%}"))
        parts.append(draw(_texts()))
        parts.append(_tag(draw, "{%", "endmacro", "%}"))
        parts.append(draw(st.sampled_from(["\n", "", "{# between #}", "text"])))
    return "".join(parts)


def _agrees(text, context, macros=""):
    """Whether a text is rendered without Jinja; where it is, Jinja must render the same."""
    templates = Templates([SourceText("macros/m.sql", macros)])
    source = SourceText("models/m.sql", text)
    rendered = templates._evaluation.render(source, context)
    if rendered is None:
        return False
    expected = templates._rendering(context).render(source)
    assert rendered == expected
    assert repr(rendered.captured) == repr(expected.captured)  # 1, 1.0 and True are equal
    return True


@settings(max_examples=settings.default.max_examples * 12)
@given(text=_texts(), macros=_macros(), incremental=st.booleans())
@example(text="{{ m(1) }}", macros="{% macro m(p) %}{{ p }}{% endmacro %}{% macro n( %}", incremental=False)
@example(
    text="{% macro m() %}own{% endmacro %}{{ m() }}", macros="{% macro m() %}outer{% endmacro %}", incremental=False
)
@example(text="{{ m(1) }}", macros="{% macro m(p) %}{% set p = 2 %}{{ p }}{% endmacro %}", incremental=False)
@example(text="{% set x = 1 %}{{ m() }}", macros="{% macro m() %}{{ x }}{% endmacro %}", incremental=False)
@example(text="{% for x in [1] %}{% endfor %}{{ x }}", macros="", incremental=False)
@example(text="{% for x in [x] %}{{ x }}{% endfor %}", macros="", incremental=False)
@example(text="{{ 'a' if this is none if true else 'b' }}", macros="", incremental=False)
@example(text="{{ 1 if model_name is none else 2 }}{{ model_name ~ none ~ 1.0 }}", macros="", incremental=False)
@example(text="{{ not this is none and 'a' ~ 1 == 'a1' }}", macros="", incremental=False)
@example(text="{{ m('a') ~ m(p=m(none)) }}", macros="{% macro m(p) -%} {{ p }} {%- endmacro %}", incremental=True)
def test_it_is_what_jinja_renders(context, text, macros, incremental):
    try:
        Templates([SourceText("macros/m.sql", macros)])
    except ProblemsError:
        return
    _agrees(text, replace(context, incremental=incremental), macros)


MACROS = """{# shared #}
{% macro start() -%} date'{{ var('start', '2024-01-01') }}' {%- endmacro %}
{% macro window(column, end=none) -%}
    {{ column }} >= {{ start() }}
    {%- if end is not none %} and {{ column }} < date'{{ end }}'{% endif %}
{%- endmacro %}
{% macro one_of(column, values) -%}
    {{ column }} in ({% for value in values %}'{{ value }}'{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}
{% macro internal(alias) -%}
    {%- set column = alias ~ '.region' -%}
    not ({{ one_of(column, var('regions', ['internal', 'test'])) }})
{%- endmacro %}
{% macro late() %}{% if is_incremental() %}and {{ this }}.x > 1{% else %}and true{% endif %}{% endmacro %}
"""
ORDINARY = [
    "{{ config(unique_key=['a', 'b'], tags=[\"x\"]) }}\nmerge into {{ this }} using {{ ref('a') }} on {{ window('t.d') }}",
    "{{ window('e.day', end='2025-01-01') }} and {{ internal('e') }} {{ late() }}\n{{ source('s', 't') }}",
    "{%- set columns = ['a', 'b'] -%}\n{% for c in columns %}{{ c }}{{ ', ' if not loop.last else '' }}{% endfor %}",
    "{% for a in [1] %}{% for b in var('carriers') %}{{ a ~ b }}{% endfor %}{% endfor %}{% for a in [2] %}{{ a }}{% endfor %}",
    "{% if target.name == 'local' and not is_full_refresh() %}{{ changes('a') }}{% elif false %}{% endif %}",
    "{{ var('days') }}{{ var('nothing') }} {{ model_name }} {{ 'x' if model_name in ['m', 'n'] else 'y' }}",
]


@pytest.mark.parametrize("text", ORDINARY)
@pytest.mark.parametrize("incremental", [False, True])
def test_ordinary_models_need_no_jinja(context, text, incremental):
    assert _agrees(text, replace(context, incremental=incremental), MACROS)


@pytest.mark.parametrize(
    "text",
    [
        "{{ nobody }}",
        "{{ ref('no_such') }}",
        "{{ var('no_such') }}",
        "{{ env_var('TOKEN') }}",
        "{{ log('a') }}",
        "{{ 'a' | upper }}",
        "{{ 1 }}",
        "{{ this is defined }}",
        "{{ this == 'a' }}",
        "{{ window() }}",
        "{{ window('a', none, 1) }}",
        "{{ window('a', other=1) }}",
        "{{ target.items }}",
        "{{ var('carriers') }}",
        "{% for a in 'text' %}{{ a }}{% endfor %}",
        "{% for a in [1] %}{{ a }}{% else %}{% endfor %}",
        "a\r\n{{ this }}",
        "{{ this ",
        "{% endmacro %}",
        "{% macro own() %}{% endmacro %}{{ this }}",
        "{{ (((((((((((((((((((((this))))))))))))))))))))) }}",
        "{% if " + "not " * 3000 + "true %}{% endif %}",
    ],
)
def test_the_rest_is_left_to_jinja(context, text):
    assert not _agrees(text, context, MACROS)


@pytest.mark.parametrize(
    "other",
    [
        "{% macro other() %}{{ 'a' | no_such }}{% endmacro %}",
        "{% macro other() %}{% endif %}{% endmacro %}",
        "{% set x = 1 %}",
        "{{ this }}",
        "{# open",
    ],
)
def test_a_file_of_macros_is_plain_as_a_whole(context, other):
    macros = "{% macro m() %}a{% endmacro %}\n"
    assert _agrees("{{ m() }}", context, macros)
    assert not _agrees("{{ m() }}", context, macros + other)


def test_what_takes_long_is_left_to_jinja(context):
    asked = replace(context, vars={"many": list(range(200))})
    loops = "".join(f"{{% for {name} in var('many') %}}" for name in "ab")
    assert not _agrees(f"{loops}{{{{ a }}}}{'{% endfor %}' * 2}", asked)
    macros = "{% macro m(p) %}{{ p ~ p }}{% endmacro %}"
    assert not _agrees("{{ " + "m(" * 18 + "'x'" + ")" * 18 + " }}", context, macros)
    assert not _agrees("{{ m() }}", context, "{% macro m() %}{{ m() }}{% endmacro %}")


def test_calls_that_unit_tests_replace_are_left_to_jinja(context):
    asked = replace(context, macros={"is_incremental": True})
    assert not _agrees("{{ this }} {% if is_incremental() %}a{% endif %}", asked)


def test_refs_resolve_as_in_jinja(context):
    asked = replace(context, resolve_ref=lambda name: Relation(name, sql="(\nselect 1\n)"))
    assert _agrees("{{ ref('a') }} {{ ref('p', 'b') -}}  x", asked)


def test_jinja_is_not_imported():
    code = f"""
import sys
from merge_runner.template.context import Context
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText
context = Context("m", None, str, str, {{}}, {{}}, {{}}, False)
text = "{{{{ window('a') }}}} {{{{ internal('e') }}}}"
print(Templates([SourceText("macros/m.sql", {MACROS!r})]).render(SourceText("m.sql", text), context).text)
assert "jinja2" not in sys.modules
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "a >= date'2024-01-01' not (e.region in ('internal', 'test'))\n"
