"""What the fast path says of a file that calls macros is what rendering says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import ProblemsError
from merge_runner.template.static.scan import scan
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

from .test_scan import CONTEXT

MACROS = """
{% macro window(column) -%}
  {{ column }} >= {{ var('from') | literal }} and {{ column }} < {{ var("to", '9') | literal }}
{%- endmacro %}
{% macro both(a, b='x') %}{{ window(a) }} or {{ b }}{% endmacro %}
{% macro speaks(name) %}{{ ref('m') }}{% endmacro %}
{% macro calls_one_that_speaks() %}{{ speaks('x') }}{% endmacro %}
{% macro chooses(a, end=none) -%}
  {{ window(column=a) }}{% if end is not none and a is defined %} to {{ end }}{% elif a %}{% else %} open{% endif %}
{%- endmacro %}
{% macro lists(column, values) -%}
  {# each of #}{% for value in values %}'{{ value }}'{% if not loop.last %}, {% endif %}{% else %}{{ column }}{% endfor %}
{%- endmacro %}
{% macro sets(a) %}{% set name = a ~ '.x' %}{% if var('flag', true) %}{{ lists(name, var('all', ['p'])) }}{% endif %}{% endmacro %}
{% macro pairs(a) %}{% set b = var('z', 'z') %}{% for k, v in [(a, b)] %}{% set c = k %}{{ c if v else b }}{% endfor %}{% endmacro %}
{% macro skips(a) %}{{ a and var('a') }}{% endmacro %}
{% macro loops(a) %}{% for each in a %}{{ window(each) }}{% endfor %}{% endmacro %}
{% macro filters(a) %}{% for each in a if each %}{{ each }}{% endfor %}{% endmacro %}
{% macro forgets(a) %}{% if a %}{% set b = 1 %}{% endif %}{{ b }}{% endmacro %}
{% macro shadows(a) %}{% set window = a %}{{ window }}{% endmacro %}
{% macro has_a_dict(a) %}{{ {'a': {'b': 1}} ~ ref('m') }}{% endmacro %}
{% macro raw(a) %}{% raw %}{{ ref('m') }}{% endraw %}{% endmacro %}
{% macro block_set(a) %}{% set b %}{{ a }}{% endset %}{{ b }}{% endmacro %}
{% macro branches(a) %}{% if a %}{{ var('a') }}{% endif %}{% endmacro %}
{% macro hides(var) %}{{ var }}{% endmacro %}
{% macro unknown() %}{{ nobody }}{% endmacro %}
{% macro itself(n) %}{{ itself(n) if n else '' }}{% endmacro %}
{% macro computed(name) %}{{ var(name) }}{% endmacro %}
"""
TEMPLATES = Templates([SourceText("macros/m.sql", MACROS)])
PLAIN = {"window", "both", "chooses", "lists", "pairs"}


def test_plain_are_those_that_say_the_same_everywhere():
    assert set(TEMPLATES._plain_macros) == PLAIN
    assert TEMPLATES._plain_macros["both"].vars == {"from", "to"}
    assert TEMPLATES._plain_macros["both"].macros == {"window", "both"}


CALLS = st.sampled_from(
    [
        "{{ window('t.dt') }}",
        "{{- both( 'a' ) }}",
        "{{ both('a', b=1) | upper }}",
        "{{ speaks('x') }}",
        "{{ branches(true) }}",
        "{{ chooses('a') }}",
        "{{ chooses('a', end='b') }}",
        "{{ lists('a', values=var('z', 'xy')) }}",
        "{{ lists('a', 'xy') }}",
        "{{ lists('a', '') }}",
        "{{ pairs('a') }}",
        "{{ sets('a') }}",
        "{{ loops('') }}",
        "{{ hides('x') }}",
        "{{ computed('y') }}",
        "{{ ref('a') }}",
        "{{ this }}",
        "{{ var('z') }}",
        "select 1 -- {",
    ]
)


@given(st.lists(CALLS, max_size=6))
def test_scanning_says_what_rendering_says(pieces):
    source = SourceText("models/m.sql", "\n".join(pieces))
    captured = scan(source, TEMPLATES._plain_macros)
    if captured is None:
        return
    try:
        assert captured == TEMPLATES.render(source, CONTEXT).captured
    except ProblemsError:
        raise AssertionError(source.text) from None
