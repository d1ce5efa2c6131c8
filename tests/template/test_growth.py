"""What a template builds is counted before it is there."""

from __future__ import annotations

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.template.growth import written_size
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

pytestmark = pytest.mark.fuzz("Jinja")


def render(text, context):
    return Templates([]).render(SourceText("models/m.sql", text), context).text


@pytest.mark.parametrize(
    "text",
    [
        "{{ '%0999999999d' % 1 }}",
        "{{ '%.999999999f' % 1 }}",
        "{{ '%*d' % (10**10, 1) }}",
        "{{ '%(a)0999999999d' % {'a': 1} }}",
        "{{ '%0999999999d' | format(1) }}",
        "{{ '{:999999999}'.format(1) }}",
        "{{ '{:{w}}'.format(1, w=10**10) }}",
        "{{ 'x' | center(10**10) }}",
        "{{ 'x'.center(10**10) }}",
        "{{ 'x'.ljust(10**10) }}",
        "{{ 'x'.rjust(width) if false else '1'.zfill(10**10) }}",
        "{{ '\\t'.expandtabs(10**10) }}",
        "{{ ('x' * 9999).replace('x', 'y' * 9999) }}",
        "{{ ('x' * 9999) | replace('x', 'y' * 9999) }}",
        "{{ ('x' * 9999).translate({120: 'y' * 9999}) }}",
        "{{ ('x' * 9999).join(['a'] * 9999) }}",
        "{{ (['a'] * 9999) | join('x' * 9999) }}",
        "{{ range(99999) | map('center', 9999) | list | length }}",
        "{{ ('x\n' * 9999) | indent(9999) }}",
        "{{ [1] | batch(10**10, 0) | list }}",
        "{{ [1] | slice(10**10) | list }}",
        "{{ [1, 2] | tojson(10**10) }}",
        "{{ ('x ' * 9999) | wordwrap(1, wrapstring='y' * 9999) }}",
        "{{ ([['a'] * 9999] * 9999) | sum(start=[]) }}",
        "{{ (1).to_bytes(10**10, 'big') }}",
        "{% set l = [1] %}" + "{% do l.extend(l) %}" * 40,
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ l }}",
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ l ~ l }}",
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ l | tojson }}",
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ l | string }}",
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ tojson(l) }}",
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ toyaml(l) }}",
        "{{ fromyaml('[' ~ 'a, ' * 999999 ~ ']') }}",
        "{% set l = [1] %}" + "{% set l = [l, l] %}" * 40 + "{{ '%s' % [l] }}",
        "{% set l = [] %}{% for i in range(9999) %}{% do l.append('x' * 999999) %}{% endfor %}",
        "{% set n = namespace(x=9) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}{% endfor %}",
    ],
)
def test_what_would_fill_the_memory_is_refused_at_once(context, text):
    with pytest.raises(ProblemsError) as caught:
        render(text, context)
    assert [problem.code for problem in caught.value.problems] == ["render-limit"]


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{{ '%05.1f|%-3s|%%' % (2.25, 'a') }}", "002.2|a  |%"),
        ("{{ '%(a)s' % {'a': 12345678901} }}", "12345678901"),
        ("{{ '{:>5}{}'.format(1, 12345678901) }}", "    112345678901"),
        ("{{ '%s' | format(99999999999) }}", "99999999999"),
        ("{{ 'a' | center(5) }}{{ 'a'.ljust(3) }}|", "  a  a  |"),
        ("{{ ['a', 1] | join(', ') }}{{ range(3) | map('string') | join }}", "a, 1012"),
        ("{{ [{'x': 1}, {'x': 2}] | join('-', attribute='x') }}", "1-2"),
        ("{{ [1, 2, 3] | batch(2, 0) | list }}{{ [1, 2, 3] | slice(2) | list }}", "[[1, 2], [3, 0]][[1, 2], [3]]"),
        ("{{ [1, 2] | sum }}{{ [{'x': 1}] | sum(attribute='x', start=5) }}{{ range(4) | sum }}", "366"),
        ("{{ 'abab' | replace('a', 'c', 1) }}{{ 'abab'.replace('a', 'c') }}", "cbabcbcb"),
        ("{{ 'a\nb' | indent(2) }}{{ 'a b' | wordwrap(1, wrapstring='|') }}", "a\n  ba|b"),
        (
            "{{ {'a': [1]} | tojson }}{{ 7 * 6 }}{{ 7 % 4 }}{{ 2 ** 8 }}{{ [1] + [2] }}",
            '{"a": [1]}4232 56[1, 2]'.replace(" 5", "5"),
        ),
        ("{% macro m(x) %}{{ x | join('+') }}{% endmacro %}{{ m(['a', 'b']) }}", "a+b"),
        ("{% set l = [1] %}{% do l.append(l) %}{{ l | length }}{{ l }}", "2[1, [...]]"),
    ],
)
def test_what_is_counted_stays_what_it_was(context, text, rendered):
    assert render(text, context) == rendered


@pytest.mark.parametrize("value", ["", "abc", [1, "abc", ("x",)], {"a": ["b", {}]}, {1, 2}, None, 2.5])
def test_the_written_size_is_about_that_of_the_text(value):
    assert abs(written_size(value) - len(str(value))) <= 4 + len(str(value))


def test_many_undefined_names_are_all_told(context):
    text = " ".join(f"{{{{ nothing_{number} }}}}" for number in range(2_000))
    with pytest.raises(ProblemsError) as caught:
        render(text, context)
    assert len(caught.value.problems) == 2_000
