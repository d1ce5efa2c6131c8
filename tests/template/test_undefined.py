"""No use of an undefined name renders silently: each is one problem, at the name, and nothing that follows from it."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge_runner.errors import ProblemsError
from merge_runner.template.context import Context
from merge_runner.template.environment import ModelEnvironment
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

MACROS = SourceText(
    "macros/m.sql",
    "{% macro m(x=1) %}<{{ x | default('silent') }}{{ caller() if caller is defined }}>{% endmacro %}"
    "{% macro r(x) %}{{ return(x) }}{% endmacro %}",
)
USES = """
#.name  #.key  #.used  #.upper()  #['name']  #[0]  #[1:]  'abc'[#]  [1, 2][#]  'abc'[#:]  {'a': 1}[#]  target[#]
#()  #(1)  #(a=1)  #(*[1])  (# + 1)  (1 + #)  ('a' + #)  (# ~ 'a')  (# * 2)  ('a' * #)  (# / 2)  (# % 2)  ('%s' % #)
('%d' % #)  (# ** 2)  (-#)  (+#)  (# == 1)  (1 != #)  ('a' < #)  (# >= 2)  (# in [])  (# in 'abc')  (1 in #)
(# not in [1])  (1 < # < 3)  (not #)  (# and 1)  (# or 'x')  (1 and #)  ('a' if # else 'b')  (# if true)
(none if false else #)  [#]  [1, #]  (#,)  {'a': #}  {#: 1}  m(#)  m(x=#)  m(*#)  m(**#)  r(#)  ref(#)  source('s', #)
var(#)  var('nope', #)  env_var(#)  range(#)  dict(a=#)  namespace(a=#)  log(#)  config(a=#)  config(#)  config.get(#)
'abc'.join(#)  'abc'.replace('a', #)  '{}'.format(#)  cycler(#)  joiner(#)  target.get(#)  (1 | round(#))
('a' | replace('a', #))  ([3] | join(#))  ([1] | map(#) | list)  ('a' | center(#))  (1 is sameas #)  (1 is in #)
(4 is divisibleby #)  (m(1) ~ #)
"""
USED = [use for use in re.split(r"  |\n", USES) if use]
USED += [f"(# | {name})" for name in ModelEnvironment().filters.keys() - {"default", "d"}]
USED += [f"(# is {name})" for name in ModelEnvironment().tests.keys() - {"defined", "undefined"} if name.isidentifier()]
BLOCKS = [
    "{{ # }}",
    "{% if # %}a{% endif %}",
    "{% for i in # %}a{% else %}b{% endfor %}",
    "{% for i in [1] if # %}a{% endfor %}",
    "{% set y = # %}a",
    "{% set y, z = # %}a",
    "{% set y %}{{ # }}{% endset %}a",
    "{% with y = # %}a{% endwith %}",
    "{% do # %}",
    "{% call m(#) %}a{% endcall %}",
    "{% filter replace('a', #) %}a{% endfilter %}",
    "{% macro q(y=#) %}{{ y }}{% endmacro %}{{ q() }}",
    "{% set ns = namespace() %}{% set ns.a = # %}",
]
EXPRESSIONS = st.recursive(
    st.just("traget"),
    lambda inner: st.builds(lambda use, value: use.replace("#", value), st.sampled_from(sorted(USED)), inner),
    max_leaves=4,
)


def problems(text: str, context: Context) -> list[str]:
    try:
        Templates([MACROS]).render(SourceText("models/m.sql", text), context)
    except ProblemsError as error:
        return [f"{problem.place}: {problem.message}; {problem.hint}" for problem in error.problems]
    return []


def assert_reported(text: str, context: Context) -> None:
    column = text.index("traget") + 1
    assert problems(text, context) == [f'models/m.sql:1:{column}: "traget" is not defined; did you mean "target"?']


@pytest.mark.parametrize("use", sorted(USED))
def test_a_use_of_an_undefined_name_is_one_problem(use: str, context: Context) -> None:
    assert_reported("{{ " + use.replace("#", "traget") + " }}", context)


@given(st.sampled_from(BLOCKS), EXPRESSIONS)
@settings(max_examples=2 * settings.default.max_examples, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_expression_over_an_undefined_name_is_one_problem(context: Context, block: str, expression: str) -> None:
    text = block.replace("#", expression)
    try:
        Templates([MACROS]).render(SourceText("models/m.sql", text), context)
        found = []
    except ProblemsError as error:
        # A name is not the only thing that may be missing: `var('a' if traget else 'b')`.
        found = [problem for problem in error.problems if problem.message.endswith("is not defined")]
    assert [(problem.message, problem.hint) for problem in found] == [
        ('"traget" is not defined', 'did you mean "target"?')
    ]
    start = text.index("traget")
    assert found[0].place == SourceText("models/m.sql", text).place(start, start + len("traget"))


@pytest.mark.parametrize(
    "text",
    [
        "{{ traget is defined }}{{ traget is undefined }}{{ traget is not defined }}",
        "{{ traget | default('x') }}{{ traget | d(traget | default('y')) }}{{ traget | default('x') | upper }}",
        "{% if traget is defined and traget.name %}{{ traget.name.nope }}{% endif %}",
        "{{ (traget if true else 1) | default('x') }}{{ 'x' | default(traget) }}{{ 1 or traget }}",
        "{{ target.nope | default(1) }}{{ target.nope is defined }}{{ m(target.nope) }}",
        "{% macro q(y) %}{{ y is defined }}{{ m(y) }}{% endmacro %}{{ q() }}",
        "{% for i in [1, 2] %}{{ ',' if not loop.last }}{% endfor %}",
        "{{ this is defined }}",
    ],
)
def test_what_only_asks_whether_there_is_a_value_is_legal(text: str, context: Context) -> None:
    assert problems(text, context) == []


@pytest.mark.parametrize("use", sorted(set(USED) - {"[#]", "[1, #]", "(#,)", "{'a': #}", "m(#)", "m(x=#)", "r(#)"}))
def test_a_missing_key_that_reaches_the_text_is_a_problem(use: str, context: Context) -> None:
    found = problems("{{ " + use.replace("#", "target.nope") + " }}", context)
    assert found
    assert all('there is no key "nope"' in problem for problem in found)
