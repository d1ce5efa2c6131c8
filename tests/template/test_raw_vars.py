import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.template.raw_vars import raw_vars, returning_macros
from merge_runner.text import SourceText

PIECES = [
    "{{ var('x') }}",
    "{{ target.schema }}",
    "{{ env_var('X', '') | upper }}",
    "'",
    "`",
    "--",
    "/*",
    "*/",
    "\n",
    "=",
]
PIECES += [
    "{{ var('x'",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{% raw %}",
    "{% endraw %}",
    " a ",
    "{% if var('x') %}",
    "{% endif %}",
]


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("{{ var('x') }}", ["var('x')"]),
        ("{{ var('x')|upper|trim }}", ["var('x')"]),
        ("{{ var('x').upper() }}", ["var('x')"]),
        ("{{ var('x')['a'].b }}", ["var('x')"]),
        ("{{ target['schema'] }}.t", ["target['schema']"]),
        ("{{ var('x') or env_var('y') }}", ["var('x')", "env_var('y')"]),
        ("{{ var('xs') | join(', ') }}", ["var('xs')"]),
        ("{{ 'x' % var('x') }}", ["var('x')"]),
        ("{% for a in b %}{% if a %}{{ var(a) }}{% endif %}{% endfor %}", ["var(a)"]),
        ("{% call(a) m() %}{{ var('x') }}{% endcall %}", ["var('x')"]),
        ("{{ var('x') | literal }}", []),
        ("{{ var('x') | upper | literal }}", []),
        ("{{ var('x') | int + 1 }}{{ var('x') + 1 }}{{ -var('x') }}", []),
        ("{{ var('x') == 'a' }}{{ not var('x') }}{{ var('x') is none }}", []),
        ("{{ m(var('x')) }}{{ config(tags=var('x')) }}{% set a = var('x') %}{{ a }}", ["a"]),
        ("{% raw %}{{ var('x') }}{% endraw %}{# {{ var('x') }} #}", []),
        ("-- {{ var('x') }}\n/* {{ var('x') }} */", []),
        ("{{ variable('x') }} var('x') {{ targets.x }}", []),
        ("{{ var('x') ", []),
        ("{% for v in var('x') %}{{ v }}{% endfor %}", ["v"]),
        ("{% for k, v in var('x').items() %}{{ k }}{{ v | literal }}{% endfor %}", ["k"]),
        ("{% set xs = var('x') %}{% for v in xs %}{% set w = v %}{{ w }}{% endfor %}", ["w"]),
        ("{% for v in var('x') %}{{ loop.index }}{% endfor %}{% for v in [1] %}{{ v }}{% endfor %}", []),
        ("{% for v in range(var('n')) %}{{ v }}{% endfor %}", []),
        ("{% for v in [var('a'), 'b'] %}{{ v }}{% endfor %}", ["v"]),
        ("{{ var('x').a }}", ["var('x')"]),
        ("{{ '{}'.format(var('x')) }}{{ '{a}'.format(a=var('y')) }}", ["var('x')", "var('y')"]),
        ("{{ '%s' | format(var('x')) }}{{ a | default(var('y')) }}", ["var('x')", "var('y')"]),
        ("{{ 'a'.replace('a', var('x')) }}{{ ', '.join(var('y')) }}", ["var('x')", "var('y')"]),
        ("{{ '{}'.format(var('x') | literal) }}{{ '{}'.format(var('x') | int) }}", []),
        ("{% with a = var('x'), b = 1 %}{{ a }}{{ b }}{% endwith %}", ["a"]),
        ("{% set ns = namespace(a=var('x'), b=1) %}{{ ns.a }}{{ ns.b }}", ["ns.a"]),
        ("{% set ns = namespace(a=1) %}{% set ns.a = var('x') %}{{ ns.a }}", ["ns.a"]),
        ("{% set a, b = var('x'), 1 %}{{ a }}{{ b }}", ["a"]),
        ("{% set a, b = var('x') %}{{ b }}", ["b"]),
        ("{{ [var('x'), 'a'] | join(', ') }}{{ {'a': var('y')}['a'] }}", ["var('x')", "var('y')"]),
        ("{% if v in var('x') %}a{% endif %}{% for v in var('x') if v %}{% do l.append(v) %}{% endfor %}", []),
    ],
)
def test_what_is_raw(text, raw):
    assert [found.span.of(text) for found in raw_vars(SourceText("m.sql", text))] == raw


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_has_whole_calls_inside_their_tags(text):
    for found in raw_vars(SourceText("m.sql", text)):
        assert found.span.of(text).startswith(("var(", "env_var(", "target."))
        assert found.tag.start < found.span.start < found.span.end < found.tag.end


def test_what_a_macro_returns():
    macros = SourceText("macros/m.sql", "{% macro region() %}{{ return(var('region')) }}{% endmacro %}")
    number = SourceText("macros/n.sql", "{% macro days() %}{{ return(var('days') | int) }}{% endmacro %}")
    returning = returning_macros(macros) | returning_macros(number)
    assert returning == {"region"}
    model = "{{ region() }} {{ days() }} {{ region() | literal }} {% set a = region() %}{{ a }}"
    raw = raw_vars(SourceText("models/m.sql", model), returning)
    assert [found.span.of(model) for found in raw] == ["region()", "a"]


def test_names_that_are_set_after_their_use_end():
    text = (
        "".join(f"{{% set a{i} = a{i + 1} ~ a{i + 1} %}}" for i in range(2_000))
        + "{% set a2000 = var('x') %}{{ a1999 }}"
    )
    assert len(raw_vars(SourceText("models/m.sql", text))) == 1
