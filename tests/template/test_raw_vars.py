import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.template.raw_vars import raw_vars
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
    ],
)
def test_what_is_raw(text, raw):
    assert [found.span.of(text) for found in raw_vars(SourceText("m.sql", text))] == raw


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_has_whole_calls_inside_their_tags(text):
    for found in raw_vars(SourceText("m.sql", text)):
        assert found.span.of(text).startswith(("var(", "env_var(", "target."))
        assert found.tag.start < found.span.start < found.span.end < found.tag.end
